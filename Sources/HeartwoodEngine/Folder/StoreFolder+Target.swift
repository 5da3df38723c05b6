import HeartwoodFiles

/// Folders that a store is copied to, or removed from.
extension StoreFolder {
  /// Opens or creates a folder for a copy of a store, and locks it exclusively. The folder must be empty, or
  /// contain a store or an unfinished copy.
  ///
  /// - Throws: `.notAStore` or `.locked`.
  static func openTarget(
    _ path: String, fileSystem: any FileSystem, busyTimeout: Double = 5, isPrivate: Bool = false
  ) throws(EngineError) -> StoreFolder {
    var backoff = Backoff(seconds: busyTimeout)
    while true {
      do throws(EngineError) {
        return try lockTarget(path, fileSystem, busyTimeout, isPrivate: isPrivate)
      } catch {
        // Another process has put another folder in this one's place.
        guard error.code == .replaced, backoff.wait() else { throw error }
      }
    }
  }

  private static func lockTarget(
    _ path: String, _ fileSystem: any FileSystem, _ busyTimeout: Double, isPrivate: Bool
  ) throws(EngineError) -> StoreFolder {
    let directory = try openDirectory(path, creating: true, fileSystem)
    try checkIsTarget(try entries(of: directory), path, isPrivate: isPrivate)
    var options = EngineOptions(busyTimeout: busyTimeout)
    options.sharing = .exclusive
    guard case .exclusive(let attachment) = try ProcessAttachment.attach(directory, options) else {
      throw ProcessAttachment.busy(path, "the folder is in use")
    }
    let folder = StoreFolder(directory, path, attachment: attachment)
    do throws(EngineError) {
      // Checked again now that no other process is attached.
      try folder.checkIsInPlace()
      let names = try entries(of: directory)
      try checkIsTarget(names, path, isPrivate: isPrivate)
      if !isPrivate, isUnmarkedCreation(names) { try folder.clearUnfinishedCreation() }
      return folder
    } catch {
      folder.close()
      throw error
    }
  }

  /// The entries of a folder that is empty, or contains a store or an unfinished copy.
  ///
  /// - Throws: `.notAStore`.
  static func targetEntries(_ path: String, _ fileSystem: any FileSystem) throws(EngineError) -> [String] {
    let names = try entries(of: try openDirectory(path, creating: false, fileSystem))
    try checkIsTarget(names, path)
    return names
  }

  private static func checkIsTarget(
    _ names: [String], _ path: String, isPrivate: Bool = false
  ) throws(EngineError) {
    if names.contains(anchorName) { return }
    // Segments without an anchor may be the remainder of a store, unless an unfinished copy or removal is marked, or a store is being made.
    let isMarked = isPrivate || names.contains(newAnchorName) || names.contains(removedAnchorName)
    guard names.allSatisfy(isMarked ? isFile : ProcessAttachment.isFile) || isUnmarkedCreation(names) else {
      throw EngineError(
        .notAStore, "this folder holds other things and no backup; name another folder", file: path)
    }
  }

  /// Whether a folder has a log and nothing else of a store: what is there before the first anchor is made, or when it was lost.
  private static func isUnmarkedCreation(_ names: [String]) -> Bool {
    names.contains(SegmentName.log(1))
      && names.allSatisfy { ProcessAttachment.isFile($0) || $0 == SegmentName.log(1) }
  }
}
