/// The guarantees of a simulated file system, which determine the images that a crash can leave.
public enum CrashModel: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// Only what POSIX guarantees: any subset of the unsynced changes survives, in order. Any part of the last
  /// write can be lost; old bytes or zeros take its place.
  case posix
  /// The guarantees of ext4 with `data=ordered`: names and lengths change in order; the sync of a file makes
  /// the names that lead to it durable; a renamed file has its bytes when it has its new name; a torn write
  /// keeps whole sectors from its start, followed by the old bytes.
  case ext4Ordered
  /// Any subset of the changes survives, in any order, with any write torn in any way; old bytes, zeros or
  /// foreign bytes take the place of the lost part. Code that tolerates this model tolerates all of them.
  case hostile

  /// The name.
  public var description: String { rawValue }
}

extension CrashModel {
  /// The earlier changes that are on the disk if this one is.
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

  /// The changes that a sync of the file makes durable.
  func syncedChanges(of file: FileIdentifier, in changes: [DiskChange]) -> [Int] {
    var synced = changes.indices.filter { changes[$0].file == file }
    if self == .ext4Ordered, let name = changes.lastIndex(where: { $0.namedFile == file }) {
      synced.append(name)
    }
    return closure(of: synced, in: changes)
  }

  /// The changes that a sync of the folder makes durable.
  func syncedChanges(of folder: FolderIdentifier, in changes: [DiskChange]) -> [Int] {
    closure(of: changes.indices.filter { changes[$0].folder == folder }, in: changes)
  }

  /// Whether changes can reach the disk out of order.
  var reorders: Bool { self == .hostile }
}

extension DiskChange {
  /// Whether a metadata journal records the change.
  fileprivate var isOfMetadata: Bool {
    if case .write = self { false } else { true }
  }

  /// The file that the change gives a name to.
  fileprivate var namedFile: FileIdentifier? {
    switch self {
    case .enter(_, _, .file(let file)), .rename(_, _, _, .file(let file)): file
    default: nil
    }
  }
}
