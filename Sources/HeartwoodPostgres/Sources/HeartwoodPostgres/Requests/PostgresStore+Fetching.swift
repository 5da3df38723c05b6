import Foundation
import Heartwood

/// Reading.
extension PostgresStore {
  func builder() -> SQLBuilder { SQLBuilder(schema) { [unowned self] in number($0) } }

  func fetch(_ request: FetchRequest<ManagedObject>) throws -> Any {
    guard let entity = request.entity else { return [Any]() }
    let table = schema.table(entity)
    let (sql, parameters) = try statement(request)
    let rows = try query(sql, parameters)
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

  func query(_ sql: String, _ parameters: [PostgresParameter]) throws -> PostgresRows {
    try pool.withConnection(retries: true) { try $0.query(sql, parameters) }
  }

  // MARK: Nodes

  private func selection(_ table: PostgresTable, _ alias: String) -> String {
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

  private func nodes(_ rows: PostgresRows, _ table: PostgresTable) -> [IncrementalStoreNode] {
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

  func nodes(of objectIDs: [ManagedObjectID]) throws -> [IncrementalStoreNode] {
    guard let first = objectIDs.first else { return [] }
    let table = schema.table(first.entity)
    return try translating(.persistentStoreOperation, "objects were not read from \(address.text)") {
      nodes(
        try query(
          "SELECT \(selection(table, "t0")) FROM \(table.sqlName) t0 WHERE t0._id = ANY($1::int8[])",
          [.integers(objectIDs.map(number))]), table)
    }
  }

  // MARK: Relationships

  func destinations(
    _ relationship: RelationshipDescription, of objectIDs: [ManagedObjectID]
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
      return try toOne(relationship, objectIDs)
    }
    return try translating(.persistentStoreOperation, "a relationship was not read from \(address.text)") {
      let rows = try query(sql, [.integers(objectIDs.map(number))])
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
    _ relationship: RelationshipDescription, _ objectIDs: [ManagedObjectID]
  ) throws -> [ManagedObjectID: Any] {
    var values: [ManagedObjectID: Any] = [:]
    for node in try nodes(of: objectIDs) {
      values[node.objectID] = node.value(for: relationship) ?? NSNull()
    }
    return values
  }
}
