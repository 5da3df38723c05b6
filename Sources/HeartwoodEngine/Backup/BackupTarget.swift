import HeartwoodFiles

/// The folder that a backup is written to, locked exclusively.
final class BackupTarget {
  let folder: StoreFolder
  private(set) var copiedBytes: Int64 = 0

  init(_ path: String, _ fileSystem: any FileSystem) throws(EngineError) {
    folder = try StoreFolder.openTarget(path, fileSystem: fileSystem)
  }

  func close() { folder.close() }

  /// The backup in the folder; nil if there is none.
  ///
  /// - Throws: `.exists` if the folder contains another store, or a backup that was modified.
  func earlier(of identifier: StoreIdentifier) throws(EngineError) -> EarlierBackup? {
    guard try folder.entries().contains(StoreFolder.anchorName) else { return nil }
    let (anchor, found) = try AnchorFile.open(folder, access: .readOnly, syncs: false)
    anchor.close()
    guard found.slot.identifier == identifier else {
      throw EngineError(.exists, "the folder holds another store; name another folder", file: folder.path)
    }
    guard found.isUntouched else { throw EarlierBackup.wentItsOwnWay(folder) }
    return try EarlierBackup.read(folder, found)
  }

  /// Creates the mark of an unfinished backup, before any other file is written.
  func mark() throws(EngineError) {
    try doing { () throws(FileSystemError) in
      try folder.directory.open(StoreFolder.newAnchorName, .createNew).close()
      try folder.directory.sync()
    }
  }

  /// Opens a file, lets `body` write to it, and makes it durable.
  func write(
    _ name: String, _ mode: OpenMode, _ body: (BackupFile) throws(EngineError) -> Void
  ) throws(EngineError) {
    let file = BackupFile(
      file: try doing { () throws(FileSystemError) in try folder.directory.open(name, mode) })
    do throws(EngineError) {
      try body(file)
      try file.sync()
    } catch {
      try? file.file.close()
      throw error
    }
    try doing { () throws(FileSystemError) in try file.file.close() }
  }

  /// Counts bytes that were written.
  func noteCopied(_ count: Int) { copiedBytes += Int64(count) }

  /// Makes the names of all files durable.
  func syncDirectory() throws(EngineError) {
    try doing { () throws(FileSystemError) in try folder.directory.sync() }
  }

  /// Writes the anchor to the marked file and renames it over the earlier anchor. From then on the folder is
  /// the new backup.
  func replaceAnchor(_ slot: AnchorSlot) throws(EngineError) {
    let isMarked = try folder.entries().contains(StoreFolder.newAnchorName)
    try AnchorFile.create(slot, in: folder, syncs: true, mode: isMarked ? .readWrite : .createNew).close()
  }

  /// Access to the page segments in the folder.
  func pageFiles(of identifier: StoreIdentifier) -> PageSegmentFiles {
    PageSegmentFiles(
      folder: folder, identifier: identifier,
      options: EngineOptions(access: .readOnly, createsStore: false, reading: .buffered))
  }

  private func doing<Result>(_ body: () throws(FileSystemError) -> Result) throws(EngineError) -> Result {
    try BackupFile.doing(body)
  }
}

/// A file of a backup that is being written.
struct BackupFile {
  let file: any File

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(EngineError) {
    try Self.doing { () throws(FileSystemError) in try file.writeFully(bytes, at: Int64(offset)) }
  }

  func sync() throws(EngineError) { try Self.doing { () throws(FileSystemError) in try file.sync(.full) } }

  static func doing<Result>(_ body: () throws(FileSystemError) -> Result) throws(EngineError) -> Result {
    do throws(FileSystemError) {
      return try body()
    } catch {
      throw EngineError.files(error, "the backup could not be written")
    }
  }
}
