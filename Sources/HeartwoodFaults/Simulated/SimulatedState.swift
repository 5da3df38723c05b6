import HeartwoodFiles

/// The state of a simulated disk: durable data, unsynced changes, open files and locks.
///
/// Invariants: `cached` is `durable` with all of `pending` applied in order. The folders are the same in
/// both, because the creation of a folder is durable immediately. Forgotten changes of a file precede its
/// other changes.
struct SimulatedState {
  /// A change that is not durable.
  struct Pending {
    var change: DiskChange
    /// Whether no later sync writes the change, because a sync of it has failed.
    var isForgotten = false
  }

  let crashModel: CrashModel
  var cached: DiskState
  var durable: DiskState
  var pending: [Pending] = []
  var syncBehavior = SyncBehavior.honest
  /// The maximum total size of all files in bytes; nil for no limit.
  var spaceLimit: Int64?
  var handles = HandleTable()
  private var nextNumber: UInt64

  /// Creates a disk with this durable state.
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

  /// Marks the file's unsynced bytes as clean without writing them.
  mutating func forgetToSync(_ file: FileIdentifier) {
    for index in pending.indices where pending[index].change.writtenFile == file {
      pending[index].isForgotten = true
    }
  }

  /// Discards the file's unsynced changes and restores its durable bytes.
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

  /// Drops the parts of forgotten changes that this change overwrites: no crash can restore them.
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

  /// The parts of a write that a later change of the same file does not overwrite.
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
