import HeartwoodBytes
import HeartwoodFiles
import Synchronization

/// An open file of a simulated disk.
final class SimulatedFile: File {
  let name: String
  private let path: String
  private let mode: OpenMode
  private let file: FileIdentifier
  private let handle: Handle
  private let disk: SimulatedDisk
  private let process: ProcessIdentifier
  private let isClosed = Atomic(false)

  init(
    name: String, path: String, mode: OpenMode, file: FileIdentifier, handle: Handle, disk: SimulatedDisk,
    process: ProcessIdentifier
  ) {
    self.name = name
    self.path = path
    self.mode = mode
    self.file = file
    self.handle = handle
    self.disk = disk
    self.process = process
  }

  deinit { disk.close(handle) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    require(offset >= 0, "Offsets in a file are not negative.")
    return try perform(.read) { (state) throws(FileSystemError) in
      state.read(file, into: buffer, at: offset)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileSystemError) -> Int {
    require(offset >= 0, "Offsets in a file are not negative.")
    require(mode != .readOnly, "A file opened for reading only is never written.")
    return try perform(.write) { (state) throws(FileSystemError) in
      try state.write(file, bytes, at: offset, path: path)
    }
  }

  func sync(_ kind: SyncKind) throws(FileSystemError) { try sync(nil) }

  func size() throws(FileSystemError) -> Int64 {
    try perform(.size) { (state) throws(FileSystemError) in Int64(state.cached.size(of: file)) }
  }

  /// Changes nothing, so it is not a call that needs a live process.
  func status() throws(FileSystemError) -> FileStatus? { disk.with { $0.status(of: file) } }

  func truncate(to size: Int64) throws(FileSystemError) {
    require(size >= 0, "The length of a file is not negative.")
    require(mode != .readOnly, "A file opened for reading only is never cut.")
    try perform(.truncate) { (state) throws(FileSystemError) in
      try state.truncate(file, to: size, path: path)
    }
  }

  func tryLock(_ kind: LockKind) throws(FileSystemError) -> Bool {
    require(
      kind == .shared || mode != .readOnly, "A file opened for reading only is locked with others.")
    return try perform(.lock) { (state) throws(FileSystemError) in
      state.handles.tryLock(handle, exclusively: kind == .exclusive)
    }
  }

  func isLocked() throws(FileSystemError) -> Bool {
    try perform(.lock) { (state) throws(FileSystemError) in state.handles.isLocked(besides: handle) }
  }

  func unlock() throws(FileSystemError) {
    try perform(.lock) { (state) throws(FileSystemError) in state.handles.unlock(handle) }
  }

  func map(length: Int) throws(FileSystemError) -> (any FileMap)? {
    require(length >= 0, "The length of a map is not negative.")
    return try perform(.map) { (_) throws(FileSystemError) in nil }
  }

  func window(at offset: Int64, length: Int) throws(FileSystemError) -> (any FileWindow)? {
    require(mode != .readOnly, "A file opened for reading only is never written.")
    let range = offset..<offset + Int64(length)
    return try perform(.map) { (state) throws(FileSystemError) in
      require(
        range.upperBound <= Int64(state.cached.size(of: file)), "A window must be within its file.")
      return ReportingWindow(range: range) { [disk, process, file, path] (bytes, offset) in
        // A write of a killed process has no effect. No other error is possible here.
        _ = try? disk.perform(as: process, .write, path) { (state) throws(FileSystemError) in
          try state.write(file, bytes, at: offset, path: path)
        }
      }
    }
  }

  func close() throws(FileSystemError) {
    try perform(.close) { (state) throws(FileSystemError) in
      isClosed.store(true, ordering: .relaxed)
      state.handles.close(handle)
    }
  }

  private func sync(_ behavior: SyncBehavior?) throws(FileSystemError) {
    try perform(.sync) { (state) throws(FileSystemError) in
      switch behavior ?? state.syncBehavior {
      case .honest: return state.sync(file)
      case .lies: return
      case .failsKeepingData: state.forgetToSync(file)
      case .failsRevertingData: state.revert(file)
      }
      throw FileSystemError(.inputOutput, .sync, path: path, isInjected: true)
    }
  }

  private func perform<Result>(
    _ operation: FileSystemError.Operation,
    _ call: (inout SimulatedState) throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    require(!isClosed.load(ordering: .relaxed), "A closed file is not used again.")
    return try disk.perform(as: process, operation, path, call)
  }
}

extension SimulatedFile: MisbehavingSync {
  func sync(_ kind: SyncKind, _ behavior: SyncBehavior) throws(FileSystemError) { try sync(behavior) }
}
