import HeartwoodFiles

/// All that a simulated disk knows: what is durable, what is only written, who has what open.
///
/// Invariants: `cached` is `durable` with all of `pending` applied in order; folders are the same in both,
/// as making one is durable at once; a change that is forgotten stands before all of its file that are not.
struct SimulatedState {
  /// A change that is not durable.
  struct Pending {
    var change: DiskChange
    /// Whether no sync will write it, as one has failed to.
    var isForgotten = false
  }

  let crashModel: CrashModel
  var cached: DiskState
  var durable: DiskState
  var pending: [Pending] = []
  var syncBehavior = SyncBehavior.honest
  /// The most bytes that all files together may have.
  var spaceLimit: Int64?
  var handles = HandleTable()
  private var nextNumber: UInt64

  /// A disk with this durable state and nothing else.
  init(_ state: DiskState, _ crashModel: CrashModel) {
    self.crashModel = crashModel
    cached = state
    durable = state
    nextNumber = 1 + state.largestNumber
  }

  mutating func takeNumber() -> UInt64 {
    defer { nextNumber += 1 }
    return nextNumber
  }

  mutating func perform(_ change: DiskChange) {
    cached.apply(change)
    pending.append(Pending(change: change))
  }

  // MARK: Syncs

  mutating func sync(_ folder: FolderIdentifier) {
    settle(crashModel.syncedChanges(of: folder, in: pending.map(\.change)))
  }

  mutating func sync(_ file: FileIdentifier) {
    settle(crashModel.syncedChanges(of: file, in: pending.map(\.change)))
  }

  /// Calls the file's bytes clean without having written them.
  mutating func forgetToSync(_ file: FileIdentifier) {
    for index in pending.indices where pending[index].change.writtenFile == file {
      pending[index].isForgotten = true
    }
  }

  /// Reads the file's durable bytes again.
  mutating func revert(_ file: FileIdentifier) {
    pending.removeAll { $0.change.file == file }
    cached.replaceBytes(of: file, with: durable.bytes(of: file))
  }

  private mutating func settle(_ indices: [Int]) {
    let published = Set(indices.filter { !pending[$0].isForgotten })
    let changes = published.sorted().map { pending[$0].change }
    for change in changes { durable.apply(change) }
    pending = pending.enumerated().filter { !published.contains($0.offset) }.map(\.element)
    guard pending.contains(where: \.isForgotten) else { return }
    for change in changes { forget(whatIsUnder: change) }
  }

  /// What was forgotten and is now overwritten can't be found any more.
  private mutating func forget(whatIsUnder change: DiskChange) {
    pending = pending.flatMap { item in
      guard item.isForgotten else { return [item] }
      return item.change.remains(under: change).map { Pending(change: $0, isForgotten: true) }
    }
  }
}

extension DiskChange {
  fileprivate var writtenFile: FileIdentifier? {
    if case .write(let file, _, _) = self { file } else { nil }
  }

  /// The parts of a write that a later change of the same file does not touch.
  fileprivate func remains(under change: DiskChange) -> [DiskChange] {
    guard case .write(let file, let offset, let bytes) = self, file == change.file else { return [self] }
    let end = offset + bytes.count
    func part(_ range: Range<Int>) -> DiskChange {
      .write(
        file, offset: range.lowerBound,
        bytes: Array(bytes[(range.lowerBound - offset)..<(range.upperBound - offset)]))
    }
    switch change {
    case .write(_, let start, let newer):
      let before = offset..<max(offset, min(start, end))
      let after = min(end, max(offset, start + newer.count))..<end
      return [before, after].filter { !$0.isEmpty }.map(part)
    case .truncate(_, let size):
      return size > offset ? [part(offset..<min(end, size))] : []
    default: return [self]
    }
  }
}
