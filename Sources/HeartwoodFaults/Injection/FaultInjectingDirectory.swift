import HeartwoodFiles

/// A directory of a file system with injected faults.
final class FaultInjectingDirectory: Directory {
  private let base: any Directory
  private let controller: FaultController

  init(base: any Directory, controller: FaultController) {
    self.base = base
    self.controller = controller
  }

  var path: String { base.path }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    let filePath = FileName.joined(path, name)
    let isMutation = mode == .createNew
    let file = try controller.perform(.open, filePath, isMutation: isMutation) {
      () throws(FileSystemError) in try base.open(name, mode)
    }
    return FaultInjectingFile(base: file, path: filePath, controller: controller)
  }

  func entries() throws(FileSystemError) -> [String] {
    try controller.perform(.entries, path) { () throws(FileSystemError) in try base.entries() }
  }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    let filePath = FileName.joined(path, name)
    try controller.perform(.rename, filePath, isMutation: true) { () throws(FileSystemError) in
      let replaced = name == newName ? 0 : limitedSize(of: newName)
      try base.rename(name, to: newName)
      controller.giveSpaceBack(replaced)
    }
  }

  func unlink(_ name: String) throws(FileSystemError) {
    let filePath = FileName.joined(path, name)
    try controller.perform(.unlink, filePath, isMutation: true) { () throws(FileSystemError) in
      let removed = limitedSize(of: name)
      try base.unlink(name)
      controller.giveSpaceBack(removed)
    }
  }

  /// Changes nothing, so no fault applies to this call.
  func availableBytes() throws(FileSystemError) -> Int64? { try base.availableBytes() }

  func isInPlace() throws(FileSystemError) -> Bool { try base.isInPlace() }

  func status() throws(FileSystemError) -> FileStatus? { try base.status() }

  func status(of name: String) throws(FileSystemError) -> FileStatus? { try base.status(of: name) }

  func watch() throws(FileSystemError) -> (any DirectoryWatch)? {
    try controller.perform(.watch, path) { () throws(FileSystemError) in try base.watch() }
  }

  func sync() throws(FileSystemError) {
    try sync { () throws(FileSystemError) in try base.sync() }
  }

  private func sync(_ call: () throws(FileSystemError) -> Void) throws(FileSystemError) {
    try controller.perform(
      .syncDirectory, path, isMutation: true, half: { () throws(FileSystemError) in },
      instead: { (action) throws(FileSystemError) in
        guard case .sync(let behavior) = action else { return try call() }
        try sync(behavior)
      }, call)
  }

  private func sync(_ behavior: SyncBehavior) throws(FileSystemError) {
    try behavior.sync(base, .full, path: path, .syncDirectory) { () throws(FileSystemError) in
      try base.sync()
    }
  }

  /// The number of bytes that are freed when the name is unlinked. Determined only if space is limited.
  private func limitedSize(of name: String) -> Int64 {
    guard controller.limitsSpace, let file = try? base.open(name, .readOnly) else { return 0 }
    let size = (try? file.size()) ?? 0
    try? file.close()
    return size
  }
}

extension FaultInjectingDirectory: MisbehavingSync {
  func sync(_ kind: SyncKind, _ behavior: SyncBehavior) throws(FileSystemError) {
    try sync { () throws(FileSystemError) in try sync(behavior) }
  }
}
