/// A directory by its descriptor, which is closed with the last reference.
final class PosixDirectory: Directory {
  let path: String
  private let descriptor: Int32

  init(path: String) throws(FileSystemError) {
    try FileName.checkPath(path, .openDirectory)
    self.path = path
    do {
      descriptor = try SystemCall.openDirectory(path)
    } catch {
      throw FileSystemError(error, .openDirectory, path: path)
    }
  }

  deinit { try? SystemCall.close(descriptor) }

  func create(_ name: String, like other: String) throws(FileSystemError) -> any File {
    let file = try open(name, .createNew)
    // Without the other file, the mask of the process decides.
    try? (file as? PosixFile)?.takePermissions(of: other, in: descriptor)
    return file
  }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    let filePath = FileName.joined(path, name)
    do {
      let opened = try SystemCall.openFile(name, mode, in: descriptor)
      let file = PosixFile(name: name, path: filePath, mode: mode, descriptor: opened)
      if try SystemCall.isRegularFile(opened) { return file }
    } catch {
      throw FileSystemError(error, .open, path: filePath)
    }
    throw FileSystemError(.notARegularFile, .open, path: filePath)
  }

  func entries() throws(FileSystemError) -> [String] {
    do {
      return try SystemCall.names(in: descriptor).sorted()
    } catch {
      throw FileSystemError(error, .entries, path: path)
    }
  }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    let oldPath = FileName.joined(path, name)
    FileName.check(newName)
    do {
      // Directories are not renamed. Systems differ in the errors that they report for it.
      guard try SystemCall.isDirectory(name, in: descriptor) else {
        return try SystemCall.rename(name, to: newName, in: descriptor)
      }
    } catch {
      throw FileSystemError(error, .rename, path: oldPath)
    }
    throw FileSystemError(.notARegularFile, .rename, path: oldPath)
  }

  func unlink(_ name: String) throws(FileSystemError) {
    let filePath = FileName.joined(path, name)
    do {
      try SystemCall.unlink(name, in: descriptor)
    } catch {
      // Some systems report "operation not permitted" for a directory.
      if (try? SystemCall.isDirectory(name, in: descriptor)) == true {
        throw FileSystemError(.notARegularFile, .unlink, path: filePath, systemNumber: error.number)
      }
      throw FileSystemError(error, .unlink, path: filePath)
    }
  }

  func isInPlace() throws(FileSystemError) -> Bool {
    do {
      return try SystemCall.isDirectory(descriptor, at: path)
    } catch {
      throw FileSystemError(error, .openDirectory, path: path)
    }
  }

  func identity() throws(FileSystemError) -> DirectoryIdentity? {
    do {
      return try SystemCall.identity(of: descriptor)
    } catch {
      throw FileSystemError(error, .openDirectory, path: path)
    }
  }

  func status() throws(FileSystemError) -> FileStatus? {
    do {
      return try SystemCall.fileStatus(of: descriptor)
    } catch {
      throw FileSystemError(error, .openDirectory, path: path)
    }
  }

  func status(of name: String) throws(FileSystemError) -> FileStatus? {
    do {
      return try SystemCall.fileStatus(of: name, in: descriptor)
    } catch {
      throw FileSystemError(error, .size, path: FileName.joined(path, name))
    }
  }

  func availableBytes() throws(FileSystemError) -> Int64? {
    do {
      return try SystemCall.availableBytes(descriptor)
    } catch {
      throw FileSystemError(error, .openDirectory, path: path)
    }
  }

  func sync() throws(FileSystemError) {
    do {
      try SystemCall.sync(descriptor, .full)
    } catch {
      throw FileSystemError(error, .syncDirectory, path: path)
    }
  }

  func watch() throws(FileSystemError) -> (any DirectoryWatch)? {
    #if os(Linux)
      try PosixDirectoryWatch(descriptor, path: path)
    #elseif canImport(Darwin)
      try VnodeDirectoryWatch(descriptor, path: path)
    #else
      nil
    #endif
  }
}
