import HeartwoodFiles

/// One process of a simulated machine: a file system with its own open files and locks.
///
/// What one process writes all others read at once, durable or not.
public final class SimulatedProcess: FileSystem {
  /// The name it was given, for messages only.
  public let name: String
  private let disk: SimulatedDisk
  private let identifier: ProcessIdentifier

  init(name: String, disk: SimulatedDisk) {
    self.name = name
    self.disk = disk
    identifier = ProcessIdentifier(number: disk.with { $0.takeNumber() })
  }

  /// Opens a directory that exists.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try FileName.checkPath(path, .openDirectory)
    let folder = try disk.perform(as: identifier, .openDirectory, path) { (state) throws(FileSystemError) in
      try state.locate(FileName.components(of: path), .openDirectory, path)
    }
    return SimulatedDirectory(path: path, folder: folder, disk: disk, process: identifier)
  }

  /// Makes one directory, durable at once together with all other names in its parent.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try FileName.checkPath(path, .createDirectory)
    try disk.perform(as: identifier, .createDirectory, path) { (state) throws(FileSystemError) in
      try state.makeFolder(path)
    }
  }

  /// Ends the process as a kernel does: its locks are released, its files are closed, and every later
  /// call on anything it had open throws an error with the code `processKilled`. What it has written
  /// stays written, durable or not.
  public func kill() { disk.with { $0.handles.kill(identifier) } }

  /// False after `kill()`.
  public var isAlive: Bool { disk.with { $0.handles.isAlive(identifier) } }
}
