/// The file system of the operating system.
///
/// Directories and files have the permissions that the process's mask (`umask`) leaves of 0777 and 0666. Symbolic links are not followed in the
/// last component of a path, nor inside a directory. Everything in a directory is accessed through its
/// descriptor, so that the directory cannot be exchanged between two steps.
public struct PosixFileSystem: FileSystem {
  /// The file system; it has no state.
  public init() {}

  /// True.
  public var isOnThisMachine: Bool { true }

  /// Opens an existing directory that is not a symbolic link.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try PosixDirectory(path: path)
  }

  /// Makes one directory, and makes its entry in the parent durable. If it exists already, its entry is still
  /// made durable before this throws, because the process that made it may not have done so yet.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try FileName.checkPath(path, .createDirectory)
    do throws(SystemError) {
      let failure = Self.failureOfMaking(path)
      if let failure, FileSystemError.Code(systemNumber: failure.number) != .alreadyExists { throw failure }
      // The parent may be a symbolic link, as `/tmp` is on some systems; the dot follows it.
      let parent = try SystemCall.openDirectory(FileName.parent(of: path) + "/.")
      defer { try? SystemCall.close(parent) }
      try SystemCall.sync(parent, .full)
      if let failure { throw failure }
    } catch {
      throw FileSystemError(error, .createDirectory, path: path)
    }
  }

  /// Exchanges two directories with `renameat2`, or `renamex_np` on Apple systems.
  public func exchangeDirectories(_ path: String, _ other: String) throws(FileSystemError) {
    try FileName.checkPath(path, .rename)
    try FileName.checkPath(other, .rename)
    do throws(SystemError) {
      try SystemCall.exchange(path, other)
      for parent in Set([path, other].map(FileName.parent)) {
        let directory = try SystemCall.openDirectory(parent + "/.")
        defer { try? SystemCall.close(directory) }
        try SystemCall.sync(directory, .full)
      }
    } catch {
      throw FileSystemError(error, .rename, path: path)
    }
  }

  private static func failureOfMaking(_ path: String) -> SystemError? {
    do throws(SystemError) {
      try SystemCall.makeDirectory(path)
      return nil
    } catch {
      return error
    }
  }
}
