import HeartwoodFiles

/// A disk in memory that knows what a power cut would leave of it.
///
/// Bytes become durable by the sync of their file, names by the sync of their directory, new directories
/// at once; nothing else ever does. `crashImages` tells, at any moment and while the file system goes on
/// being used, what may be found after a crash: any of the changes since the last syncs, in any
/// combination, and parts of the last write.
///
/// It cannot map, so that whoever stands above reads through buffers. It has a root directory and no
/// links; relative paths begin at the root.
public final class SimulatedFileSystem: FileSystem {
  private let disk: SimulatedDisk

  /// An empty disk.
  public init() { disk = SimulatedDisk() }

  /// A disk that holds `state`, all of it durable.
  init(_ state: DiskState) { disk = SimulatedDisk(state) }

  /// Opens a directory that exists.
  public func openDirectory(_ path: String) throws(FileSystemError) -> any Directory {
    try FileName.checkPath(path, .openDirectory)
    let folder = try disk.folder(at: FileName.components(of: path), .openDirectory, path)
    return SimulatedDirectory(path: path, folder: folder, disk: disk)
  }

  /// Makes one directory, durable at once together with all other names in its parent.
  public func createDirectory(_ path: String) throws(FileSystemError) {
    try FileName.checkPath(path, .createDirectory)
    try disk.makeFolder(path)
  }

  /// What a crash at this moment may leave, each image once, made when it is asked for.
  ///
  /// The number of images grows with the number of changes not yet synced; the time for each of them
  /// with the size of the files those changes touch.
  public func crashImages(_ limits: CrashImageLimits = CrashImageLimits()) -> CrashImages {
    let (durable, pending) = disk.moment
    return CrashImages(durable: durable, pending: pending, limits: limits)
  }

  /// How many changes a crash at this moment may take away.
  public var unsyncedChangeCount: Int { disk.moment.pending.count }
}
