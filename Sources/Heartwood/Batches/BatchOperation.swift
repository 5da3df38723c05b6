/// The outcome of a batch in a transaction.
struct BatchOutcome {
  let count: Int
  /// The identifiers for the result. Called once, in the transaction.
  let identifiers: () throws -> [ManagedObjectID]
}

/// Batches, row by row, in a transaction of any kind of store.
struct BatchOperation {
  private let transaction: any StoreTransaction
  private let writer: BatchWriter
  /// The indexes that cover every row of an entity; of stores without indexes those of constraints.
  private let indexes: @Sendable (EntityDescription) -> [StoreIndex]

  init(
    _ transaction: any StoreTransaction, validates: Bool,
    indexes: @escaping @Sendable (EntityDescription) -> [StoreIndex]
  ) {
    (self.transaction, self.indexes) = (transaction, indexes)
    writer = BatchWriter(transaction, validates: validates)
  }

  /// - Throws: `.coreData` for an abstract entity; what does not fit the model or the store, with the number of the row.
  func insert(
    _ request: BatchInsertRequest, _ entity: EntityDescription, _ mergePolicy: MergePolicy
  ) throws -> BatchOutcome {
    guard !entity.isAbstract else {
      throw HeartwoodError(.coreData, "\(entity.displayName) is abstract: insert rows of a subentity")
    }
    let insertion = try BatchInsertion(entity, writer, mergePolicy, indexes(entity))
    try request.withRows(reader(entity)) { try insertion.insert($0) }
    try writer.finish()
    return BatchOutcome(count: insertion.count) {
      let keys = insertion.insertedKeys.flatMap(\.self) + insertion.updatedKeys.sorted()
      return keys.map { writer.identifier(entity, $0) }
    }
  }

  /// - Parameter select: The keys of the rows that a request selects.
  func update(
    _ request: BatchUpdateRequest, _ entity: EntityDescription,
    _ select: (ResolvedRequest) throws -> [UInt64]
  ) throws -> BatchOutcome {
    let change = try BatchChange(request, reader(entity))
    let selection = try ResolvedRequest(
      entity: entity, predicate: request.predicate, sorts: [], limit: nil, offset: 0,
      includesSubentities: request.includesSubentities, includesPendingChanges: false,
      store: transaction.identity)
    let keys = try select(selection).sorted()
    try BatchUpdating(entity: entity, change: change, writer: writer).update(keys)
    try writer.finish()
    return BatchOutcome(count: keys.count) {
      try keys.map { writer.identifier(try writer.entity(entity.rootEntity, $0) ?? entity, $0) }
    }
  }

  /// - Parameter root: The root entity of the rows; nil for no rows.
  func delete(_ keys: [UInt64], of root: EntityDescription?) throws -> BatchOutcome {
    let count = try root.map { try writer.delete(keys, of: $0) } ?? 0
    try writer.finish()
    return BatchOutcome(count: count) {
      transaction.changes.filter { $0.kind == .delete }.map { writer.identifier($0.entity, $0.key) }
    }
  }

  private func reader(_ entity: EntityDescription) -> BatchRowReader {
    BatchRowReader(entity: entity, store: transaction.identity, indexes: indexes)
  }
}
