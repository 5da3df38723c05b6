/// Directories and files in memory, for as long as this object exists.
///
/// It has a root directory and no links. Relative paths begin at the root. Nothing is durable, so every sync
/// returns at once.
public final class MemoryFileSystem: FileSystem, @unchecked Sendable {
  /// The root of the directory tree. Guarded by `lock`, except for the bytes of files.
  private let root = MemoryFolder()
  let lock = Lock()

  /// A file system with an empty root directory.
  public init() {}

  /// Opens an existing directory.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try FileName.checkPath(path, .openDirectory)
    return try lock.withLock { () throws(FileSystemError) in
      let folder = try folder(at: FileName.components(of: path), .openDirectory, path)
      return MemoryDirectory(path: path, folder: folder, in: self)
    }
  }

  /// Makes one directory.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try FileName.checkPath(path, .createDirectory)
    try lock.withLock { () throws(FileSystemError) in
      let components = FileName.components(of: path)
      guard let name = components.last else {
        throw FileSystemError(.alreadyExists, .createDirectory, path: path)
      }
      let parent = try folder(at: components.dropLast(), .createDirectory, path)
      guard parent.entries[name] == nil else {
        throw FileSystemError(.alreadyExists, .createDirectory, path: path)
      }
      parent.entries[name] = .folder(MemoryFolder())
    }
  }

  private func folder(
    at components: some Sequence<String>, _ operation: FileSystemError.Operation, _ path: String
  ) throws(FileSystemError) -> MemoryFolder {
    var folder = root
    for name in components {
      switch folder.entries[name] {
      case .folder(let next): folder = next
      case .content: throw FileSystemError(.notADirectory, operation, path: path)
      case nil: throw FileSystemError(.notFound, operation, path: path)
      }
    }
    return folder
  }
}

/// The entries of a directory in memory. Guarded by the lock of the file system.
final class MemoryFolder {
  enum Entry {
    case folder(MemoryFolder)
    case content(MemoryContent)
  }

  var entries: [String: Entry] = [:]
}
