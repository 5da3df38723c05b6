/// Batches that are executed here, row by row, as for other kinds of stores: with relationships in both directions, unique keys of
/// destinations, merge policies, validation and delete rules.
extension IncrementalStore {
  /// Executes a batch insert.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: The context that executes it: by its merge policy, rows take the place of stored objects with the same unique values.
  ///   - writing: Writes the changes, in one transaction. Other transactions must not make objects with the same unique values meanwhile.
  /// - Throws: What does not fit the model or the store, as for other kinds of stores, with the number of the row; the errors of `writing`.
  public final func execute(
    _ request: BatchInsertRequest, in context: ManagedObjectContext, writing: StoreBatchWriting
  ) throws -> StoreBatchOutcome {
    let names = managedObjectModel.entitiesByName
    guard let entity = names[request.entityName] else {
      throw HeartwoodError.unknownEntity(request.entityName, names.keys.sorted())
    }
    guard !entity.isAbstract else {
      throw HeartwoodError(.coreData, "\(entity.displayName) is abstract: insert rows of a subentity")
    }
    let indexes = UniqueIndexes(managedObjectModel)
    let transaction = IncrementalTransaction(self, context, writing)
    let reader = BatchRowReader(
      entity: entity, store: transaction.identity, indexes: { indexes.of($0) })
    let writer = BatchWriter(transaction, validates: request.validates)
    let insertion = try BatchInsertion(entity, writer, context.mergePolicy, indexes.of(entity))
    try request.withRows(reader) { try insertion.insert($0) }
    try writer.finish()
    try transaction.writeEntries()
    let keys = insertion.insertedKeys.flatMap(\.self) + insertion.updatedKeys.sorted()
    return StoreBatchOutcome(
      count: insertion.count, objectIDs: keys.map { writer.identifier(entity, $0) },
      changes: transaction.netChanges)
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
    guard let entity = managedObjectModel.entitiesByName[request.entityName] else {
      throw HeartwoodError.unknownEntity(
        request.entityName, managedObjectModel.entities.map(\.displayName).sorted())
    }
    let indexes = UniqueIndexes(managedObjectModel)
    let transaction = IncrementalTransaction(self, context, writing)
    let change = try BatchChange(
      request,
      BatchRowReader(entity: entity, store: transaction.identity, indexes: { indexes.of($0) }))
    let selection = try ResolvedRequest(
      entity: entity, predicate: request.predicate, sorts: [], limit: nil, offset: 0,
      includesSubentities: request.includesSubentities, includesPendingChanges: false,
      store: transaction.identity)
    let keys = try transaction.keys(of: selection).sorted()
    let writer = BatchWriter(transaction, validates: request.validates)
    try BatchUpdating(entity: entity, change: change, writer: writer).update(keys)
    try writer.finish()
    let found = try keys.map { writer.identifier(try writer.entity(entity.rootEntity, $0) ?? entity, $0) }
    try transaction.writeEntries()
    return StoreBatchOutcome(count: keys.count, objectIDs: found, changes: transaction.netChanges)
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
    let transaction = IncrementalTransaction(self, context, writing)
    let found = try execute(selection, with: context) as? [ManagedObjectID] ?? []
    let keys = found.map(\.key)
    let writer = BatchWriter(transaction, validates: request.validates)
    let count = try writer.delete(keys, of: entity.rootEntity)
    try writer.finish()
    try transaction.writeEntries()
    let deleted = transaction.changes.filter { $0.kind == .delete }
    return StoreBatchOutcome(
      count: count, objectIDs: deleted.map { writer.identifier($0.entity, $0.key) },
      changes: transaction.netChanges)
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
