import Foundation

/// Executing batch requests.
extension ManagedObjectContext {
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
    try run(request, request.resultType, contexts) { transaction in
      let entity = try batchEntity(request.entityName)
      guard !entity.isAbstract else { throw HeartwoodError.batchAbstract(entity) }
      let view = try transaction.view()
      let reader = BatchRowReader(
        entity: entity, store: transaction.identity, indexes: { view.indexes(of: $0) })
      let writer = BatchWriter(transaction, validates: request.validates)
      let insertion = BatchInsertion(entity, writer, mergePolicy.mergeType, view.indexes(of: entity))
      try request.withRows(reader) { try insertion.insert($0) }
      try writer.finish()
      return BatchOutcome(count: insertion.count) {
        let keys = insertion.insertedKeys.flatMap(\.self) + insertion.updatedKeys.sorted()
        return keys.map { writer.identifier(entity, $0) }
      }
    }
  }

  /// Changes rows in one transaction, all or none; see `execute(_:mergingInto:)` of a batch insert.
  ///
  /// The context's registered objects keep their values until they are refreshed or the changes are merged, and its query generation
  /// stays. A later save of an object whose row was changed meets a conflict.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - contexts: Contexts that merge the changes before this call returns, each on its queue.
  /// - Throws: `.coreData` for a predicate or an expression that does not fit; otherwise as for a batch insert.
  /// - Complexity: Memory is needed for the keys of the rows, and what the transaction notes of each row.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest, mergingInto contexts: [ManagedObjectContext] = []) throws
    -> BatchUpdateResult
  {
    try run(request, request.resultType, contexts) { transaction in
      let entity = try batchEntity(request.entityName)
      let view = try transaction.view()
      let reader = BatchRowReader(
        entity: entity, store: transaction.identity, indexes: { view.indexes(of: $0) })
      let change = try BatchChange(request, reader)
      let selection = try ResolvedRequest(
        entity: entity, predicate: request.predicate, sorts: [], limit: nil, offset: 0,
        includesSubentities: request.includesSubentities, includesPendingChanges: false,
        store: transaction.identity)
      let writer = BatchWriter(transaction, validates: request.validates)
      let keys = try batchKeys(selection, in: view).sorted()
      try BatchUpdating(entity: entity, change: change, writer: writer).update(keys)
      try writer.finish()
      return BatchOutcome(count: keys.count) {
        try keys.map { writer.identifier(try writer.entity(entity.rootEntity, $0) ?? entity, $0) }
      }
    }
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
    try run(request, request.resultType, contexts) { transaction in
      let (root, keys) = try batchKeys(request.selection, in: transaction)
      let writer = BatchWriter(transaction, validates: request.validates)
      let count = try root.map { try writer.delete(keys, of: $0) } ?? 0
      try writer.finish()
      return BatchOutcome(count: count) {
        transaction.changes.filter { $0.kind == .delete }.map { writer.identifier($0.entity, $0.key) }
      }
    }
  }

  /// The keys of what a batch delete selects, with their root entity; nil for no keys.
  private func batchKeys(
    _ selection: BatchDeleteRequest.Selection, in transaction: any StoreTransaction
  ) throws -> (EntityDescription?, [UInt64]) {
    switch selection {
    case .fetch(let resolve):
      let request = try resolve(self)
      return (request.entity.rootEntity, try batchKeys(request, in: transaction.view()))
    case .identifiers(let identifiers):
      let root = identifiers.first?.entity.rootEntity
      if let wrong = identifiers.first(where: { $0.isTemporaryID || $0.store != transaction.identity }) {
        throw HeartwoodError.batchIdentifier(wrong, "is not an object that is saved in this store")
      }
      if let wrong = identifiers.first(where: { $0.entity.rootEntity !== root }) {
        throw HeartwoodError.batchIdentifier(wrong, "is not of the entities of \(root?.displayName ?? "?")")
      }
      return (root, identifiers.map(\.key))
    }
  }

  private func batchKeys(_ request: ResolvedRequest, in view: any StoreView) throws -> [UInt64] {
    let planner = Planner(request: request, view: view, indexes: view.indexes(of:), changedRoots: [])
    let execution = FetchExecution(
      request: request, plan: try planner.choose(), view: view, source: view, pending: .none,
      changedRoots: [])
    var keys: [UInt64] = []
    if execution.needsNoRows {
      try execution.forEachKey { key in
        keys.append(key)
        return true
      }
    } else {
      try execution.forEach { found in
        keys.append(found.key)
        return true
      }
    }
    return keys
  }

  func batchEntity(_ name: String) throws -> EntityDescription {
    let model = persistentStoreCoordinator?.managedObjectModel
    if let entity = model?.entitiesByName[name] { return entity }
    throw HeartwoodError.unknownEntity(name, model?.entities.map(\.displayName).sorted() ?? [])
  }
}

