/// The file system of the operating system.
///
/// Directories are made with permissions 0700 and files with 0600. Links are never followed in the last
/// place of a path nor inside a directory, and everything in a directory is reached through its descriptor,
/// so that nobody can exchange the directory between two steps.
public struct PosixFileSystem: FileSystem {
  /// The file system; it has no state.
  public init() {}

  /// Opens a directory that exists and is not a link.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try PosixDirectory(path: path)
  }

  /// Makes one directory, and makes its entry in the parent durable before returning; also where another process has made it,
  /// which may not have come to that yet.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try FileName.checkPath(path, .createDirectory)
    do throws(SystemError) {
      let failure = Self.failureOfMaking(path)
      if let failure, FileSystemError.Code(systemNumber: failure.number) != .alreadyExists { throw failure }
      // The parent may be reached through a link, as `/tmp` is on some systems; the dot follows it.
      let parent = try SystemCall.openDirectory(FileName.parent(of: path) + "/.")
      defer { try? SystemCall.close(parent) }
      try SystemCall.sync(parent, .full)
      if let failure { throw failure }
    } catch {
      throw FileSystemError(error, .createDirectory, path: path)
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
