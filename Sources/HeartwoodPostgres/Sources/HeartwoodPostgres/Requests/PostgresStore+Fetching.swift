import Foundation
import Heartwood

/// Reading.
extension PostgresStore {
  func builder() -> SQLBuilder { SQLBuilder(schema) { [unowned self] in number($0) } }

  func fetch(_ request: FetchRequest<ManagedObject>, for context: ManagedObjectContext?) throws -> Any {
    guard let entity = request.entity else { return [Any]() }
    let table = schema.table(entity)
    let (sql, parameters) = try statement(request)
    let rows = try query(
      sql, parameters, for: context, isCancelled: { IncrementalStore.isFetchCancelled })
    switch request.resultType {
    case .countResultType: return [Int(rows.integer(0, 0))]
    case .managedObjectIDResultType: return identifiers(rows, table)
    default: return nodes(rows, table)
    }
  }

  /// The SELECT of a request, with its parameters.
  func statement(_ request: FetchRequest<ManagedObject>) throws -> (String, [PostgresParameter]) {
    guard let entity = request.entity else { return ("SELECT 1 WHERE FALSE", []) }
    let table = schema.table(entity)
    var builder = builder()
    var conditions: [String] = []
    if let own = ownEntity(entity, request.includesSubentities, table) { conditions.append(own) }
    if let condition = try condition(of: request) { conditions.append(try builder.condition(condition)) }
    let isCount = request.resultType == .countResultType
    let order = isCount ? "" : " ORDER BY \(try builder.order(try self.order(of: request)))"
    let filter = conditions.isEmpty ? "" : " WHERE \(conditions.map { "(\($0))" }.joined(separator: " AND "))"
    let source = " FROM \(table.sqlName) t0\(builder.joins(of: 0))\(filter)\(order)"
    // The window of a count is the context's.
    if isCount { return ("SELECT count(*)\(source)", builder.parameters) }
    var window = ""
    if request.fetchLimit > 0 { window += " LIMIT \(builder.parameter(.integer(Int64(request.fetchLimit))))" }
    if request.fetchOffset > 0 {
      window += " OFFSET \(builder.parameter(.integer(Int64(request.fetchOffset))))"
    }
    let columns =
      request.resultType == .managedObjectIDResultType
      ? "t0._id\(table.isFamily ? ", t0._entity" : "")" : selection(table, "t0")
    return ("SELECT \(columns)\(source)\(window)", builder.parameters)
  }

  /// A condition on the entity of the rows; nil if all of the table are of it.
  func ownEntity(
    _ entity: EntityDescription, _ includesSubentities: Bool, _ table: PostgresTable
  ) -> String? {
    guard table.isFamily else { return nil }
    guard includesSubentities else { return "t0._entity = \((entity.name ?? "").literal)" }
    return entity === table.root ? nil : PostgresSchema.isOf(entity, "t0._entity")
  }

  /// Executes a statement that only reads: in the transaction of the current call, on a replica if the context wants that, or by a connection of
  /// the pool.
  ///
  /// - Parameters:
  ///   - context: The context that reads; nil if there is none.
  ///   - isCancelled: Asked while the server executes the statement: true cancels it, unless it is part of a transaction.
  func query(
    _ sql: String, _ parameters: [PostgresParameter], for context: ManagedObjectContext? = nil,
    isCancelled: (() -> Bool)? = nil
  ) throws -> PostgresRows {
    if pool.isInTransaction {
      return try pool.withConnection(retries: false) { try $0.query(sql, parameters) }
    }
    let lock = PostgresSchemaLock(schema, address)
    var attempt = 1
    while true {
      do {
        // The versions that a save compares must be as new as they can be.
        if let replicas, let context, context.readsReplicas, !context.hasChanges,
          let (rows, digest) = try replicas.query(
            sql, parameters, digest: lock.digestStatement, isCancelled: isCancelled)
        {
          try checkModel(digest.count == 0 ? nil : digest.text(0, 0), pool.expectedModel)
          return rows
        }
        return try pool.withConnection(retries: true) { connection in
          try connection.cancelling(when: isCancelled) {
            guard lock.isOfTransactions else { return try connection.query(sql, parameters) }
            // The model is read after the rows: the tables had it then.
            let all = try connection.queryAll([(sql, parameters), (lock.digestStatement, [])])
            try checkModel(all[1].count == 0 ? nil : all[1].text(0, 0), pool.expectedModel)
            return all[0]
          }
        }
      } catch let failure as PostgresFailure
        where failure.isSerializationFailure && attempt < address.limits.attempts
      {
        PostgresBackoff.pause(after: attempt)
        attempt += 1
      } catch let failure as PostgresFailure where lock.isOfTransactions && failure.isAboutTables {
        try pool.withConnection(retries: true) { try checkModel(try modelDigest($0), pool.expectedModel) }
        throw failure
      }
    }
  }

  // MARK: Nodes

  func selection(_ table: PostgresTable, _ alias: String) -> String {
    var columns = ["\(alias)._id", "\(alias)._version"]
    if table.isFamily { columns.append("\(alias)._entity") }
    columns += table.columns.map { $0.selected(alias) }
    return columns.joined(separator: ", ")
  }

