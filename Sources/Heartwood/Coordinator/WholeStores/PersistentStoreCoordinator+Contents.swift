/// Copies of custom stores that the coordinator goes on with.
extension PersistentStoreCoordinator {
  /// Copies an open store whose fetches the library executes (`IncrementalStore.executesFetches` is false) to a place where no store is. Unlike
  /// `migratePersistentStore(_:to:options:type:progress:)` the store stays in the coordinator. Objects keep their numbers, and the copy has the
  /// store's identifier.
  ///
  /// - Parameters:
  ///   - store: The open store.
  ///   - copy: The place and the kind of the copy, which comes with this library.
  ///   - progress: Is notified after every thousand objects.
  /// - Throws: `.persistentStoreOperation` if a store is at the place; `.persistentStoreTimeout` if it is being made there elsewhere.
  package func copyContents(
    of store: PersistentStore, to copy: PersistentStoreDescription,
    progress: (@Sendable (MigrationProgress) -> Void)? = nil
  ) throws -> StoreTransferReport {
    try requireOpen(store)
    let log = MigrationLog(copy.migrationLog, progress: progress ?? copy.migrationProgress).about(store.place)
    guard let transfer = try store.transfer(managedObjectModel, log) else {
      throw HeartwoodError(
        .persistentStoreUnsupportedRequestType,
        "the store at \(store.place) of type \(store.kind.rawValue) is not copied so: use migratePersistentStore(_:to:options:type:)"
      )
    }
    return try ObjectCopying(source: store, model: managedObjectModel, log: log).run(transfer, to: copy)
  }
}
