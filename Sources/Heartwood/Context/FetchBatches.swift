/// A relationship whose destinations a fetch loads with its objects.
struct PrefetchedRelationship {
  let relationship: RelationshipDescription
  /// The relationships that are loaded with the destinations.
  var next: [PrefetchedRelationship] = []
}

/// Objects of a fetch whose rows are loaded together, when the first of them is read.
struct FetchBatch {
  let root: EntityDescription
  var keys: [UInt64] = []
  /// Whether the objects become realised when their rows are loaded.
  let realises: Bool
  /// The relationships that are loaded with the objects.
  let prefetching: [PrefetchedRelationship]
}

/// The batches of a context's fetches whose rows are not loaded yet, by their numbers.
struct FetchBatches {
  private var batches: [UInt32: FetchBatch] = [:]
  private var lastNumber: UInt32 = 0

  /// A number for the objects of a batch. Never 0, and without the mark of `prefetchStamp`.
  mutating func makeNumber() -> UInt32 {
    lastNumber = lastNumber % (ManagedObject.prefetchMark - 1) + 1
    return lastNumber
  }

  mutating func add(_ batch: FetchBatch, _ number: UInt32) { batches[number] = batch }

  /// Removes and returns a batch; nil if there is none of this number.
  mutating func take(_ number: UInt32) -> FetchBatch? {
    number == 0 ? nil : batches.removeValue(forKey: number)
  }

  var isEmpty: Bool { batches.isEmpty }

  subscript(_ number: UInt32) -> FetchBatch? { batches[number] }

  /// Removes batches of which no object is registered any more.
  mutating func sweep(_ isRegistered: (EntityDescription, UInt64) -> Bool) {
    guard !batches.isEmpty else { return }
    batches = batches.filter { _, batch in batch.keys.contains { isRegistered(batch.root, $0) } }
  }
}

extension ManagedObject {
  /// Set in `prefetchStamp` if it is that of a row, not the number of a batch.
  static let prefetchMark: UInt32 = 0x8000_0000

  /// The number of the batch with which the row is loaded; 0 if there is none.
  final var fetchBatch: UInt32 {
    get { prefetchStamp & Self.prefetchMark == 0 ? prefetchStamp : 0 }
    set { prefetchStamp = newValue }
  }

  /// Whether the object is a fault whose row the store has, and that was not loaded.
  final var lacksRow: Bool {
    !hasRow && !isRealised && identifier.key.isPermanentKey
      && state.isDisjoint(with: [.inserted, .deleted, .unreadable, .inaccessible])
  }
}
