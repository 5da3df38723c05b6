import HeartwoodFiles

/// An open file of a recorded file system.
final class RecordingFile: File {
  private let base: any File
  private let path: String
  private let recorder: Recorder

  init(base: any File, path: String, recorder: Recorder) {
    self.base = base
    self.path = path
    self.recorder = recorder
  }

  var name: String { base.name }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try recorder.record(.read, path, range(offset, buffer.count)) { () throws(FileSystemError) in
      try base.read(into: buffer, at: offset)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    try recorder.record(.write, path, range(offset, bytes.count)) { () throws(FileSystemError) in
      try base.write(bytes, at: offset)
    }
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) {
    try recorder.record(.sync, path, "\(kind)") { () throws(FileSystemError) in try base.sync(kind) }
  }

  func size() throws(FileSystemError) -> Int64 {
    try recorder.record(.size, path) { () throws(FileSystemError) in try base.size() }
  }

  func status() throws(FileSystemError) -> FileStatus? { try base.status() }

  func truncate(to size: Int64) throws(FileSystemError) {
    try recorder.record(.truncate, path, "to \(size)") { () throws(FileSystemError) in
      try base.truncate(to: size)
    }
  }

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool {
    try recorder.record(.lock, path, "\(kind)") { () throws(FileSystemError) in try base.tryLock(kind) }
  }

  func isLocked() throws(FileSystemError) -> Bool {
    try recorder.record(.lock, path, "asked for") { () throws(FileSystemError) in try base.isLocked() }
  }

  func unlock() throws(FileSystemError) {
    try recorder.record(.lock, path, "none") { () throws(FileSystemError) in try base.unlock() }
  }

  func map(length: Int) throws(FileSystemError) -> (any FileMap)? {
    try recorder.record(.map, path, "\(length)") { () throws(FileSystemError) in
      try base.map(length: length)
    }
  }

  func close() throws(FileSystemError) {
    try recorder.record(.close, path) { () throws(FileSystemError) in try base.close() }
  }

  private func range(_ offset: Int64, _ count: Int) -> String { "\(offset)..<\(offset + Int64(count))" }
}

extension RecordingFile: MisbehavingSync {
  func sync(_ kind: SyncKind, _ behavior: SyncBehavior) throws(FileSystemError) {
    try recorder.record(.sync, path, "\(kind)") { () throws(FileSystemError) in
      try behavior.sync(base, kind, path: path, .sync) { () throws(FileSystemError) in try base.sync(kind) }
    }
  }
}
