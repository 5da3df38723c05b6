import HeartwoodFiles

/// One process of a simulated machine: a file system with its own open files and locks.
///
/// All other processes read immediately what one process writes, durable or not.
public final class SimulatedProcess: FileSystem {
  /// The name of the process, for messages only.
  public let name: String
  private let disk: SimulatedDisk
  private let identifier: ProcessIdentifier

  init(name: String, disk: SimulatedDisk) {
    self.name = name
    self.disk = disk
    identifier = ProcessIdentifier(number: disk.with { $0.takeNumber() })
  }

  /// Opens an existing directory.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try FileName.checkPath(path, .openDirectory)
    let folder = try disk.perform(as: identifier, .openDirectory, path) { (state) throws(FileSystemError) in
      try state.locate(FileName.components(of: path), .openDirectory, path)
    }
    return SimulatedDirectory(path: path, folder: folder, disk: disk, process: identifier)
  }

  /// Creates one directory. It is durable immediately, together with all other names in its parent.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try FileName.checkPath(path, .createDirectory)
    try disk.perform(as: identifier, .createDirectory, path) { (state) throws(FileSystemError) in
      try state.makeFolder(path)
    }
  }

  /// Exchanges two directories with one parent. It is durable immediately, together with all other names in the parent.
  public func exchangeDirectories(_ path: String, _ other: String) throws(FileSystemError) {
    try FileName.checkPath(path, .rename)
    try FileName.checkPath(other, .rename)
    try disk.perform(as: identifier, .rename, path) { (state) throws(FileSystemError) in
      try state.exchange(path, other)
    }
  }

  /// Ends the process as a kernel would: releases its locks and closes its files. Every later call on one of
  /// its files or directories throws an error with the code `processKilled`. Its writes remain, durable or
  /// not.
  public func kill() { disk.with { $0.handles.kill(identifier) } }

  /// False after `kill()`.
  public var isAlive: Bool { disk.with { $0.handles.isAlive(identifier) } }
}
