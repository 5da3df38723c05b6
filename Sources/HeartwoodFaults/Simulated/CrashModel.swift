/// What a simulated file system promises beyond nothing, and so which images a crash may leave.
public enum CrashModel: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// What POSIX says and no more: any of the unsynced changes may survive, those that do in their order;
  /// of the last write any part, with old bytes or zeros in the place of the rest.
  case posix
  /// What ext4 with `data=ordered` adds: names and lengths change in their order; the sync of a file
  /// makes the names that lead to it durable; a renamed file has its bytes when it has its name; a torn
  /// write keeps whole sectors from its beginning, and what follows is old.
  case ext4Ordered
  /// Any of the changes, in any order; any write torn in any way, with old bytes, zeros or foreign bytes
  /// in the place of the rest. What stands this stands them all.
  case hostile

  /// The name.
  public var description: String { rawValue }
}

extension CrashModel {
  /// Which earlier changes are on the disk if this one is.
  func requirements(of index: Int, in changes: [DiskChange]) -> [Int] {
    guard self == .ext4Ordered, changes[index].isOfMetadata else { return [] }
    var required: [Int] = []
    if let previous = changes[..<index].lastIndex(where: \.isOfMetadata) { required.append(previous) }
    if case .rename(_, _, _, .file(let file)) = changes[index] {
      required += changes[..<index].indices.filter { changes[$0].file == file }
    }
    return required
  }

  /// These changes and all that they require, in order.
  func closure(of indices: some Sequence<Int>, in changes: [DiskChange]) -> [Int] {
    guard self == .ext4Ordered else { return indices.sorted() }
    var found = Set<Int>()
    var waiting = Array(indices)
    while let index = waiting.popLast() {
      if found.insert(index).inserted { waiting += requirements(of: index, in: changes) }
    }
    return found.sorted()
  }

  /// The changes that the sync of a file makes durable.
  func syncedChanges(of file: FileIdentifier, in changes: [DiskChange]) -> [Int] {
    var synced = changes.indices.filter { changes[$0].file == file }
    if self == .ext4Ordered, let name = changes.lastIndex(where: { $0.namedFile == file }) {
      synced.append(name)
    }
    return closure(of: synced, in: changes)
  }

  /// The changes that the sync of a folder makes durable.
  func syncedChanges(of folder: FolderIdentifier, in changes: [DiskChange]) -> [Int] {
    closure(of: changes.indices.filter { changes[$0].folder == folder }, in: changes)
  }

  /// Whether changes may reach the disk in another order than that in which they were made.
  var reorders: Bool { self == .hostile }
}

extension DiskChange {
  /// Whether a journal of names and lengths holds the change.
  fileprivate var isOfMetadata: Bool {
    if case .write = self { false } else { true }
  }

  /// The file to which the change gives a name.
  fileprivate var namedFile: FileIdentifier? {
    switch self {
    case .enter(_, _, .file(let file)), .rename(_, _, _, .file(let file)): file
    default: nil
    }
  }
}
