import Foundation
import Heartwood

/// Saving: one transaction, and one statement for all objects of an entity with the same changed properties.
extension PostgresStore {
  /// The most rows of a statement.
  static let mostRows = 5000

  func save(_ request: SaveChangesRequest, with context: ManagedObjectContext?) throws {
    do {
      try transaction(repeats: true) { connection in
        try recording(connection, for: context, isOwn: context != nil) {
          try write(request, connection, context)
        }
      }
    } catch let failure as PostgresFailure where failure.isUniquenessViolation {
      throw IncrementalStoreConflicts(isUniquenessViolated: true)
    } catch let failure as PostgresFailure where failure.isReferenceViolation {
      var conflicts = IncrementalStoreConflicts()
      conflicts.isReferenceViolated = true
      throw conflicts
    } catch {
      throw transactionError(error, "the save was not written to \(address.text)")
    }
  }

  private func write(
    _ request: SaveChangesRequest, _ connection: PostgresConnection, _ context: ManagedObjectContext?
  ) throws {
    let derivation = derivation(of: request, context, connection)
    try checkLocked(request, connection)
    try derivation?.noteBeforeSave()
    // Deletes first: new objects may have their unique values.
    try delete(request, connection)
    try update(request, connection)
    try insert(request, connection)
    try writeRelationships(request, connection)
    try derivation?.noteAfterSave()
    try derivation?.forEachPart { try writeDerived($0, connection) }
    try write(request.consumerChanges, connection)
  }

  // MARK: Objects

  private func byTable(_ objects: some Sequence<ManagedObject>) -> [(PostgresTable, [ManagedObject])] {
    byTable(objects, \.objectID)
  }

  func byTable<Object>(
    _ objects: some Sequence<Object>, _ identifier: (Object) -> ManagedObjectID
  ) -> [(PostgresTable, [Object])] {
    Dictionary(grouping: objects) { ObjectIdentifier(schema.table(identifier($0).entity)) }.values
      .map { members in
        (
          schema.table(identifier(members[0]).entity),
          members.sorted { number(identifier($0)) < number(identifier($1)) }
        )
      }
      .sorted { $0.0.name < $1.0.name }
  }

  func parts<Object>(_ objects: [Object]) -> [ArraySlice<Object>] {
    stride(from: 0, to: objects.count, by: Self.mostRows).map {
      objects[$0..<min($0 + Self.mostRows, objects.count)]
    }
  }

  private func identity(_ objects: ArraySlice<ManagedObject>, _ request: SaveChangesRequest)
    -> [PostgresParameter]
  {
    [
      .integers(objects.map { number($0.objectID) }),
      .integers(objects.map { Int64(request.version(of: $0)) }),
    ]
  }

  /// Throws the conflicts of objects that a statement has not found in their versions.
  private func require(
    _ objects: ArraySlice<ManagedObject>, _ rows: PostgresRows,
    except isAllowed: (Set<Int64>) throws -> Set<Int64> = { _ in [] }
  ) throws {
    guard rows.count < objects.count else { return }
    let found = Set((0..<rows.count).map { rows.integer($0, 0) })
    let missing = Set(objects.map { number($0.objectID) }).subtracting(found)
    let conflicting = missing.subtracting(try isAllowed(missing))
    guard !conflicting.isEmpty else { return }
    throw IncrementalStoreConflicts(
      changedObjects: objects.map(\.objectID).filter { conflicting.contains(number($0)) })
  }

  private func checkLocked(_ request: SaveChangesRequest, _ connection: PostgresConnection) throws {
    for (table, objects) in byTable(request.lockedObjects ?? []) {
      for part in parts(objects) {
        let rows = try connection.query(
          "SELECT t._id FROM \(table.sqlName) t JOIN unnest($1::int8[], $2::int8[]) v(id, version) "
            + "ON t._id = v.id AND t._version = v.version ORDER BY t._id FOR SHARE OF t",
          identity(part, request))
        try require(part, rows)
      }
    }
  }

