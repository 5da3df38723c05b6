import HeartwoodFiles

/// A directory of a simulated disk.
final class SimulatedDirectory: Directory {
  let path: String
  private let folder: FolderIdentifier
  private let disk: SimulatedDisk

  init(path: String, folder: FolderIdentifier, disk: SimulatedDisk) {
    self.path = path
    self.folder = folder
    self.disk = disk
  }

  func open(_ name: String, _ mode: OpenMode) throws(FileSystemError) -> any File {
    let filePath = FileName.joined(path, name)
    let file = try disk.open(name, in: folder, mode, path: filePath)
    return SimulatedFile(name: name, path: filePath, mode: mode, file: file, disk: disk)
  }

  func entries() throws(FileSystemError) -> [String] { disk.names(in: folder) }

  func rename(_ name: String, to newName: String) throws(FileSystemError) {
    FileName.check(newName)
    try disk.rename(name, to: newName, in: folder, path: FileName.joined(path, name))
  }

  func unlink(_ name: String) throws(FileSystemError) {
    try disk.unlink(name, in: folder, path: FileName.joined(path, name))
  }

  func sync() throws(FileSystemError) { disk.sync(folder) }
}
