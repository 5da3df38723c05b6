/// The one door to durable storage: directories by path.
///
/// Everything above this module does its input and output, and nothing else, through these three
/// protocols, so that a disk which misbehaves on command can take the place of a real one.
/// Names inside a directory are plain file names, never paths.
public protocol FileSystem: Sendable {
  /// Opens a directory that exists.
  ///
  /// - Throws: `FileSystemError` with code `.notFound` when nothing is there, `.notADirectory`
  ///   when something else is.
  func openDirectory(_ path: String) throws(FileSystemError) -> any Directory

  /// Makes one directory, and makes its entry in the parent durable before returning.
  ///
  /// - Throws: `.alreadyExists` when the path is taken, `.notFound` when the parent is missing.
  func createDirectory(_ path: String) throws(FileSystemError)
}

/// An open directory; entries are reached relative to it, never by path again.
public protocol Directory: AnyObject, Sendable {
  /// The path it was opened with, for messages only.
  var path: String { get }

  /// Opens a regular file. Symbolic links are not followed.
  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File

  /// The names of all entries, without `.` and `..`, sorted.
  func entries() throws(FileSystemError) -> [String]

  /// Gives a file another name, replacing what had it. Durable only after `sync()`.
  func rename(_ name: String, to newName: String) throws(FileSystemError)

  /// Takes a name away. Durable only after `sync()`. Open files and maps of it stay readable.
  func unlink(_ name: String) throws(FileSystemError)

  /// Whether the directory is still what its path leads to: not when it was deleted, or another one put in its place.
  func isInPlace() throws(FileSystemError) -> Bool

  /// What tells it from every other directory that this process can have open at the same time, whatever paths lead to it;
  /// nil where the file system does not know.
  func identity() throws(FileSystemError) -> DirectoryIdentity?

  /// How many bytes can still be written to files of the directory, as far as the file system tells: an estimate; nil where
  /// it does not know, or has no limit.
  func availableBytes() throws(FileSystemError) -> Int64?

  /// Makes the directory's entries durable: names created, renamed and unlinked before this call.
  func sync() throws(FileSystemError)

  /// Begins to wait for changes in the directory, made by this process or others; nil where the file system does not tell of
  /// any.
  ///
  /// - Throws: Where the system refuses one more watch.
  func watch() throws(FileSystemError) -> (any DirectoryWatch)?
}

extension Directory {
  /// Nil: nobody tells of changes.
  public func watch() throws(FileSystemError) -> (any DirectoryWatch)? { nil }

  /// True: nobody can take it away.
  public func isInPlace() throws(FileSystemError) -> Bool { true }

  /// Nil: not known.
  public func identity() throws(FileSystemError) -> DirectoryIdentity? { nil }

  /// Nil: not known.
  public func availableBytes() throws(FileSystemError) -> Int64? { nil }
}

/// Tells a directory of the system from every other that is there at the same time.
public struct DirectoryIdentity: Hashable, Sendable {
  /// The system's number for the device that it is on.
  public var device: UInt64
  /// The number of the directory on it.
  public var number: UInt64

  /// An identity with these numbers.
  public init(device: UInt64, number: UInt64) {
    self.device = device
    self.number = number
  }
}

/// How a file is opened.
public enum OpenMode: Hashable, Sendable {
  /// It must exist; it is never written.
  case readOnly
  /// It must exist.
  case readWrite
  /// It must not exist; it is created empty. The name is durable only after the directory's `sync()`.
  case createNew
}

/// What a sync makes durable.
public enum SyncKind: Hashable, Sendable {
  /// The bytes, and the length where reading them needs it (`fdatasync`).
  case data
  /// Bytes and all metadata. On Apple systems both kinds go through the drive's own cache
  /// (`F_FULLFSYNC`), as nothing less is durable there.
  case full
}

/// An open regular file.
public protocol File: AnyObject, Sendable {
  /// Its name in its directory, for messages only.
  var name: String { get }

  /// Reads up to `buffer.count` bytes from `offset`; returns how many, 0 at the end of the file.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int

