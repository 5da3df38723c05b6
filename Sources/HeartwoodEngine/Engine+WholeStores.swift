import HeartwoodFiles

/// Removal and replacement of whole stores.
extension Engine {
  /// Removes the store in a folder, in whatever state it is. The folder stays. Does nothing if there is no folder, or an empty
  /// one.
  ///
  /// After a crash the store is as before, or the folder contains no store; calling this again removes the rest.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - busyTimeout: Seconds to wait for others that have the store open.
  ///   - isPrivate: Whether only the caller's program makes stores there, so that segments without an anchor are what is left of one
  ///     whose making was interrupted, and not of a damaged store.
  ///   - fileSystem: The file system of the folder.
  /// - Throws: `.locked` if another process or engine has the store open for writing for all of `busyTimeout`; `.notAStore` if
  ///   the folder contains something else. Nothing is changed then.
  package static func destroy(
    at path: String, busyTimeout: Double = 5, isPrivate: Bool = false,
    fileSystem: any FileSystem = PosixFileSystem()
  ) throws(EngineError) {
    try StoreFolder.removeStore(at: path, busyTimeout: busyTimeout, isPrivate: isPrivate, fileSystem)
  }

  /// Whether a folder contains a store, or the rest of one that was being removed or copied.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - orRest: False to count a store only that can be opened: `backup(to:fileSystem:)` replaces the rest of another.
  ///   - fileSystem: The file system of the folder.
  /// - Throws: `.notAStore` if it contains something else.
  package static func containsStore(
    at path: String, orRest: Bool = true, fileSystem: any FileSystem = PosixFileSystem()
  ) throws(EngineError) -> Bool {
    try StoreFolder.containsStore(at: path, orRest: orRest, fileSystem)
  }

  /// Replaces the store in a folder by a copy of this one's newest generation, as `backup(to:fileSystem:)` makes it.
  ///
  /// After a crash the folder contains its former store or the whole copy. Files of both may be left in the temporary folder,
  /// which is emptied at the next call. A failed call leaves none.
  ///
  /// - Parameters:
  ///   - path: The folder to replace; a missing or empty one is filled.
  ///   - temporary: A folder beside it, which no other program uses. It is left empty, but for the files of coordination.
  ///   - busyTimeout: Seconds to wait for others that have the store in the folder open.
  ///   - fileSystem: The file system of both folders.
  ///   - check: Sees the store in the folder once no other process or engine can write it any more; the store is replaced
  ///     only if it does not throw. Nil to replace a store in whatever state it is. Not called where there is no store.
  /// - Throws: The error of `check`. `.locked` if another process or engine has the store in the folder open for writing; `.notAStore` if
  ///   one of the folders contains something else; `.inputOutput` with a cause `.unsupported` if the file system cannot exchange folders;
  ///   and as `backup(to:fileSystem:)`. The folder is as before then.
  package func replaceStore(
    at path: String, through temporary: String, busyTimeout: Double = 5,
    fileSystem: any FileSystem = PosixFileSystem(), after check: ((HeldStore) throws -> Void)? = nil
  ) throws -> BackupReport {
    let replacement = StoreReplacement(
      path: path, temporary: temporary, busyTimeout: busyTimeout, fileSystem: fileSystem)
    let copy = { (folder: String) throws(EngineError) in try self.backup(to: folder, fileSystem: fileSystem) }
    return try check.map { try replacement.run(after: $0, copy) } ?? replacement.run(copy)
  }
}
