/// Requests that a context executes in its stores.
extension ManagedObjectContext {
  /// Executes a request of a class of the program, which the context's stores of classes that derive from ``IncrementalStore`` know.
  ///
  /// - Parameter request: A request that is neither a fetch nor one of a class of this library.
  /// - Returns: The result of each store that has executed it.
  /// - Throws: `.persistentStoreUnsupportedRequestType` if a store does not know it; the error of the store.
  @_disfavoredOverload
  public func execute(_ request: PersistentStoreRequest) throws -> [Any] {
    if let results = try RequestExecution(self).resultsOfStores(request) { return results }
    throw HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "no store of the context executes a \(type(of: request)): only a custom store, a subclass of IncrementalStore, may know one"
    )
  }

  /// Inserts rows in one transaction, all or none.
  ///
  /// The transaction has the context's name and author in the history. Its objects are not registered, and no context posts a
  /// notification of a save; the coordinator notifies of the change as of one by others. Unsaved changes of the context do not matter.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - contexts: Contexts that merge the changes before this call returns, each on its queue.
  /// - Throws: `.managedObjectValidation` for an unknown name or a value that does not fit, `.managedObjectReferentialIntegrity` for a
  ///   destination that does not exist, `.managedObjectConstraintMerge` for values that must be unique, and validation errors: each
  ///   with the number of the row; `.persistentStoreUnsupportedRequestType` for stores of others; errors of the store, as of a save.
  /// - Complexity: Memory is needed for a group of rows, and what the transaction notes of each row.
  @discardableResult
  public func execute(_ request: BatchInsertRequest, mergingInto contexts: [ManagedObjectContext] = []) throws
    -> BatchInsertResult
  {
    try RequestExecution(self).insert(request, mergingInto: contexts)
  }

  /// Changes rows in one transaction, all or none; see `execute(_:mergingInto:)` of a batch insert.
  ///
  /// The context's registered objects keep their values until they are refreshed or the changes are merged, and its query generation
  /// stays. A later save of an object whose row was changed meets a conflict.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - contexts: Contexts that merge the changes before this call returns, each on its queue.
  /// - Throws: `.invalidPredicate` for a predicate or an expression that does not fit; otherwise as for a batch insert.
  /// - Complexity: Memory is needed for the keys of the rows, and what the transaction notes of each row.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest, mergingInto contexts: [ManagedObjectContext] = []) throws
    -> BatchUpdateResult
  {
    try RequestExecution(self).update(request, mergingInto: contexts)
  }

  /// Checks what a batch update would do, in a transaction that is not committed.
  ///
  /// - Returns: How many objects it would change.
  /// - Throws: The error of the update.
  /// - Complexity: As the update.
  package func rehearse(_ request: BatchUpdateRequest) throws -> Int {
    try RequestExecution(self).rehearse(request)
  }

  /// Deletes rows in one transaction, all or none; see `execute(_:mergingInto:)` of a batch insert.
  ///
  /// The context's registered objects keep their values until the changes are merged, and its query generation stays.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - contexts: Contexts that merge the changes before this call returns, each on its queue.
  /// - Throws: `.validationRelationshipDeniedDelete` if a delete rule denies one of the deletes; `.coreData` for identifiers of
  ///   different families, or of another store; otherwise as for a batch update.
  /// - Complexity: Memory is needed for the keys of the rows, and what the transaction notes of each row.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest, mergingInto contexts: [ManagedObjectContext] = []) throws
    -> BatchDeleteResult
  {
    try RequestExecution(self).delete(request, mergingInto: contexts)
  }
}

/// Rows that arrive one after the other.
extension ManagedObjectContext {
  /// Inserts the elements of an asynchronous sequence as rows in one transaction, all or none.
  ///
  /// The rows are kept in memory, as values, until the sequence ends; only then is the transaction begun, so that no other save waits
  /// for the sequence. For rows that need not be inserted together, execute a `BatchInsertRequest` for each part of them.
  ///
  /// - Parameters:
  ///   - rows: The rows, each as in `BatchInsertRequest.init(entityName:rows:)`.
  ///   - entityName: The name of the entity.
  ///   - resultType: The kind of the result.
  ///   - validates: Whether the values are checked by the rules of the model.
  ///   - contexts: Contexts that merge the changes before this call returns, each on its queue.
  /// - Throws: The error of the sequence; otherwise as for a batch insert.
  @discardableResult
  @_disfavoredOverload
  public nonisolated(nonsending) func executeBatchInsert<Rows: AsyncSequence>(
    of rows: Rows, entityName: String, resultType: BatchInsertRequestResultType = .statusOnly,
    validates: Bool = false, mergingInto contexts: [ManagedObjectContext] = []
  ) async throws -> BatchInsertResult where Rows.Element: Encodable {
    let reader = try await perform { try RequestExecution(self).rowReader(entityName) }
    var made: [BatchRow] = []
    for try await row in rows {
      do {
        made.append(try reader.row(RowEncoder.dictionary(of: row)))
      } catch let error as HeartwoodError {
        throw error.inRow(made.count + 1)
      }
    }
    let all = made
    return try await perform {
      let request = BatchInsertRequest(entityName: entityName, made: all)
      request.resultType = resultType
      request.validates = validates
      return try self.execute(request, mergingInto: contexts)
    }
  }
}