  /// Writes up to `bytes.count` bytes at `offset`; returns how many. A gap reads as zeros.
  /// Nothing is durable before a `sync`.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int

  /// Makes durable what was written before this call. After an error the state is unknown:
  /// never try again on the strength of a second success.
  func sync(_ kind: SyncKind) throws(FileSystemError)

  /// The length in bytes.
  func size() throws(FileSystemError) -> Int64

  /// Cuts or extends (with zeros) to a length.
  func truncate(to size: Int64) throws(FileSystemError)

  /// Takes an advisory lock on the whole file that ends with the process, with `unlock()` or with `close()`.
  ///
  /// One lock belongs to one open file, in this process or another. Its holder may ask again, for the same kind or for
  /// the other, which it then has instead.
  ///
  /// - Parameter kind: `.exclusive` for a file opened for writing only.
  /// - Returns: false when others hold what is in its way; on some systems what was held of the other kind is lost then.
  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool

  /// Lets go of the lock, if there is one.
  func unlock() throws(FileSystemError)

  /// Whether somebody else holds a lock of either kind, now.
  func isLocked() throws(FileSystemError) -> Bool

  /// A view of the file's bytes for reading, or nil where the file system cannot map.
  ///
  /// The view sees later writes. It is valid up to the file's current length, however large
  /// `length` is: asking for more than the file has reserves room for it to grow. It outlives
  /// `close()` and `unlink`.
  func map(length: Int) throws(FileSystemError) -> (any FileMap)?

  /// The first bytes of the file as memory that everybody who shares it writes and reads at once, in this process and in
  /// others; nil where the file system has no such thing. Meant for a small file that is never cut.
  ///
  /// Nothing of it is durable, and whoever maps or reads the file sees it too. It outlives `close()` and `unlink`.
  ///
  /// - Parameter length: How many bytes; the file has to have them.
  func share(length: Int) throws(FileSystemError) -> (any SharedMemory)?

  /// Bytes that the file has, to be written in place without asking the system for each write; nil where the file system
  /// does not promise that such writes succeed, whatever else is written beside them.
  ///
  /// - Parameters:
  ///   - offset: Where they begin.
  ///   - length: How many bytes, all of which were written before: there is room for them on the disk. The file is not cut
  ///     before the window's last use.
  func window(at offset: Int64, length: Int) throws(FileSystemError) -> (any FileWindow)?

  /// Ends the use of the file. Further calls are errors of the program.
  func close() throws(FileSystemError)
}

/// Who may hold a lock beside its holder.
public enum LockKind: Hashable, Sendable {
  /// Others who share it too.
  case shared
  /// Nobody.
  case exclusive
}

/// The first bytes of a file, written in place; unmapped when released.
public protocol SharedMemory: AnyObject, Sendable {
  /// The first byte of the file.
  var base: UnsafeMutableRawPointer { get }
  /// How many bytes may be used from `base` on.
  var length: Int { get }
}

extension File {
  /// Nil: there is no such thing.
  public func share(length: Int) throws(FileSystemError) -> (any SharedMemory)? { nil }

  /// Nil: every write is a call.
  public func window(at offset: Int64, length: Int) throws(FileSystemError) -> (any FileWindow)? { nil }
}

/// Some of a file's bytes that can be written in place. One thread at a time; it outlives `close()` and `unlink`.
public protocol FileWindow: AnyObject, Sendable {
  /// Which bytes of the file.
  var range: Range<Int64> { get }
  /// The first of them, where storing to memory is all that `write` does; nil where it does more.
  var base: UnsafeMutableRawPointer? { get }

  /// Puts bytes in the place of those at `offset`, all of them within `range`. Whoever reads or maps the file sees them, also
  /// if this process is killed afterwards; durable they are, as with `File.write`, after a `sync` of the file.
  /// No watch of the directory is told.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64)
}

/// A view of a file's bytes in memory; unmapped when released.
public protocol FileMap: AnyObject, Sendable {
  /// The first byte of the file.
  var base: UnsafeRawPointer { get }
  /// How many bytes are reserved from `base` on; only those within the file's length may be read.
  var length: Int { get }
}
