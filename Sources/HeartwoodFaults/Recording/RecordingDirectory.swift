import HeartwoodFiles

/// A directory of a recorded file system.
final class RecordingDirectory: Directory {
  private let base: any Directory
  private let recorder: Recorder

  init(base: any Directory, recorder: Recorder) {
    self.base = base
    self.recorder = recorder
  }

  var path: String { base.path }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    let filePath = FileName.joined(path, name)
    let file = try recorder.record(.open, filePath, "\(mode)", isMutation: mode == .createNew) {
      () throws(FileSystemError) in try base.open(name, mode)
    }
    return RecordingFile(base: file, path: filePath, recorder: recorder)
  }

  func entries() throws(FileSystemError) -> [String] {
    try recorder.record(.entries, path) { () throws(FileSystemError) in try base.entries() }
  }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    try recorder.record(.rename, FileName.joined(path, name), "to \(newName)") {
      () throws(FileSystemError) in try base.rename(name, to: newName)
    }
  }

  func unlink(_ name: String) throws(FileSystemError) {
    try recorder.record(.unlink, FileName.joined(path, name)) { () throws(FileSystemError) in
      try base.unlink(name)
    }
  }

  /// Changes nothing, so the call is not recorded.
  func availableBytes() throws(FileSystemError) -> Int64? { try base.availableBytes() }

  func isInPlace() throws(FileSystemError) -> Bool { try base.isInPlace() }

  func status() throws(FileSystemError) -> FileStatus? { try base.status() }

  func status(of name: String) throws(FileSystemError) -> FileStatus? { try base.status(of: name) }

  func watch() throws(FileSystemError) -> (any DirectoryWatch)? {
    try recorder.record(.watch, path) { () throws(FileSystemError) in try base.watch() }
  }

  func sync() throws(FileSystemError) {
    try recorder.record(.syncDirectory, path) { () throws(FileSystemError) in try base.sync() }
  }
}

extension RecordingDirectory: MisbehavingSync {
  func sync(_ kind: SyncKind, _ behavior: SyncBehavior) throws(FileSystemError) {
    try recorder.record(.syncDirectory, path) { () throws(FileSystemError) in
      try behavior.sync(base, kind, path: path, .syncDirectory) { () throws(FileSystemError) in
        try base.sync()
      }
    }
  }
}
