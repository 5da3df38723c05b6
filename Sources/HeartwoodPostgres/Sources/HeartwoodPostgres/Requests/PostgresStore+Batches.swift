import Foundation
import Heartwood

/// Batch inserts, updates and deletes, each one transaction in the database.
extension PostgresStore {
  func execute(_ request: BatchInsertRequest, in context: ManagedObjectContext?) throws -> BatchResult {
    let request = request.repeatable(keeping: address.keptRows)
    if let context, needsRows(request, context) {
      return try rowByRow(
        request, request.resultType, in: context, repeats: request.canBeRepeated, "the batch insert"
      ) { writing, connection in
        if context.mergePolicy.uniqueType != .error,
          let entity = managedObjectModel.entitiesByName[request.entityName]
        {
          // Others could insert the same unique values meanwhile.
          try lockWriters(of: entity, connection)
        }
        return try execute(request, in: context, writing: writing)
      }
    }
    return try inTransaction("the batch insert", repeats: request.canBeRepeated, in: context) { connection in
      var (inserted, waiting) = ([ManagedObjectID](), [[StoredValue]]())
      var count = 0
      let derivation = derivation(of: request, context, connection)
      func insertWaiting() throws {
        guard !waiting.isEmpty, let entity = managedObjectModel.entitiesByName[request.entityName] else {
          return
        }
        let table = schema.table(entity)
        let numbers = try reserve(waiting.count, in: table)
        try insert(numbers, waiting, entity, table, connection)
        count += numbers.count
        let made = numbers.map { object(entity, $0) }
        try derivation?.noteInsertion(made)
        if request.resultType == .objectIDs { inserted += made }
        waiting.removeAll(keepingCapacity: true)
      }
      try enumerateRows(of: request) { row in
        waiting.append(row)
        if waiting.count == Self.mostRows { try insertWaiting() }
      }
      try insertWaiting()
      var changes = ObjectIDChanges()
      changes.insertedObjectIDs = Set(inserted)
      try derive(derivation, connection, &changes)
      return BatchResult(
        resultType: request.resultType, count: count, objectIDs: inserted, changes: changes)
    }
  }

  /// Whether rows may update stored objects, have to-many relationships or unique keys of destinations, or are validated.
  private func needsRows(_ request: BatchInsertRequest, _ context: ManagedObjectContext) -> Bool {
    guard let entity = managedObjectModel.entitiesByName[request.entityName] else { return false }
    return request.validates || context.mergePolicy.uniqueType != .error
      || !entity.relationshipsByName.isEmpty
  }

  /// Executes a batch as Heartwood's other stores do, row by row, in one transaction.
  private func rowByRow(
    _ request: PersistentStoreRequest, _ type: BatchRequestResultType, in context: ManagedObjectContext?,
    repeats: @autoclosure () -> Bool, _ what: String,
    _ body: (StoreBatchWriting, PostgresConnection) throws -> StoreBatchOutcome
  ) throws -> BatchResult {
    try inTransaction(what, repeats: repeats(), in: context) { connection in
      let derivation = derivation(of: request, context, connection)
      let outcome = try body(writing(derivation, connection), connection)
      var changes = outcome.changes
      try derive(derivation, connection, &changes)
      return BatchResult(
        resultType: type, count: outcome.count, objectIDs: outcome.objectIDs, changes: changes)
    }
  }

  func execute(_ request: BatchUpdateRequest, in context: ManagedObjectContext?) throws -> BatchResult {
    if request.validates {
      return try rowByRow(
        request, request.resultType, in: context, repeats: true, "the batch update"
      ) { writing, connection in
        if let entity = managedObjectModel.entitiesByName[request.entityName] {
          try lockWriters(of: entity, connection)
        }
        return try execute(request, in: context, writing: writing)
      }
    }
    let update = try resolve(request)
    let table = schema.table(update.entity)
    var builder = builder()
    var assignments = ["_version = t0._version + 1"]
    for change in update.changes {
      let column = table.column(change.property, of: update.entity)
      let value = try builder.value(change.value)
      assignments.append("\(column.name.quoted) = \(column.assigned(value))")
    }
    guard builder.joins(of: 0).isEmpty else {
      throw HeartwoodError(
        .persistentStoreUnsupportedRequestType,
        "the batch update cannot be translated to SQL, because a new value is computed from other objects")
    }
    var conditions: [String] = []
    if let own = ownEntity(update.entity, update.includesSubentities, table) { conditions.append(own) }
    if let condition = update.condition { conditions.append(try builder.condition(condition)) }
    let filter = conditions.isEmpty ? "TRUE" : conditions.map { "(\($0))" }.joined(separator: " AND ")
    let selected = "SELECT t0._id FROM \(table.sqlName) t0\(builder.joins(of: 0)) WHERE \(filter)"
    let found = "t0._id\(table.isFamily ? ", t0._entity" : "")"
    let sql =
      "UPDATE \(table.sqlName) t0 SET \(assignments.joined(separator: ", ")) WHERE t0._id IN (\(selected)) RETURNING \(found)"
    let parameters = builder.parameters
    let properties = update.changes.map(\.property)
    return try inTransaction("the batch update", repeats: true, in: context) { connection in
      var changes = ObjectIDChanges()
      let derivation = derivation(of: request, context, connection)
      if let derivation, properties.contains(where: { $0 is RelationshipDescription }) {
        // The objects to which they refer so far.
        let before =
          "SELECT \(found) FROM \(table.sqlName) t0 WHERE t0._id IN (\(selected)) ORDER BY t0._id FOR UPDATE"
        try derivation.noteBefore(
          identifiers(try connection.query(before, parameters), table), changing: properties)
      }
      let rows = try connection.query(sql, parameters)
      let updated = identifiers(rows, table)
      changes.updatedObjectIDs = Set(updated)
      HistoryRecording.current?.noteUpdate(updated, properties)
      try derivation?.noteAfter(updated, changing: properties)
      try derive(derivation, connection, &changes)
      return BatchResult(
        resultType: request.resultType, count: rows.count, objectIDs: updated, changes: changes)
    }
  }

