import Heartwood

/// Batches that are executed row by row: those that update stored objects, that set to-many relationships, or that validate.
extension PostgresStore {
  /// - Parameter derivation: Notes what is written.
  func writing(_ derivation: StoreDerivation?, _ connection: PostgresConnection) -> StoreBatchWriting {
    StoreBatchWriting { [unowned self] entity, count in
      try reserve(count, in: schema.table(entity)).sorted().map { object(entity, $0) }
    } write: { [unowned self] changes in
      try derivation?.noteBefore(changes)
      try write(changes, connection)
      try derivation?.noteAfter(changes)
    }
  }

  /// Keeps others from writing objects of an entity until the end of the transaction: what it has read stays as it is.
  func lockWriters(of entity: EntityDescription, _ connection: PostgresConnection) throws {
    // Elsewhere, the second one of two batches with the same unique values is refused.
    guard address.dialect.hasTableLocks else { return }
    try connection.run("LOCK TABLE \(schema.table(entity).sqlName) IN SHARE ROW EXCLUSIVE MODE")
  }

  private func write(_ changes: StoreRowChanges, _ connection: PostgresConnection) throws {
    for (table, objects) in byTable(changes.deletedObjects, \.self) {
      for part in parts(objects) {
        try noteDeletion(Array(part), connection)
        try delete(part.map(number), table, connection)
      }
    }
    for members in groups(changes.updatedRows) { try update(members, connection) }
    for members in groups(changes.insertedRows) {
      let entity = members[0].objectID.entity
      let table = schema.table(entity)
      for part in parts(members) {
        try insert(part.map { number($0.objectID) }, part.map(\.values), entity, table, connection)
      }
    }
    var links: [String: (RelationshipDescription, [(Int64, SaveChangesRequest.RelationshipChanges)])] = [:]
    for change in changes.relationships {
      HistoryRecording.current?.noteUpdate(change.objectID, [change.relationship.name])
      links[change.relationship.fullName, default: (change.relationship, [])].1.append(
        (number(change.objectID), change.changes))
    }
    try writeRelationships(links, connection)
  }

  func delete(_ numbers: [Int64], _ table: PostgresTable, _ connection: PostgresConnection) throws {
    let parameter = PostgresParameter.integers(numbers)
    for join in schema.joins {
      for column in join.columnsOfDeleted(table) {
        _ = try connection.query("DELETE FROM \(join.sqlName) WHERE \(column) = ANY($1::int8[])", [parameter])
      }
    }
    _ = try connection.query("DELETE FROM \(table.sqlName) WHERE _id = ANY($1::int8[])", [parameter])
  }

  /// Rows of one entity with the same properties, in their order.
  private func groups(_ rows: [StoreRowChanges.Row]) -> [[StoreRowChanges.Row]] {
    var (groups, places) = ([[StoreRowChanges.Row]](), [[String]: Int]())
    for row in rows {
      let name = [row.objectID.entity.name ?? ""] + row.properties.map(\.name)
      if let place = places[name] {
        groups[place].append(row)
      } else {
        places[name] = groups.count
        groups.append([row])
      }
    }
    return groups
  }

  private func update(_ rows: [StoreRowChanges.Row], _ connection: PostgresConnection) throws {
    let (entity, properties) = (rows[0].objectID.entity, rows[0].properties)
    let table = schema.table(entity)
    let columns = properties.map { table.column($0, of: entity) }
    for part in parts(rows) {
      let values = part.map { (number($0.objectID), $0.values) }
      try set(columns, values, "_version = t._version + 1", table, connection)
      HistoryRecording.current?.noteUpdate(part.map(\.objectID), properties)
    }
  }

  /// Writes values of columns into rows by their numbers.
  ///
  /// - Parameter change: Another assignment, if any.
  func set(
    _ columns: [PostgresColumn], _ rows: [(number: Int64, values: [StoredValue])], _ change: String? = nil,
    _ table: PostgresTable, _ connection: PostgresConnection
  ) throws {
    let changes =
      [change].compactMap(\.self)
      + columns.enumerated().map {
        "\($0.element.name.quoted) = \($0.element.assigned("v.c\($0.offset)"))"
      }
    let lists = columns.enumerated().map { "$\($0.offset + 2)::\($0.element.parameterType.array.name)" }
    let fields = ["id"] + columns.indices.map { "c\($0)" }
    var parameters = [PostgresParameter.integers(rows.map(\.number))]
    for (place, column) in columns.enumerated() {
      parameters.append(try list(column, rows.lazy.map { $0.values[place] }, rows.count))
    }
    _ = try connection.query(
      "UPDATE \(table.sqlName) t SET \(changes.joined(separator: ", ")) FROM unnest(\((["$1::int8[]"] + lists).joined(separator: ", "))) "
        + "v(\(fields.joined(separator: ", "))) WHERE t._id = v.id", parameters)
  }
}
