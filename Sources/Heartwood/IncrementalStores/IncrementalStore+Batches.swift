/// Batches that are executed here, row by row, as for other kinds of stores: with relationships in both directions, unique keys of
/// destinations, merge policies, validation and delete rules.
extension IncrementalStore {
  /// Executes a batch insert.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: The context that executes it: by its merge policy, rows take the place of stored objects with the same unique values.
  ///   - writing: Writes the changes, in one transaction. Other transactions must not make objects with the same unique values meanwhile.
  /// - Throws: An error if something does not fit the model or the store, as for other kinds of stores, with the number of the row; the
  ///   errors of `writing`.
  public final func execute(
    _ request: BatchInsertRequest, in context: ManagedObjectContext, writing: StoreBatchWriting
  ) throws -> StoreBatchOutcome {
    let entity = try batchEntity(request.entityName)
    return try execute(context, writing, request.validates) { operation, _ in
      try operation.insert(request, entity, context.mergePolicy)
    }
  }

  /// Executes a batch update.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: The context that executes it.
  ///   - writing: Writes the changes, in one transaction.
  /// - Throws: As a batch insert.
  public final func execute(
    _ request: BatchUpdateRequest, in context: ManagedObjectContext?, writing: StoreBatchWriting
  ) throws -> StoreBatchOutcome {
    let entity = try batchEntity(request.entityName)
    return try execute(context, writing, request.validates) { operation, transaction in
      try operation.update(request, entity, transaction.keys)
    }
  }

  /// Executes a batch delete.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: The context that executes it.
  ///   - writing: Writes the changes, in one transaction.
  /// - Throws: As a batch insert; `.validationRelationshipDeniedDelete`.
  public final func execute(
    _ request: BatchDeleteRequest, in context: ManagedObjectContext, writing: StoreBatchWriting
  ) throws -> StoreBatchOutcome {
    let selection = try selection(of: request, in: context)
    guard let entity = selection.entity else {
      return StoreBatchOutcome(count: 0, objectIDs: [], changes: ObjectIDChanges())
    }
    let keys = (try execute(selection, with: context) as? [ManagedObjectID] ?? []).map(\.keyInItsStore)
    return try execute(context, writing, request.validates) { operation, _ in
      try operation.delete(keys, of: entity.rootEntity)
    }
  }

  private final func execute(
    _ context: ManagedObjectContext?, _ writing: StoreBatchWriting, _ validates: Bool,
    _ body: (BatchOperation, IncrementalTransaction) throws -> BatchOutcome
  ) throws -> StoreBatchOutcome {
    let indexes = UniqueIndexes(managedObjectModel)
    let transaction = IncrementalTransaction(self, context, writing)
    let outcome = try body(
      BatchOperation(transaction, validates: validates, indexes: { indexes.of($0) }), transaction)
    let identifiers = try outcome.identifiers()
    try transaction.writeEntries()
    return StoreBatchOutcome(
      count: outcome.count, objectIDs: identifiers, changes: transaction.netChanges)
  }

  private final func batchEntity(_ name: String) throws(HeartwoodError) -> EntityDescription {
    let known = managedObjectModel.entitiesByName
    guard let entity = known[name] else { throw .unknownEntity(name, known.keys.sorted()) }
    return entity
  }
}

/// The uniqueness constraints of a model, as indexes.
struct UniqueIndexes: Sendable {
  private let indexes: [StoreIndex]

  init(_ model: ManagedObjectModel) {
    var indexes: [StoreIndex] = []
    for entity in model.entities {
      for names in entity.uniquenessConstraints {
        indexes.append(
          StoreIndex(
            number: UInt16(truncatingIfNeeded: indexes.count), name: names.joined(separator: ","),
            entity: entity, slots: names.compactMap(entity.slot(named:)), kind: .unique))
      }
    }
    self.indexes = indexes
  }

  /// Those of an entity and its superentities.
  func of(_ entity: EntityDescription) -> [StoreIndex] {
    indexes.filter { entity.isKindOf(entity: $0.entity) }
  }
}
