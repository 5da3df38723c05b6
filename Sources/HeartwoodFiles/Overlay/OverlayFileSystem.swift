/// One directory of another file system as it was when this object was made, with changes in memory.
///
/// The other file system is only read: its files are opened read-only, without locks, and stay as they are. Others may append to them, write
/// bytes that were zero, create and unlink files meanwhile: none of that is seen, except in bytes that were never read.
package final class OverlayFileSystem: FileSystem {
  /// Files up to this size are copied at once.
  private static let copiedSize: Int64 = 1 << 16

  /// That of the other file system: a copy of an encrypted store is encrypted.
  package let forCopies: any FileSystem
  private let path: String
  private let directory: OverlayDirectory

  /// Opens all files of a directory that are to be seen.
  ///
  /// - Parameters:
  ///   - base: The file system that is read.
  ///   - path: The directory.
  ///   - isSeen: Whether a file with this name is part of the directory; by default all are.
  ///   - isFinal: Whether a file with this name is never written again. Its bytes are mapped, not copied.
  package init(
    _ base: any FileSystem, directory path: String, isSeen: (String) -> Bool = { _ in true },
    isFinal: (String) -> Bool = { _ in false }
  ) throws(FileSystemError) {
    self.path = path
    forCopies = base.forCopies
    let directory = try base.openDirectory(path)
    var contents: [String: any OverlayContent] = [:]
    for name in try directory.entries() where isSeen(name) {
      let file = try directory.open(name, .readOnly)
      if isFinal(name) {
        contents[name] = try FinalContent(file)
      } else if try file.size() <= Self.copiedSize {
        contents[name] = try NewContent(name, path: FileName.joined(path, name), copying: file)
      } else {
        contents[name] = try ChangedContent(file)
      }
    }
    self.directory = OverlayDirectory(path, contents)
  }

  /// Opens the directory; there is no other.
  package func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    guard path == self.path else { throw FileSystemError(.notFound, .openDirectory, path: path) }
    return directory
  }

  /// Throws `.unsupported`.
  package func createDirectory(_ path: String) throws(FileSystemError) {
    throw FileSystemError(.unsupported, .createDirectory, path: path)
  }

  /// All bytes of a file.
  ///
  /// - Parameters:
  ///   - name: The file.
  ///   - directory: Its directory.
  package static func bytes(
    of name: String, in directory: any Directory
  ) throws(FileSystemError) -> [UInt8] {
    let file = try directory.open(name, .readOnly)
    defer { try? file.close() }
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(try file.size()), alignment: 8)
    defer { bytes.deallocate() }
    return Array(bytes[..<(try file.readFully(into: bytes, at: 0))])
  }

  /// The sizes of all files whose names satisfy a condition, in bytes.
  ///
  /// - Parameter isCounted: Whether a file with this name is counted.
  package func size(_ isCounted: (String) -> Bool) throws(FileSystemError) -> Int64 {
    try directory.size(isCounted)
  }

  /// The bytes that were written to files whose names satisfied a condition when they were opened.
  ///
  /// - Parameter isCounted: Whether a file with this name is counted.
  package func writtenBytes(_ isCounted: (String) -> Bool) -> Int64 { directory.writtenBytes(isCounted) }
}

/// The directory of an overlay.
final class OverlayDirectory: Directory, @unchecked Sendable {
  let path: String
  private let lock = Lock()
  private var contents: [String: any OverlayContent]
  private var written: [String: Int64] = [:]

  init(_ path: String, _ contents: [String: any OverlayContent]) {
    self.path = path
    self.contents = contents
  }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    try lock.withLock { () throws(FileSystemError) in
      guard mode == .createNew else {
        guard let content = contents[name] else { throw error(.notFound, .open, name) }
        return OverlayFile(name, content, self)
      }
      guard contents[name] == nil else { throw error(.alreadyExists, .open, name) }
      let content = NewContent(name, path: FileName.joined(path, name))
      contents[name] = content
      return OverlayFile(name, content, self)
    }
  }

  func entries() throws(FileSystemError) -> [String] { lock.withLock { contents.keys.sorted() } }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    try lock.withLock { () throws(FileSystemError) in
      guard let content = contents.removeValue(forKey: name) else { throw error(.notFound, .rename, name) }
      contents[newName] = content
    }
  }

  func unlink(_ name: String) throws(FileSystemError) {
    try lock.withLock { () throws(FileSystemError) in
      guard contents.removeValue(forKey: name) != nil else { throw error(.notFound, .unlink, name) }
    }
  }

  func sync() throws(FileSystemError) {}

  func noteWritten(_ count: Int, _ name: String) {
    lock.withLock { written[name, default: 0] += Int64(count) }
  }

  func writtenBytes(_ isCounted: (String) -> Bool) -> Int64 {
    lock.withLock { written.filter { isCounted($0.key) }.values.reduce(0, +) }
  }

  func size(_ isCounted: (String) -> Bool) throws(FileSystemError) -> Int64 {
    let counted = lock.withLock { contents.filter { isCounted($0.key) }.map(\.value) }
    var size: Int64 = 0
    for content in counted { size += try content.size() }
    return size
  }

  private func error(
    _ code: FileSystemError.Code, _ operation: FileSystemError.Operation, _ name: String
  ) -> FileSystemError {
    FileSystemError(code, operation, path: FileName.joined(path, name))
  }
}

/// An open file of an overlay. Locks are free, because only one program uses the overlay.
final class OverlayFile: File {
  let name: String
  private let content: any OverlayContent
  private let directory: OverlayDirectory

  init(_ name: String, _ content: any OverlayContent, _ directory: OverlayDirectory) {
    self.name = name
    self.content = content
    self.directory = directory
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try content.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try content.write(bytes, at: offset)
    directory.noteWritten(bytes.count, name)
    return bytes.count
  }

  func size() throws(FileSystemError) -> Int64 { try content.size() }
  func truncate(to size: Int64) throws(FileSystemError) { try content.truncate(to: size) }
  func map(length: Int) throws(FileSystemError) -> (any FileMap)? { try content.map(length: length) }
  func sync(_ kind: SyncKind) throws(FileSystemError) {}
  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool { true }
  func unlock() throws(FileSystemError) {}
  func isLocked() throws(FileSystemError) -> Bool { false }
  func close() throws(FileSystemError) {}
}
