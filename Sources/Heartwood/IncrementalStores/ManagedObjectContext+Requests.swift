/// Requests that an incremental store executes itself.
extension ManagedObjectContext {
  /// Executes a request of a class of the program, which the context's ``IncrementalStore`` knows.
  ///
  /// - Parameter request: A request that is neither a fetch nor one of a class of this library.
  /// - Returns: The result of each store that has executed it.
  /// - Throws: `.persistentStoreUnsupportedRequestType` if the store does not know it; the error of the store.
  @_disfavoredOverload
  public func execute(_ request: PersistentStoreRequest) throws -> [Any] {
    if let result = try executed(request) { return [result] }
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "no store of the context executes a \(type(of: request)): only a custom store, a subclass of IncrementalStore, may know one"
    )
  }

  /// The result of a request that the store executes itself; nil for other stores.
  private func executed(_ request: PersistentStoreRequest) throws -> Any? {
    beginUse("executing a request")
    defer { endUse() }
    _ = try affectedNumbers(request.affectedStores)
    guard let result = try objectStore().execute(request, for: parent == nil ? self : nil) else { return nil }
    view.held = nil
    return result
  }

  /// The result of a batch request that an incremental store has executed; nil for other stores.
  func incrementalResult(
    of request: PersistentStoreRequest, mergingInto contexts: [ManagedObjectContext]
  ) throws -> BatchResult? {
    guard let executed = try executed(request) else { return nil }
    guard let result = executed as? BatchResult else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "execute(_:with:) of the store at \(persistentStoreCoordinator?.persistentStores.first?.place ?? "?") must return a BatchResult "
          + "for a batch request, and returned \(executed)"
      )
    }
    if !contexts.isEmpty {
      ManagedObjectContext.mergeChanges(fromRemoteContextSave: result.changes.userInfo, into: contexts)
    }
    let namesObjects = result.resultType == .objectIDs
    return BatchResult(
      resultType: result.resultType, count: result.count, objectIDs: namesObjects ? result.objectIDs : [],
      changes: namesObjects ? result.changes : ObjectIDChanges())
  }
}