/// What a batch has done.
private struct BatchOutcome {
  let count: Int
  /// The identifiers for the result.
  let identifiers: () throws -> [ManagedObjectID]
}

extension ManagedObjectContext {
  /// Runs a batch in one transaction of the store, and makes its result.
  private func run(
    _ request: PersistentStoreRequest, _ resultType: BatchRequestResultType,
    _ contexts: [ManagedObjectContext],
    _ body: (any StoreTransaction) throws -> BatchOutcome
  ) throws -> BatchResult {
    beginUse("executing a batch request")
    defer { endUse() }
    let store = try objectStore()
    try request.check(affects: store)
    let info = TransactionInfo(author: transactionAuthor, contextName: name)
    var count = 0
    var identifiers: [ManagedObjectID] = []
    var changes = ObjectIDChanges()
    do {
      let (_, generation) = try store.save(info) { transaction in
        let outcome = try body(transaction)
        count = outcome.count
        if resultType == .objectIDs { identifiers = try outcome.identifiers() }
        if resultType == .objectIDs || !contexts.isEmpty {
          changes = ObjectIDChanges(transaction.changes, transaction.identity)
          changes.keepNetUpdates()
        }
      }
      changes.queryGeneration = QueryGenerationToken(generation: generation, storeID: storeIdentity.text)
    } catch let refused as ConstraintViolations {
      throw HeartwoodError.batchConstraints(refused.violations, storeIdentity).affecting(storeIdentity.text)
    } catch let error as HeartwoodError {
      throw error.affecting(storeIdentity.text)
    }
    view.held = nil
    if !contexts.isEmpty {
      ManagedObjectContext.mergeChanges(fromRemoteContextSave: changes.userInfo, into: contexts)
    }
    return BatchResult(
      resultType: resultType, count: count, objectIDs: identifiers,
      changes: resultType == .objectIDs ? changes : ObjectIDChanges())
  }
}

extension ObjectIDChanges {
  /// Leaves out updates of objects that are new or gone.
  fileprivate mutating func keepNetUpdates() {
    updatedObjectIDs.subtract(insertedObjectIDs)
    updatedObjectIDs.subtract(deletedObjectIDs)
  }
}

extension HeartwoodError {
  fileprivate static func batchAbstract(_ entity: EntityDescription) -> HeartwoodError {
    HeartwoodError(.coreData, "\(entity.displayName) is abstract: insert rows of a subentity")
  }

  fileprivate static func batchIdentifier(_ id: ManagedObjectID, _ what: String) -> HeartwoodError {
    HeartwoodError(
      .coreData, "a batch delete cannot delete \(id): it \(what)", objectIDs: [id])
  }

  fileprivate static func batchConstraints(
    _ violations: [ConstraintViolation], _ store: StoreIdentity
  ) -> HeartwoodError {
    let first = violations[0]
    let values = zip(first.constraint, first.values).map { "\($0) = \($1)" }.joined(separator: ", ")
    let others = violations.count > 1 ? ", and \(violations.count - 1) more" : ""
    return HeartwoodError(
      .managedObjectConstraintMerge,
      "\(first.entity.displayName) must be unique by \(first.constraint.joined(separator: ", ")): two rows have \(values)\(others); "
        + "change the values, or let a batch insert with a merge policy update the stored ones",
      objectIDs: violations.map { ManagedObjectID(entity: $0.entity, key: $0.existingKey, store: store) })
  }
}
