import HeartwoodFiles

/// Replaces the store in a folder by a copy of another one.
struct StoreReplacement {
  /// The folder to replace.
  let path: String
  /// A folder beside it, which no other program uses.
  let temporary: String
  /// Seconds to wait for others that have the store in the folder open.
  let busyTimeout: Double
  let fileSystem: any FileSystem

  /// - Parameter backup: Copies the other store to a folder.
  func run(_ backup: (String) throws(EngineError) -> BackupReport) throws(EngineError) -> BackupReport {
    // 1. Keep others from opening the former store, or from making one, until it is replaced.
    let target = try StoreFolder.openTarget(path, fileSystem: fileSystem, busyTimeout: busyTimeout)
    defer { target.close() }
    let hasStore = try target.entries().contains(StoreFolder.anchorName)
    // 2. Make a whole, durable copy in the temporary folder.
    let report = try copy(backup)
    // 3. Exchange the folders: from here on the copy is the store.
    do throws(EngineError) { try Self.exchange(path, temporary, fileSystem) } catch {
      removeCopy()
      guard !hasStore, (error.underlying as? FileSystemError)?.code == .unsupported else { throw error }
      target.close()
      return try backup(path)
    }
    // 4. Remove the former store, which is in the temporary folder now. The next call removes what cannot be removed here.
    try? target.removeStore()
    return report
  }

  /// Replaces the store only if `check` does not throw, which sees the store that is replaced.
  ///
  /// - Parameters:
  ///   - check: Called once no other process or engine can write the store any more; not called if there is none.
  ///   - backup: Copies the other store to a folder.
  func run(
    after check: (HeldStore) throws -> Void, _ backup: (String) throws(EngineError) -> BackupReport
  ) throws -> BackupReport {
    guard try StoreFolder.containsStore(at: path, fileSystem) else { return try run(backup) }
    let held = try HeldStore(
      at: path, options: EngineOptions(busyTimeout: busyTimeout), fileSystem: fileSystem)
    defer { held.release() }
    try check(held)
    let report = try copy(backup)
    do throws(EngineError) { try held.exchange(with: temporary) } catch {
      removeCopy()
      throw error
    }
    return report
  }

  private func copy(
    _ backup: (String) throws(EngineError) -> BackupReport
  ) throws(EngineError) -> BackupReport {
    try StoreFolder.removeStore(at: temporary, busyTimeout: busyTimeout, isPrivate: true, fileSystem)
    do throws(EngineError) { return try backup(temporary) } catch {
      removeCopy()
      throw error
    }
  }

  /// Exchanges the folder of a store with that of its replacement.
  static func exchange(
    _ path: String, _ other: String, _ fileSystem: any FileSystem
  ) throws(EngineError) {
    do {
      try fileSystem.exchangeDirectories(path, other)
    } catch {
      throw EngineError.files(error, "the store could not be exchanged for its replacement")
    }
  }

  private func removeCopy() {
    try? StoreFolder.removeStore(at: temporary, busyTimeout: 0, isPrivate: true, fileSystem)
  }
}