  /// How the values of an entity's properties are read from a row: without the names of columns, which would be counted for each value.
  private struct Reader {
    let kind: PostgresColumn.Kind
    let place: Int
  }

  private struct EntityReader {
    let entity: EntityDescription
    let columns: [Reader]
    /// Of to-one relationships, by the places of their columns.
    let destinations: [Int: EntityDescription]

    init(_ entity: EntityDescription, _ table: PostgresTable, from first: Int) {
      self.entity = entity
      var (columns, destinations) = ([Reader](), [Int: EntityDescription]())
      let indexes = table.columnsOfEntity[ObjectIdentifier(entity)] ?? []
      for (index, property) in zip(indexes, entity.storedProperties) {
        columns.append(Reader(kind: table.columns[index].kind, place: first + index))
        destinations[first + index] = (property as? RelationshipDescription)?.destinationEntity
      }
      (self.columns, self.destinations) = (columns, destinations)
    }
  }

  func nodes(_ rows: PostgresRows, _ table: PostgresTable) -> [IncrementalStoreNode] {
    let first = table.isFamily ? 3 : 2
    let readers = Dictionary(
      table.entities.map { ($0.name ?? "", EntityReader($0, table, from: first)) },
      uniquingKeysWith: { first, _ in first })
    let root = EntityReader(table.root, table, from: first)
    var nodes: [IncrementalStoreNode] = []
    nodes.reserveCapacity(rows.count)
    for row in 0..<rows.count {
      let reader = table.isFamily ? readers[rows.text(row, 2)] ?? root : root
      let values = reader.columns.map { column in
        guard column.kind == .reference else { return column.kind.value(rows, row, column.place) }
        if rows.isNull(row, column.place) { return StoredValue.null }
        let destination = reader.destinations[column.place] ?? reader.entity
        return .object(object(destination, rows.integer(row, column.place)))
      }
      nodes.append(
        IncrementalStoreNode(
          objectID: object(reader.entity, rows.integer(row, 0)), storedValues: values,
          version: UInt64(clamping: rows.integer(row, 1))))
    }
    return nodes
  }

  func nodes(of objectIDs: [ManagedObjectID], for context: ManagedObjectContext? = nil) throws
    -> [IncrementalStoreNode]
  {
    guard let first = objectIDs.first else { return [] }
    let table = schema.table(first.entity)
    return try translating(.persistentStoreOperation, "objects were not read from \(address.text)") {
      nodes(
        try query(
          "SELECT \(selection(table, "t0")) FROM \(table.sqlName) t0 WHERE t0._id = ANY($1::int8[])",
          [.integers(objectIDs.map(number))], for: context), table)
    }
  }

  // MARK: Relationships

  func destinations(
    _ relationship: RelationshipDescription, of objectIDs: [ManagedObjectID],
    for context: ManagedObjectContext? = nil
  ) throws -> [ManagedObjectID: Any] {
    let sql: String
    let destination: PostgresTable
    if let side = schema.side(relationship) {
      destination = side.destination
      let order = side.position.map { "x.\($0), " } ?? ""
      sql =
        "SELECT x.\(side.own), t._id\(destination.isFamily ? ", t._entity" : "") FROM \(side.join.sqlName) x "
        + "JOIN \(destination.sqlName) t ON t._id = x.\(side.other) WHERE x.\(side.own) = ANY($1::int8[]) "
        + "ORDER BY x.\(side.own), \(order)t._id"
    } else if let (table, column) = schema.inverse(relationship) {
      destination = table
      let order = relationship.isOrdered ? "t.\(PostgresTable.positionColumn(column).quoted), " : ""
      let own = "t.\(column.name.quoted)"
      sql =
        "SELECT \(own), t._id\(table.isFamily ? ", t._entity" : "") FROM \(table.sqlName) t WHERE \(own) = ANY($1::int8[]) "
        + "ORDER BY \(own), \(order)t._id"
    } else {
      return try toOne(relationship, objectIDs, context)
    }
    return try translating(.persistentStoreOperation, "a relationship was not read from \(address.text)") {
      let rows = try query(sql, [.integers(objectIDs.map(number))], for: context)
      var lists: [Int64: [ManagedObjectID]] = [:]
      for row in 0..<rows.count {
        let entity = destination.isFamily ? destination.entity(named: rows.text(row, 2)) : destination.root
        lists[rows.integer(row, 0), default: []].append(
          object(entity, rows.integer(row, 1)))
      }
      return Dictionary(
        objectIDs.map { ($0, (lists[number($0)] ?? []) as Any) }, uniquingKeysWith: { first, _ in first })
    }
  }

  private func toOne(
    _ relationship: RelationshipDescription, _ objectIDs: [ManagedObjectID],
    _ context: ManagedObjectContext?
  ) throws -> [ManagedObjectID: Any] {
    var values: [ManagedObjectID: Any] = [:]
    for node in try nodes(of: objectIDs, for: context) {
      values[node.objectID] = node.value(for: relationship) ?? NSNull()
    }
    return values
  }
}
