/// Access to durable storage: directories by path.
///
/// The modules above this one do all file input and output through these protocols, so that tests can
/// substitute a disk that misbehaves on command. Names inside a directory are plain file names, never paths.
public protocol FileSystem: Sendable {
  /// Opens an existing directory.
  ///
  /// - Throws: `FileSystemError` with code `.notFound` if the path does not exist, `.notADirectory` if it
  ///   leads to something else.
  func openDirectory(_ path: String) throws(FileSystemError) -> any Directory

  /// Makes one directory, and makes its entry in the parent durable.
  ///
  /// - Throws: `.alreadyExists` if the path exists, `.notFound` if the parent does not.
  func createDirectory(_ path: String) throws(FileSystemError)

  /// Exchanges two directories in one step, and makes that durable: each is at the other's path afterwards, also after a crash,
  /// or both are where they were.
  ///
  /// - Throws: `.unsupported` if the file system cannot do that.
  func exchangeDirectories(_ path: String, _ other: String) throws(FileSystemError)

  /// Whether a path means the same directory as in other calls of the process, such as those of Foundation's `FileManager`.
  var isOnThisMachine: Bool { get }

  /// Where copies of a store are made unless the caller names another file system.
  var forCopies: any FileSystem { get }
}

extension FileSystem {
  /// False: only this file system knows its paths.
  public var isOnThisMachine: Bool { false }

  /// The files of the operating system.
  public var forCopies: any FileSystem { PosixFileSystem() }

  /// Throws `.unsupported`.
  public func exchangeDirectories(_ path: String, _ other: String) throws(FileSystemError) {
    throw FileSystemError(.unsupported, .rename, path: path)
  }
}

/// An open directory. Its entries are accessed relative to it, never by path.
public protocol Directory: AnyObject, Sendable {
  /// The path it was opened with, for messages only.
  var path: String { get }

  /// Opens a regular file. Symbolic links are not followed.
  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File

  /// Creates a file that must not exist, for reading and writing, with the permissions of another file of the directory. Without the other
  /// file, the process's mask decides.
  func create(_ name: String, like other: String) throws(FileSystemError) -> any File

  /// The names of all entries, without `.` and `..`, sorted.
  func entries() throws(FileSystemError) -> [String]

  /// Renames a file, replacing an existing one. Durable only after `sync()`.
  func rename(_ name: String, to newName: String) throws(FileSystemError)

  /// Removes a name. Durable only after `sync()`. Open files and maps of the file stay readable.
  func unlink(_ name: String) throws(FileSystemError)

  /// Whether the path still leads to this directory: false if it was deleted, or if another one has replaced
  /// it.
  func isInPlace() throws(FileSystemError) -> Bool

  /// Identifies the directory among all that this process can have open at the same time, whatever their
  /// paths; nil if the file system cannot tell.
  func identity() throws(FileSystemError) -> DirectoryIdentity?

  /// The status of the directory; nil if the file system cannot tell.
  func status() throws(FileSystemError) -> FileStatus?

  /// The status of the file that a name leads to; nil if the file system cannot tell.
  ///
  /// - Throws: `.notFound` if there is none.
  func status(of name: String) throws(FileSystemError) -> FileStatus?

  /// The estimated number of bytes that can still be written to files of the directory; nil if the file
  /// system does not know it, or has no limit.
  func availableBytes() throws(FileSystemError) -> Int64?

  /// Makes durable all names that were created, renamed or unlinked before this call.
  func sync() throws(FileSystemError)

  /// Starts to watch the directory for changes, made by this process or others; nil if the file system does
  /// not report changes.
  ///
  /// - Throws: if the system refuses another watch.
  func watch() throws(FileSystemError) -> (any DirectoryWatch)?
}

extension Directory {
  /// As `open(_:_:)`: the file system has no permissions.
  public func create(_ name: String, like other: String) throws(FileSystemError) -> any File {
    try open(name, .createNew)
  }

  /// Nil: changes are not reported.
  public func watch() throws(FileSystemError) -> (any DirectoryWatch)? { nil }

  /// True: the directory cannot be deleted or replaced.
  public func isInPlace() throws(FileSystemError) -> Bool { true }

  /// Nil: unknown.
  public func identity() throws(FileSystemError) -> DirectoryIdentity? { nil }

  /// Nil: unknown.
  public func availableBytes() throws(FileSystemError) -> Int64? { nil }
}

/// Distinguishes a directory of the system from every other one that exists at the same time.
public struct DirectoryIdentity: Hashable, Sendable {
  /// The system's number for the device.
  public var device: UInt64
  /// The directory's inode number on the device.
  public var number: UInt64

  /// An identity with these numbers.
  public init(device: UInt64, number: UInt64) {
    self.device = device
    self.number = number
  }
}

/// How a file is opened.
public enum OpenMode: Hashable, Sendable {
  /// The file must exist; it is never written.
  case readOnly
  /// The file must exist.
  case readWrite
  /// The file must not exist; it is created empty. Its name is durable only after the directory's `sync()`.
  case createNew
}

