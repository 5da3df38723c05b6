/// The status of a file or a directory, as the system notes it beside the bytes.
public struct FileStatus: Hashable, Sendable {
  /// Distinguishes it from every other one that exists at the same time.
  public var identity: DirectoryIdentity
  /// The number of names that lead to it: 0 if it was deleted, or if another one has replaced it.
  public var links: UInt64
  /// The length in bytes.
  public var size: Int64
  /// When its bytes, its names or its permissions were changed last, in nanoseconds since 1970, as exact as the system's clock is; 0 if that
  /// is unknown. For a directory, also when a name in it was.
  public var changed: Int64

  /// A status with these values.
  public init(identity: DirectoryIdentity, links: UInt64, size: Int64, changed: Int64) {
    self.identity = identity
    self.links = links
    self.size = size
    self.changed = changed
  }
}

extension File {
  /// Nil: unknown.
  public func status() throws(FileSystemError) -> FileStatus? { nil }
}

extension Directory {
  /// Nil: unknown.
  public func status() throws(FileSystemError) -> FileStatus? { nil }

  /// Nil: unknown.
  public func status(of name: String) throws(FileSystemError) -> FileStatus? { nil }

  /// Whether a name leads to an open file: false if the file was unlinked, or if another one has its name. True if the file system can't
  /// tell.
  public func leads(_ name: String, to file: any File) throws(FileSystemError) -> Bool {
    guard let open = try file.status() else { return true }
    do {
      guard let named = try status(of: name) else { return true }
      return named.identity == open.identity
    } catch {
      guard error.code == .notFound else { throw error }
      return false
    }
  }
}