  func execute(_ request: BatchDeleteRequest, in context: ManagedObjectContext) throws -> BatchResult {
    if request.validates {
      return try rowByRow(
        request, request.resultType, in: context, repeats: true, "the batch delete"
      ) { writing, _ in try execute(request, in: context, writing: writing) }
    }
    let selection = try selection(of: request, in: context)
    guard let entity = selection.entity else { return BatchResult(resultType: request.resultType, count: 0) }
    return try inTransaction("the batch delete", repeats: true, in: context) { connection in
      let (sql, parameters) = try statement(selection)
      let found = identifiers(try connection.query(sql, parameters), schema.table(entity))
      let derivation = derivation(of: request, context, connection)
      var deletion = PostgresDeletion(self, connection, derivation)
      try deletion.delete(found)
      var changes = deletion.changes
      try derive(derivation, connection, &changes)
      return BatchResult(
        resultType: request.resultType, count: deletion.count, objectIDs: deletion.deleted, changes: changes)
    }
  }

  /// Computes and writes the derived values that a batch has changed.
  private func derive(
    _ derivation: StoreDerivation?, _ connection: PostgresConnection, _ changes: inout ObjectIDChanges
  ) throws {
    var derived: Set<ManagedObjectID> = []
    try derivation?.forEachPart { part in
      try writeDerived(part, connection)
      derived.formUnion(part.map(\.objectID))
    }
    changes.updatedObjectIDs.formUnion(
      derived.subtracting(changes.insertedObjectIDs).subtracting(changes.deletedObjectIDs))
  }

  /// - Parameter repeats: Whether the body may be called again.
  private func inTransaction<Result>(
    _ what: String, repeats: @autoclosure () -> Bool, in context: ManagedObjectContext?,
    _ body: (PostgresConnection) throws -> Result
  ) throws -> Result {
    guard !isReadOnly else {
      throw HeartwoodError(.persistentStoreSave, "the store at \(address.text) is open read-only")
    }
    let what = "\(what) was not executed by \(address.text)"
    do {
      return try transaction(repeats: repeats()) { connection in
        try recording(connection, for: context, isOwn: false) { try body(connection) }
      }
    } catch let failure as PostgresFailure
      where failure.isUniquenessViolation || failure.isReferenceViolation
    {
      let code: HeartwoodError.Code =
        failure.isUniquenessViolation ? .managedObjectConstraintMerge : .managedObjectReferentialIntegrity
      throw HeartwoodError(code, "\(what): \(failure)", underlying: failure)
    } catch {
      throw transactionError(error, what)
    }
  }

  /// The objects of rows with a number and, in a family, an entity.
  func identifiers(_ rows: PostgresRows, _ table: PostgresTable) -> [ManagedObjectID] {
    (0..<rows.count).map { row in
      object(table.isFamily ? table.entity(named: rows.text(row, 1)) : table.root, rows.integer(row, 0))
    }
  }
}

/// Deleting rows by their delete rules.
private struct PostgresDeletion {
  private let store: PostgresStore
  private let connection: PostgresConnection
  /// The objects that are deleted, in the order in which they were found.
  private(set) var deleted: [ManagedObjectID] = []
  private(set) var count = 0
  private var known: Set<ManagedObjectID> = []
  private var updated: Set<ManagedObjectID> = []
  private let derivation: StoreDerivation?

  init(_ store: PostgresStore, _ connection: PostgresConnection, _ derivation: StoreDerivation?) {
    (self.store, self.connection, self.derivation) = (store, connection, derivation)
  }

  var changes: ObjectIDChanges {
    var changes = ObjectIDChanges()
    changes.deletedObjectIDs = known
    changes.updatedObjectIDs = updated.subtracting(known)
    return changes
  }

