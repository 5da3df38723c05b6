import HeartwoodFiles

/// Removal of whole stores.
extension StoreFolder {
  /// Removes the store in a folder, in whatever state it is. The folder stays, with the files that processes coordinate with, so
  /// that those which wait for the store find a folder for a new one. Does nothing if there is no folder, or an empty one.
  ///
  /// - Throws: `.locked` if another process or engine has the store open for writing for all of `busyTimeout`; `.notAStore` if
  ///   the folder contains something else. Nothing is changed then.
  static func removeStore(
    at path: String, busyTimeout: Double, isPrivate: Bool = false, _ fileSystem: any FileSystem
  ) throws(EngineError) {
    guard try exists(path, fileSystem) else { return }
    let folder = try openTarget(
      path, fileSystem: fileSystem, busyTimeout: busyTimeout, isPrivate: isPrivate)
    defer { folder.close() }
    try folder.removeStore()
  }

  /// Whether a folder contains a store, or, if `orRest`, the rest of one that was being removed or copied.
  ///
  /// - Throws: `.notAStore` if it contains something else.
  static func containsStore(
    at path: String, orRest: Bool = true, _ fileSystem: any FileSystem
  ) throws(EngineError) -> Bool {
    guard try exists(path, fileSystem) else { return false }
    let names = try targetEntries(path, fileSystem)
    return orRest ? !names.allSatisfy(ProcessAttachment.isFile) : names.contains(anchorName)
  }

  /// Removes all files of the store. The locks stay.
  ///
  /// - Precondition: No other process is attached.
  func removeStore() throws(EngineError) {
    do {
      let names = try directory.entries()
      // 1. Without its anchor the folder contains no store, only the rest of one, in whose place a new one may be made.
      let anchor = [Self.anchorName, Self.newAnchorName].first(where: names.contains)
      if let anchor {
        try directory.rename(anchor, to: Self.removedAnchorName)
        try directory.sync()
      }
      // 2. Remove the rest, its mark last.
      let rest = names.filter {
        Self.isFile($0) && !ProcessAttachment.isFile($0) && $0 != anchor && $0 != Self.removedAnchorName
      }
      for name in rest { try directory.unlink(name) }
      try directory.sync()
      guard try directory.entries().contains(Self.removedAnchorName) else { return }
      try directory.unlink(Self.removedAnchorName)
      try directory.sync()
    } catch {
      throw EngineError.files(error, "the store could not be removed; try again")
    }
  }
}
