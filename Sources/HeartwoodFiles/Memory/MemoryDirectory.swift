/// A directory in memory. `folder` is guarded by the lock of the file system.
final class MemoryDirectory: Directory, @unchecked Sendable {
  let path: String
  private let folder: MemoryFolder
  private let fileSystem: MemoryFileSystem

  init(path: String, folder: MemoryFolder, in fileSystem: MemoryFileSystem) {
    self.path = path
    self.folder = folder
    self.fileSystem = fileSystem
  }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    let filePath = FileName.joined(path, name)
    return try fileSystem.lock.withLock { () throws(FileSystemError) in
      let content = try mode == .createNew ? newContent(name, filePath) : content(name, .open, filePath)
      return MemoryFile(name: name, path: filePath, mode: mode, content: content)
    }
  }

  func entries() throws(FileSystemError) -> [String] {
    fileSystem.lock.withLock { folder.entries.keys.sorted() }
  }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    let filePath = FileName.joined(path, name)
    FileName.check(newName)
    try fileSystem.lock.withLock { () throws(FileSystemError) in
      let moved = try content(name, .rename, filePath)
      if case .folder = folder.entries[newName] {
        throw FileSystemError(.notARegularFile, .rename, path: filePath)
      }
      folder.entries[name] = nil
      folder.entries[newName] = .content(moved)
    }
  }

  func unlink(_ name: String) throws(FileSystemError) {
    let filePath = FileName.joined(path, name)
    try fileSystem.lock.withLock { () throws(FileSystemError) in
      _ = try content(name, .unlink, filePath)
      folder.entries[name] = nil
    }
  }

  func status(of name: String) throws(FileSystemError) -> FileStatus? {
    try fileSystem.lock.withLock { () throws(FileSystemError) in
      try content(name, .size, FileName.joined(path, name)).status(links: 1)
    }
  }

  func sync() throws(FileSystemError) {}

  private func newContent(_ name: String, _ filePath: String) throws(FileSystemError) -> MemoryContent {
    guard folder.entries[name] == nil else {
      throw FileSystemError(.alreadyExists, .open, path: filePath)
    }
    let content = MemoryContent()
    folder.entries[name] = .content(content)
    return content
  }

  private func content(
    _ name: String, _ operation: FileSystemError.Operation, _ filePath: String
  ) throws(FileSystemError) -> MemoryContent {
    switch folder.entries[name] {
    case .content(let content): return content
    case .folder: throw FileSystemError(.notARegularFile, operation, path: filePath)
    case nil: throw FileSystemError(.notFound, operation, path: filePath)
    }
  }
}