  private func delete(_ request: SaveChangesRequest, _ connection: PostgresConnection) throws {
    for (table, objects) in byTable(request.deletedObjects ?? []) {
      for part in parts(objects) {
        try noteDeletion(part.map(\.objectID), connection)
        let rows = try connection.query(
          "DELETE FROM \(table.sqlName) t USING unnest($1::int8[], $2::int8[]) v(id, version) "
            + "WHERE t._id = v.id AND t._version = v.version RETURNING t._id", identity(part, request))
        try require(part, rows) { missing in
          // One that is gone already is no conflict.
          let rest = try connection.query(
            "SELECT _id FROM \(table.sqlName) WHERE _id = ANY($1::int8[])", [.integers(missing)])
          let gone = missing.subtracting((0..<rest.count).map { rest.integer($0, 0) })
          HistoryRecording.current?.forgetDeletion(part.map(\.objectID).filter { gone.contains(number($0)) })
          return gone
        }
        for join in schema.joins {
          for column in join.columnsOfDeleted(table) {
            _ = try connection.query(
              "DELETE FROM \(join.sqlName) WHERE \(column) = ANY($1::int8[])",
              [.integers(part.map { number($0.objectID) })])
          }
        }
      }
    }
  }

  private func insert(_ request: SaveChangesRequest, _ connection: PostgresConnection) throws {
    for (table, objects) in byTable(request.insertedInOrder) {
      for (entity, members) in byEntity(objects) {
        for part in parts(members) {
          try insert(
            part.map { number($0.objectID) }, part.map { request.storedValues(of: $0) }, entity, table,
            connection)
        }
      }
    }
  }

  /// Inserts objects of one entity with these numbers and values.
  func insert(
    _ numbers: [Int64], _ rows: [[StoredValue]], _ entity: EntityDescription, _ table: PostgresTable,
    _ connection: PostgresConnection
  ) throws {
    let insert = PostgresInsert(entity.storedProperties.map { table.column($0, of: entity) }, entity, table)
    _ = try connection.query(insert.sql, insert.parameters(numbers, rows) { number($0) })
    HistoryRecording.current?.noteInsertion(numbers.map { object(entity, $0) })
  }

  private func update(_ request: SaveChangesRequest, _ connection: PostgresConnection) throws {
    if let recording = HistoryRecording.current {
      for object in request.updatedObjects ?? [] {
        let properties = request.changedProperties(of: object) + request.changedToMany(of: object)
        recording.noteUpdate(object.objectID, Set(properties.map(\.name)))
      }
    }
    for (table, objects) in byTable(request.updatedObjects ?? []) {
      let groups = Dictionary(grouping: objects) { object in
        [object.entity.name ?? ""] + request.changedProperties(of: object).map(\.name)
      }
      for (_, members) in groups.sorted(by: { $0.key.joined(separator: ",") < $1.key.joined(separator: ",") })
      {
        let entity = members[0].entity
        let properties = request.changedProperties(of: members[0]).filter { property in
          entity.storedProperties.contains { $0 === property }
        }
        guard !request.changedProperties(of: members[0]).isEmpty else { continue }
        let columns = properties.map { table.column($0, of: entity) }
        let changes =
          ["_version = t._version + 1"]
          + columns.enumerated().map {
            "\($0.element.name.quoted) = \($0.element.assigned("v.c\($0.offset)"))"
          }
        let lists = columns.enumerated().map { "$\($0.offset + 3)::\($0.element.parameterType.array.name)" }
        let fields = ["id", "version"] + columns.indices.map { "c\($0)" }
        let sql =
          "UPDATE \(table.sqlName) t SET \(changes.joined(separator: ", ")) FROM unnest(\((["$1::int8[]", "$2::int8[]"] + lists).joined(separator: ", "))) "
          + "v(\(fields.joined(separator: ", "))) WHERE t._id = v.id AND t._version = v.version RETURNING t._id"
        for part in parts(members) {
          var parameters = identity(part, request)
          for (column, property) in zip(columns, properties) {
            parameters.append(
              try list(column, part.lazy.map { request.storedValue(property, of: $0) }, part.count))
          }
          try require(part, try connection.query(sql, parameters))
        }
      }
    }
  }

  private func byEntity(_ objects: [ManagedObject]) -> [(EntityDescription, [ManagedObject])] {
    guard schema.table(objects[0].entity).isFamily else { return [(objects[0].entity, objects)] }
    return Dictionary(grouping: objects) { $0.entity.name ?? "" }.sorted { $0.key < $1.key }
      .map { ($0.value[0].entity, $0.value) }
  }

  func list(
    _ column: PostgresColumn, _ values: some Sequence<StoredValue>, _ count: Int
  ) throws -> PostgresParameter {
    try column.list(values, count) { number($0) }
  }
}
