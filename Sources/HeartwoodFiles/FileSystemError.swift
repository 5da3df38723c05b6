/// A failed operation of the file system: its kind, the path and the operation.
public struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of a failure; platforms may add kinds.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind, as it appears in messages.
    public let rawValue: String

    /// A kind by its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public var description: String { rawValue }

    /// No such file or directory.
    public static let notFound = Code(rawValue: "no such file or directory")
    /// The name exists already.
    public static let alreadyExists = Code(rawValue: "already exists")
    /// A directory was expected, but the path leads to something else.
    public static let notADirectory = Code(rawValue: "not a directory")
    /// A regular file was expected, but the name is something else's.
    public static let notARegularFile = Code(rawValue: "not a regular file")
    /// The permissions do not allow it.
    public static let permissionDenied = Code(rawValue: "permission denied")
    /// The file system is mounted for reading only.
    public static let readOnlyFileSystem = Code(rawValue: "read-only file system")
    /// The disk or the quota is full.
    public static let noSpace = Code(rawValue: "no space left")
    /// The file would exceed the process's file size limit (`ulimit -f`) or that of the file system.
    public static let fileTooLarge = Code(rawValue: "file too large")
    /// The device failed.
    public static let inputOutput = Code(rawValue: "input/output error")
    /// The file or directory no longer exists on its server (`ESTALE`); it has to be opened again.
    public static let staleHandle = Code(rawValue: "stale file handle")
    /// The process or the system has too many files open.
    public static let tooManyOpenFiles = Code(rawValue: "too many open files")
    /// The system has no memory, or no address range, of the requested size.
    public static let outOfMemory = Code(rawValue: "out of memory")
    /// The file system does not support the operation.
    public static let unsupported = Code(rawValue: "not supported")
    /// A file system that encrypts has another key than the file.
    public static let wrongKey = Code(rawValue: "wrong key")
    /// The bytes of an encrypted file are not what was written: they were changed, cut, or belong elsewhere.
    public static let notAuthentic = Code(rawValue: "not authentic")
    /// Any other failure; see `systemNumber`.
    public static let other = Code(rawValue: "error")
  }

  /// The operations of the three protocols, by their names.
  public enum Operation: String, Hashable, Sendable, CaseIterable {
    /// An operation of a file system or a directory.
    case openDirectory, createDirectory, open, entries, rename, unlink, syncDirectory, watch
    /// An operation of a file.
    case read, write, sync, size, truncate, lock, map, close
  }

  /// The kind of failure.
  public let code: Code
  /// The operation that failed.
  public let operation: Operation
  /// The file or directory.
  public let path: String
  /// The system's error number, if there is one; for diagnosis only.
  public let systemNumber: Int32?
  /// True when a test's fault plan made this error.
  public let isInjected: Bool

  /// An error of `operation` on `path`.
  public init(
    _ code: Code, _ operation: Operation, path: String, systemNumber: Int32? = nil, isInjected: Bool = false
  ) {
    self.code = code
    self.operation = operation
    self.path = path
    self.systemNumber = systemNumber
    self.isInjected = isInjected
  }

  /// One line: path, operation, kind, the system's number.
  public var description: String {
    let number = systemNumber.map { " (errno \($0))" } ?? ""
    return "\(path): \(operation.rawValue) failed: \(code)\(number)\(isInjected ? " [injected]" : "")"
  }
}
