/// What went wrong at the file system, where, and in which operation.
public struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of trouble; open for kinds that a platform adds.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the kind, as it appears in messages.
    public let rawValue: String

    /// A kind by name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name.
    public var description: String { rawValue }

    /// No such file or directory.
    public static let notFound = Code(rawValue: "no such file or directory")
    /// The name is taken.
    public static let alreadyExists = Code(rawValue: "already exists")
    /// A directory was asked for, something else is there.
    public static let notADirectory = Code(rawValue: "not a directory")
    /// A regular file was asked for, something else is there.
    public static let notARegularFile = Code(rawValue: "not a regular file")
    /// The permissions do not allow it.
    public static let permissionDenied = Code(rawValue: "permission denied")
    /// The file system is mounted for reading only.
    public static let readOnlyFileSystem = Code(rawValue: "read-only file system")
    /// The disk or the quota is full.
    public static let noSpace = Code(rawValue: "no space left")
    /// The file would pass the process's limit of file sizes (`ulimit -f`), or the largest file of the file system.
    public static let fileTooLarge = Code(rawValue: "file too large")
    /// The device failed.
    public static let inputOutput = Code(rawValue: "input/output error")
    /// The file or directory has gone from its server (`ESTALE`); it has to be opened anew.
    public static let staleHandle = Code(rawValue: "stale file handle")
    /// The process or the system has too many files open.
    public static let tooManyOpenFiles = Code(rawValue: "too many open files")
    /// The system has no memory, or no range of addresses, of the size asked for.
    public static let outOfMemory = Code(rawValue: "out of memory")
    /// The file system cannot do this at all.
    public static let unsupported = Code(rawValue: "not supported")
    /// Anything else; the message carries the system's own words.
    public static let other = Code(rawValue: "error")
  }

  /// The operations of the three protocols, by the names they have there.
  public enum Operation: String, Hashable, Sendable, CaseIterable {
    /// One case for each operation.
    case openDirectory, createDirectory, open, entries, rename, unlink, syncDirectory, watch
    case read, write, sync, size, truncate, lock, map, close
  }

  /// What kind of trouble.
  public let code: Code
  /// The operation that failed.
  public let operation: Operation
  /// The file or directory.
  public let path: String
  /// The system's error number, where there is one; for diagnosis only.
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
