import HeartwoodFiles
import Synchronization

/// An open file of a simulated disk.
final class SimulatedFile: File {
  let name: String
  private let path: String
  private let mode: OpenMode
  private let file: FileIdentifier
  private let disk: SimulatedDisk
  private let isClosed = Atomic(false)

  init(name: String, path: String, mode: OpenMode, file: FileIdentifier, disk: SimulatedDisk) {
    self.name = name
    self.path = path
    self.mode = mode
    self.file = file
    self.disk = disk
  }

  deinit { disk.unlock(file, ObjectIdentifier(self)) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    precondition(offset >= 0, "Offsets in a file are not negative.")
    checkOpen()
    return disk.read(file, into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    precondition(offset >= 0, "Offsets in a file are not negative.")
    precondition(mode != .readOnly, "A file opened for reading only is never written.")
    checkOpen()
    try disk.write(file, bytes, at: offset, path: path)
    return bytes.count
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) {
    checkOpen()
    disk.sync(file)
  }

  func size() throws(FileSystemError) -> Int64 {
    checkOpen()
    return disk.size(of: file)
  }

  func truncate(to size: Int64) throws(FileSystemError) {
    precondition(size >= 0, "The length of a file is not negative.")
    precondition(mode != .readOnly, "A file opened for reading only is never cut.")
    checkOpen()
    try disk.truncate(file, to: size, path: path)
  }

  func tryLock() throws(FileSystemError) -> Bool {
    checkOpen()
    return disk.tryLock(file, ObjectIdentifier(self), exclusively: mode != .readOnly)
  }

  func map(length: Int) throws(FileSystemError) -> (any FileMap)? {
    precondition(length >= 0, "The length of a map is not negative.")
    checkOpen()
    return nil
  }

  func close() throws(FileSystemError) {
    let wasClosed = isClosed.exchange(true, ordering: .relaxed)
    precondition(!wasClosed, "A file is closed once.")
    disk.unlock(file, ObjectIdentifier(self))
  }

  private func checkOpen() {
    precondition(!isClosed.load(ordering: .relaxed), "A closed file is not used again.")
  }
}
