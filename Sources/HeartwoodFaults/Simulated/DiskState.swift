/// The identity of a file, independent of its names. A simulated disk never reuses one.
struct FileIdentifier: Hashable, Sendable {
  let number: UInt64
}

/// The identity of a folder. Folders are never removed, and moved only in exchange for another one.
struct FolderIdentifier: Hashable, Sendable {
  let number: UInt64

  static let root = FolderIdentifier(number: 0)
}

/// The file or folder that a name refers to.
enum DiskEntry: Hashable, Sendable {
  case folder(FolderIdentifier)
  case file(FileIdentifier)

  var file: FileIdentifier? {
    if case .file(let file) = self { file } else { nil }
  }
}

/// All names and bytes of a disk at one moment.
struct DiskState: Sendable {
  private(set) var folders: [FolderIdentifier: [String: DiskEntry]] = [.root: [:]]
  private(set) var contents: [FileIdentifier: [UInt8]] = [:]

  /// An upper bound of the numbers of all files and folders. A file without written bytes counts by its names
  /// only.
  var largestNumber: UInt64 {
    let named = folders.values.joined().compactMap(\.value.file?.number)
    return max(
      named.max() ?? 0, contents.keys.map(\.number).max() ?? 0, folders.keys.map(\.number).max() ?? 0)
  }

  func entries(of folder: FolderIdentifier) -> [String: DiskEntry] { folders[folder] ?? [:] }

  func bytes(of file: FileIdentifier) -> [UInt8] { contents[file] ?? [] }

  func size(of file: FileIdentifier) -> Int { contents[file]?.count ?? 0 }

  /// Applies a change. Any subset of the changes of a disk can be applied in order, because no change
  /// requires another.
  mutating func apply(_ change: DiskChange) {
    switch change {
    case .write(let file, let offset, let bytes): write(bytes, to: file, at: offset)
    case .truncate(let file, let size): truncate(file, to: size)
    case .enter(let folder, let name, let entry): folders[folder, default: [:]][name] = entry
    case .rename(let folder, let name, let newName, let entry):
      folders[folder]?[name] = nil
      folders[folder, default: [:]][newName] = entry
    case .remove(let folder, let name):
      folders[folder]?[name] = nil
    }
  }

  private mutating func write(_ bytes: [UInt8], to file: FileIdentifier, at offset: Int) {
    guard !bytes.isEmpty else { return }
    if size(of: file) < offset + bytes.count { truncate(file, to: offset + bytes.count) }
    contents[file, default: []].withUnsafeMutableBytes { target in
      bytes.withUnsafeBytes { source in
        UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: source)
      }
    }
  }

  private mutating func truncate(_ file: FileIdentifier, to size: Int) {
    let excess = self.size(of: file) - size
    if excess > 0 {
      contents[file]?.removeLast(excess)
    } else if excess < 0 {
      contents[file, default: []] += [UInt8](repeating: 0, count: -excess)
    }
  }

  mutating func makeFolder(_ folder: FolderIdentifier) { folders[folder] = [:] }

  mutating func replaceBytes(of file: FileIdentifier, with bytes: [UInt8]) { contents[file] = bytes }

  mutating func keepContents(of files: Set<FileIdentifier>) {
    contents = contents.filter { files.contains($0.key) }
  }
}

/// A change of a disk. A crash can keep all of it, nothing, or a part of a write.
enum DiskChange: Sendable {
  case write(FileIdentifier, offset: Int, bytes: [UInt8])
  case truncate(FileIdentifier, size: Int)
  case enter(FolderIdentifier, name: String, DiskEntry)
  case rename(FolderIdentifier, name: String, newName: String, DiskEntry)
  case remove(FolderIdentifier, name: String)

  /// The file whose sync makes the change durable; nil for changes of names.
  var file: FileIdentifier? {
    switch self {
    case .write(let file, _, _), .truncate(let file, _): file
    case .enter, .rename, .remove: nil
    }
  }

  /// The folder whose sync makes the change durable; nil for changes of bytes.
  var folder: FolderIdentifier? {
    switch self {
    case .write, .truncate: nil
    case .enter(let folder, _, _), .rename(let folder, _, _, _), .remove(let folder, _): folder
    }
  }
}

extension DiskChange: CustomStringConvertible {
  /// The change as a phrase. Files are named by number, because their names can be among the lost changes.
  var description: String {
    switch self {
    case .write(let file, let offset, let bytes):
      "write of \(bytes.count) bytes at \(offset) of file \(file.number)"
    case .truncate(let file, let size): "length \(size) of file \(file.number)"
    case .enter(_, let name, _): "entry \(name)"
    case .rename(_, let name, let newName, _): "rename of \(name) to \(newName)"
    case .remove(_, let name): "removal of \(name)"
    }
  }
}
