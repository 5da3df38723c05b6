/// A part of the library that is given bytes from anywhere. It may refuse them, and must not trap, hang or
/// contradict itself.
enum FuzzTarget: String, CaseIterable, Sendable {
  /// The log of a store, behind a segment's header.
  case frames
  /// One page of the tree: a leaf or a branch.
  case pages
  /// A whole store with some fields changed.
  case store
  /// Rows, records of the history, and the model's record.
  case rows
  /// The text of a predicate, and its evaluation.
  case predicates

  /// What is wrong with what became of the bytes; nil for nothing.
  func finding(_ bytes: [UInt8]) -> String? {
    switch self {
    case .frames: FrameTarget.finding(bytes)
    case .pages: PageTarget.finding(bytes)
    case .store: StoreTarget.finding(bytes)
    case .rows: RowTarget.finding(bytes)
    case .predicates: PredicateTarget.finding(bytes)
    }
  }

  /// Inputs to begin with: what the library itself would write.
  var seeds: [[UInt8]] {
    switch self {
    case .frames: FrameTarget.seeds
    case .pages: PageTarget.seeds
    case .store: StoreTarget.seeds
    case .rows: RowTarget.seeds
    case .predicates: PredicateTarget.seeds
    }
  }
}
