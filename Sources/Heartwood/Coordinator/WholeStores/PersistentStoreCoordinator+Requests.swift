import Foundation

/// Requests that are executed with a context.
extension PersistentStoreCoordinator {
  /// Executes a fetch with a context, as `context.fetch(_:)` does.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: A context of this coordinator, which registers the objects; call this on its queue.
  /// - Throws: As `ManagedObjectContext.fetch(_:)`; `.persistentStoreOperation` if the context belongs to another coordinator.
  public func execute<Object: ManagedObject>(
    _ request: FetchRequest<Object>, with context: ManagedObjectContext
  ) throws -> [Object] {
    try requireOwn(context)
    return try context.fetch(request)
  }

  /// Executes a history request with a context, as `context.execute(_:)` does.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: A context of this coordinator; call this on its queue.
  /// - Throws: As `ManagedObjectContext.execute(_:)`; `.persistentStoreOperation` if the context belongs to another coordinator.
  @discardableResult
  public func execute(
    _ request: PersistentHistoryChangeRequest, with context: ManagedObjectContext
  ) throws -> PersistentHistoryResult {
    try requireOwn(context)
    return try context.execute(request)
  }

  /// Executes a batch insert with a context, as `context.execute(_:mergingInto:)` does.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: A context of this coordinator; call this on its queue.
  /// - Throws: As the method of the context; `.persistentStoreOperation` if the context belongs to another coordinator.
  @discardableResult
  public func execute(_ request: BatchInsertRequest, with context: ManagedObjectContext) throws
    -> BatchInsertResult
  {
    try requireOwn(context)
    return try context.execute(request)
  }

  /// Executes a batch update with a context, as `context.execute(_:mergingInto:)` does.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: A context of this coordinator; call this on its queue.
  /// - Throws: As the method of the context; `.persistentStoreOperation` if the context belongs to another coordinator.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest, with context: ManagedObjectContext) throws
    -> BatchUpdateResult
  {
    try requireOwn(context)
    return try context.execute(request)
  }

  /// Executes a batch delete with a context, as `context.execute(_:mergingInto:)` does.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: A context of this coordinator; call this on its queue.
  /// - Throws: As the method of the context; `.persistentStoreOperation` if the context belongs to another coordinator.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest, with context: ManagedObjectContext) throws
    -> BatchDeleteResult
  {
    try requireOwn(context)
    return try context.execute(request)
  }

  private func requireOwn(_ context: ManagedObjectContext) throws(HeartwoodError) {
    guard context.persistentStoreCoordinator !== self else { return }
    throw HeartwoodError(
      .persistentStoreOperation,
      "the context belongs to another coordinator: execute the request with that one, or with a context of this one"
    )
  }
}
