import HeartwoodFiles

/// A store that no other process or engine has open for writing, or can open, until it is released: what it has may be decided
/// upon, and another store put in its place.
package final class HeldStore {
  private let engine: Engine
  private let fileSystem: any FileSystem

  /// Opens a store for the caller alone, and recovers it after an unclean end.
  ///
  /// - Parameters:
  ///   - path: The folder.
  ///   - options: How the store is opened; access, sharing and reclamation are not taken from them.
  ///   - fileSystem: The file system of the folder.
  /// - Throws: As `Engine.init`: `.locked` if another process or engine has the store open for writing for all of
  ///   `EngineOptions.busyTimeout`, `.notFound` and `.notAStore` if there is none.
  package init(
    at path: String, options: EngineOptions = EngineOptions(), fileSystem: any FileSystem = PosixFileSystem()
  ) throws(EngineError) {
    var alone = options
    alone.access = .readWrite
    alone.sharing = .exclusive
    alone.createsStore = false
    alone.acceptsOtherContent = true
    alone.reclamation = .onDemand
    engine = try Engine(at: path, options: alone, fileSystem: fileSystem)
    self.fileSystem = fileSystem
  }

  /// Identifies the store among all others.
  package var storeIdentifier: StoreIdentifier { engine.storeIdentifier }

  /// A snapshot of the store.
  package func snapshot() throws(EngineError) -> Snapshot { try engine.snapshot() }

  /// Lets others open the store.
  package func release() { try? engine.close() }

  /// Puts a closed store in this one's place, which is removed and released.
  ///
  /// After a crash one of the two is at the path, whole, and the other folder may have the other one.
  ///
  /// - Parameters:
  ///   - other: A folder on the same file system, which no other program uses.
  ///   - busyTimeout: Seconds to wait for others that have that store open.
  /// - Throws: `.notAStore` if there is none, `.locked`, `.inputOutput` with a cause `.unsupported` if the file system cannot exchange
  ///   folders, and other errors of the file system. Both stores are as before then.
  package func replace(byStoreAt other: String, busyTimeout: Double) throws(EngineError) {
    let successor = try StoreFolder.openTarget(
      other, fileSystem: fileSystem, busyTimeout: busyTimeout, isPrivate: true)
    defer { successor.close() }
    guard try successor.entries().contains(StoreFolder.anchorName) else {
      throw EngineError(.notAStore, "there is no store in this folder", file: other)
    }
    try successor.syncEverything()
    try exchange(with: other)
  }

  /// Exchanges the folder with another one, and removes the store, which is in that one then.
  func exchange(with other: String) throws(EngineError) {
    try StoreReplacement.exchange(engine.path, other, fileSystem)
    // Removed before others can have the folder, and not written to any more. What cannot be removed is left to the next who uses the
    // other folder.
    let store = engine.handle.store
    store.status.stop(StoreFolder.replaced(engine.path))
    try? store.folder.removeStore()
    release()
  }
}