  mutating func delete(_ found: [ManagedObjectID]) throws {
    add(found)
    var next = 0
    while next < deleted.count {
      let part = deleted[next...]
      next = deleted.count
      for (relationship, objects) in relationships(of: part) where relationship.deleteRule == .cascade {
        add(try destinations(relationship, objects).map(\.1))
      }
    }
    try derivation?.noteDeletion(deleted)
    try store.noteDeletion(deleted, connection)
    for (relationship, objects) in relationships(of: deleted[...]) {
      switch relationship.deleteRule {
      case .deny:
        guard
          let (source, _) = try destinations(relationship, objects).first(where: { !known.contains($0.1) })
        else { continue }
        throw HeartwoodError(
          .validationRelationshipDeniedDelete,
          "\(relationship.name) of \(source) still has destinations, and its delete rule is deny: delete or remove them first",
          objectIDs: [source], property: relationship.name)
      case .nullify: try leave(relationship, objects)
      default: continue
      }
    }
    for (table, objects) in Dictionary(
      grouping: deleted, by: { ObjectIdentifier(store.schema.table($0.entity)) }
    ).values
      .map({ (store.schema.table($0[0].entity), $0) })
    {
      let numbers = PostgresParameter.integers(objects.map(store.number))
      for join in store.schema.joins {
        for column in join.columnsOfDeleted(table) {
          _ = try connection.query("DELETE FROM \(join.sqlName) WHERE \(column) = ANY($1::int8[])", [numbers])
        }
      }
      count += try connection.query("DELETE FROM \(table.sqlName) WHERE _id = ANY($1::int8[])", [numbers])
        .changed
    }
  }

  private mutating func add(_ objects: [ManagedObjectID]) {
    for object in objects where known.insert(object).inserted { deleted.append(object) }
  }

  private func relationships(
    of objects: ArraySlice<ManagedObjectID>
  ) -> [(RelationshipDescription, [ManagedObjectID])] {
    Dictionary(grouping: objects, by: { $0.entity.name ?? "" }).sorted { $0.key < $1.key }.flatMap {
      _, members in
      members[0].entity.relationshipsByName.values.sorted { $0.name < $1.name }.map { ($0, members) }
    }
  }

  /// The destinations of objects, with their sources.
  private func destinations(
    _ relationship: RelationshipDescription, _ objects: [ManagedObjectID]
  ) throws -> [(ManagedObjectID, ManagedObjectID)] {
    let table = store.schema.table(relationship.destinationEntity)
    let sql: String
    if let side = store.schema.side(relationship) {
      sql =
        "SELECT t._id\(table.isFamily ? ", t._entity" : ", ''"), x.\(side.own) FROM \(side.join.sqlName) x JOIN \(table.sqlName) t ON t._id = x.\(side.other) "
        + "WHERE x.\(side.own) = ANY($1::int8[]) ORDER BY 1"
    } else if relationship.isToMany, let (_, column) = store.schema.inverse(relationship) {
      let own = "t.\(column.name.quoted)"
      sql =
        "SELECT t._id\(table.isFamily ? ", t._entity" : ", ''"), \(own) FROM \(table.sqlName) t WHERE \(own) = ANY($1::int8[]) ORDER BY 1"
    } else {
      let source = store.schema.table(objects[0].entity)
      let column = source.column(relationship, of: objects[0].entity).name.quoted
      sql =
        "SELECT t._id\(table.isFamily ? ", t._entity" : ", ''"), s._id FROM \(source.sqlName) s JOIN \(table.sqlName) t ON t._id = s.\(column) "
        + "WHERE s._id = ANY($1::int8[]) ORDER BY 1"
    }
    let rows = try connection.query(sql, [.integers(objects.map(store.number))])
    let entity = objects[0].entity
    return zip(store.identifiers(rows, table), 0..<rows.count).map {
      (store.object(entity, rows.integer($1, 2)), $0)
    }
  }

  /// Removes references of objects that stay.
  private mutating func leave(_ relationship: RelationshipDescription, _ objects: [ManagedObjectID]) throws {
    guard let (table, column) = store.schema.inverse(relationship) else { return }
    let name = column.name.quoted
    let rows = try connection.query(
      "UPDATE \(table.sqlName) t SET \(name) = NULL, _version = t._version + 1 WHERE t.\(name) = ANY($1::int8[]) "
        + "RETURNING t._id\(table.isFamily ? ", t._entity" : "")", [.integers(objects.map(store.number))])
    let left = store.identifiers(rows, table)
    updated.formUnion(left)
    if let inverse = relationship.inverseRelationship {
      HistoryRecording.current?.noteUpdate(left, [inverse])
    }
    if let inverse = relationship.inverseRelationship { try derivation?.noteAfter(left, changing: [inverse]) }
  }
}
