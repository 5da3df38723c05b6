import HeartwoodFiles

/// A directory of a simulated disk.
final class SimulatedDirectory: Directory {
  let path: String
  private let folder: FolderIdentifier
  private let disk: SimulatedDisk
  private let process: ProcessIdentifier

  init(path: String, folder: FolderIdentifier, disk: SimulatedDisk, process: ProcessIdentifier) {
    self.path = path
    self.folder = folder
    self.disk = disk
    self.process = process
  }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    let filePath = FileName.joined(path, name)
    let (file, handle) = try disk.perform(as: process, .open, filePath) { (state) throws(FileSystemError) in
      let file = try state.open(name, in: folder, mode, path: filePath)
      let handle = Handle(number: state.takeNumber())
      state.handles.add(handle, file, of: process)
      return (file, handle)
    }
    return SimulatedFile(
      name: name, path: filePath, mode: mode, file: file, handle: handle, disk: disk, process: process)
  }

  func entries() throws(FileSystemError) -> [String] {
    try disk.perform(as: process, .entries, path) { (state) throws(FileSystemError) in
      state.cached.entries(of: folder).keys.sorted()
    }
  }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    let filePath = FileName.joined(path, name)
    FileName.check(newName)
    try disk.perform(as: process, .rename, filePath) { (state) throws(FileSystemError) in
      try state.rename(name, to: newName, in: folder, path: filePath)
    }
  }

  func unlink(_ name: String) throws(FileSystemError) {
    let filePath = FileName.joined(path, name)
    try disk.perform(as: process, .unlink, filePath) { (state) throws(FileSystemError) in
      try state.unlink(name, in: folder, path: filePath)
    }
  }

  func isInPlace() throws(FileSystemError) -> Bool {
    let components = FileName.components(of: path)
    return disk.with { state in (try? state.locate(components, .openDirectory, path)) == folder }
  }

  func status(of name: String) throws(FileSystemError) -> FileStatus? {
    let found = disk.with { state in
      state.cached.entries(of: folder)[name]?.file.map { state.status(of: $0) }
    }
    guard let found else { throw FileSystemError(.notFound, .size, path: FileName.joined(path, name)) }
    return found
  }

  /// Changes nothing, so it is not a call that needs a live process.
  func availableBytes() throws(FileSystemError) -> Int64? { disk.with { $0.freeBytes } }

  func sync() throws(FileSystemError) { try sync(.full, nil) }

  private func sync(_ kind: SyncKind, _ behavior: SyncBehavior?) throws(FileSystemError) {
    try disk.perform(as: process, .syncDirectory, path) { (state) throws(FileSystemError) in
      switch behavior ?? state.syncBehavior {
      case .honest: state.sync(folder)
      case .lies: return
      case .failsKeepingData, .failsRevertingData:
        throw FileSystemError(.inputOutput, .syncDirectory, path: path, isInjected: true)
      }
    }
  }
}

extension SimulatedDirectory: MisbehavingSync {
  func sync(_ kind: SyncKind, _ behavior: SyncBehavior) throws(FileSystemError) {
    try sync(kind, Optional(behavior))
  }
}