/// The extent of a sync.
public enum SyncKind: Hashable, Sendable {
  /// The bytes, and the length if reading them needs it (`fdatasync`).
  case data
  /// The bytes and all metadata (`fsync`). On Apple systems both kinds flush the drive's own cache
  /// (`F_FULLFSYNC`), because nothing less is durable there.
  case full
}

/// An open regular file.
public protocol File: AnyObject, Sendable {
  /// Its name in its directory, for messages only.
  var name: String { get }

  /// Reads up to `buffer.count` bytes at `offset`; returns the number read, 0 at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int

  /// Writes up to `bytes.count` bytes at `offset`; returns the number written. A gap before `offset` reads as
  /// zeros. Nothing is durable before a `sync`.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int

  /// Makes all earlier writes durable. After an error the state is unknown: a later sync that succeeds does
  /// not prove that they are durable.
  func sync(_ kind: SyncKind) throws(FileSystemError)

  /// The length in bytes.
  func size() throws(FileSystemError) -> Int64

  /// The status of the file; nil if the file system cannot tell.
  func status() throws(FileSystemError) -> FileStatus?

  /// Truncates the file, or extends it with zeros.
  func truncate(to size: Int64) throws(FileSystemError)

  /// Tries to acquire an advisory lock on the whole file. The lock ends with the process, with `unlock()` or
  /// with `close()`.
  ///
  /// The lock belongs to this open file and conflicts with locks of other open files, in this process or
  /// another. The holder may acquire the same kind again, or the other kind, which replaces the first.
  ///
  /// - Parameter kind: `.exclusive` only for a file opened for writing.
  /// - Returns: false if another open file holds a conflicting lock. On some systems a held lock of the other
  ///   kind is lost then.
  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool

  /// Releases the lock, if it is held.
  func unlock() throws(FileSystemError)

  /// Whether another open file holds a lock of either kind now.
  func isLocked() throws(FileSystemError) -> Bool

  /// Maps the file's bytes for reading; nil if the file system does not support maps.
  ///
  /// The map sees later writes. Only bytes within the file's current length may be read. A `length` beyond it
  /// reserves addresses for the file to grow. The map outlives `close()` and `unlink`.
  func map(length: Int) throws(FileSystemError) -> (any FileMap)?

  /// Maps the first bytes of the file as memory that all processes that share it read and write at once; nil
  /// if the file system does not support it. Meant for a small file that is never truncated.
  ///
  /// Nothing written to it is durable. Readers and maps of the file see it too. It outlives `close()` and
  /// `unlink`.
  ///
  /// - Parameter length: In bytes; at most the length of the file.
  func share(length: Int) throws(FileSystemError) -> (any SharedMemory)?

  /// Maps bytes of the file for writing in place, without a system call for each write; nil if the file
  /// system does not guarantee that such writes succeed, whatever is written elsewhere.
  ///
  /// - Parameters:
  ///   - offset: The offset of the first byte.
  ///   - length: The number of bytes. All of them were written before, so that they have space on the disk.
  ///     The file must not be truncated before the window's last use.
  func window(at offset: Int64, length: Int) throws(FileSystemError) -> (any FileWindow)?

  /// Gives the file the permissions of another one of the same file system: which users may read and write it.
  func takePermissions(of other: any File) throws(FileSystemError)

  /// Closes the file. Further calls are errors of the program.
  func close() throws(FileSystemError)
}

/// The locks that a lock allows beside itself.
public enum LockKind: Hashable, Sendable {
  /// Other shared locks.
  case shared
  /// None.
  case exclusive
}

/// The first bytes of a file, written in place; unmapped when released.
public protocol SharedMemory: AnyObject, Sendable {
  /// The first byte of the file.
  var base: UnsafeMutableRawPointer { get }
  /// The number of bytes that may be used from `base` on.
  var length: Int { get }
}

extension File {
  /// Does nothing: the file system has no permissions.
  public func takePermissions(of other: any File) throws(FileSystemError) {}

  /// Nil: not supported.
  public func share(length: Int) throws(FileSystemError) -> (any SharedMemory)? { nil }

  /// Nil: every write is a system call.
  public func window(at offset: Int64, length: Int) throws(FileSystemError) -> (any FileWindow)? { nil }
}

/// Bytes of a file that can be written in place, by one thread at a time. Outlives `close()` and `unlink`.
public protocol FileWindow: AnyObject, Sendable {
  /// The range of the bytes in the file.
  var range: Range<Int64> { get }
  /// The address of the first byte in `range` if `write` only stores to memory; nil if it does more.
  var base: UnsafeMutableRawPointer? { get }
  /// Whether `write` may still be used. If not, the bytes are written by calls from now on. True for good if
  /// `base` is not nil.
  var isUsable: Bool { get }

  /// Overwrites the bytes at `offset`, all of them within `range`. Readers and maps of the file see them,
  /// even if this process is killed afterwards. They are durable after a `sync` of the file, as with
  /// `File.write`. Watches of the directory do not report them.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64)
}

extension FileWindow {
  /// True.
  public var isUsable: Bool { true }
}

/// A read-only map of a file's bytes; unmapped when released.
public protocol FileMap: AnyObject, Sendable {
  /// The first byte of the file.
  var base: UnsafeRawPointer { get }
  /// The number of bytes reserved from `base` on; only those within the file's length may be read.
  var length: Int { get }
}
