import Foundation
import Heartwood

/// A row of a result, whose values are read when they are asked for. One object is used for row after row.
final class PostgresRow: IncrementalStoreRow {
  /// How the values of an entity's properties are read from a row: without the names of columns, which would be counted for each value.
  fileprivate struct Layout {
    let entity: EntityDescription
    let columns: [(kind: PostgresColumn.Kind, place: Int, destination: EntityDescription?)]

    init(_ entity: EntityDescription, _ table: PostgresTable, from first: Int) {
      self.entity = entity
      let indexes = table.columnsOfEntity[ObjectIdentifier(entity)] ?? []
      columns = zip(indexes, entity.storedProperties).map { index, property in
        (table.columns[index].kind, first + index, (property as? RelationshipDescription)?.destinationEntity)
      }
    }
  }

  private let store: PostgresStore
  private let isFamily: Bool
  private let layouts: [String: Layout]
  private var layout: Layout
  private var rows: PostgresRows
  private var row = 0
  /// The object, unless its number is one of this library.
  private(set) var objectID: ManagedObjectID?
  private(set) var number: UInt64 = 0

  init(_ rows: PostgresRows, _ table: PostgresTable, _ store: PostgresStore) {
    (self.rows, self.store, isFamily) = (rows, store, table.isFamily)
    let first = table.isFamily ? 3 : 2
    layout = Layout(table.root, table, from: first)
    layouts =
      table.isFamily
      ? Dictionary(
        table.entities.map { ($0.name ?? "", Layout($0, table, from: first)) },
        uniquingKeysWith: { first, _ in first }) : [:]
  }

  /// Calls `body` with each row until it returns false.
  ///
  /// - Returns: Whether it wants more.
  func forEach(_ rows: PostgresRows, _ body: (any IncrementalStoreRow) throws -> Bool) throws -> Bool {
    self.rows = rows
    for row in 0..<rows.count {
      self.row = row
      if isFamily {
        let name = rows.text(row, 2)
        if name != layout.entity.name, let known = layouts[name] { layout = known }
      }
      let found = rows.integer(row, 0)
      let isPlain = found > 0 && found < 1 << 52
      number = isPlain ? UInt64(found) : 0
      if !isPlain { objectID = store.object(layout.entity, found) } else if objectID != nil { objectID = nil }
      if try !body(self) { return false }
    }
    return true
  }

  var entity: EntityDescription { layout.entity }
  var version: UInt64 { UInt64(clamping: rows.integer(row, 1)) }

  func value(at place: Int) -> StoredValue {
    let column = layout.columns[place]
    guard column.kind == .reference else { return column.kind.value(rows, row, column.place) }
    if rows.isNull(row, column.place) { return .null }
    return .object(store.object(column.destination ?? layout.entity, rows.integer(row, column.place)))
  }
}

/// Delivering rows, all at once or in parts.
extension PostgresStore {
  /// How many rows a part has at most that a cursor reads.
  private static let rowsOfPart = 500

  func deliver(
    _ request: FetchRequest<ManagedObject>, for context: ManagedObjectContext?,
    _ body: (any IncrementalStoreRow) throws -> Bool
  ) throws {
    guard let entity = request.entity else { return }
    let table = schema.table(entity)
    func rows(_ request: FetchRequest<ManagedObject>) throws -> PostgresRows {
      let (sql, parameters) = try statement(request)
      return try query(sql, parameters, for: context, isCancelled: { IncrementalStore.isFetchCancelled })
    }
    let isSmall = request.fetchLimit > 0 && request.fetchLimit <= Self.rowsOfPart
    guard request.fetchBatchSize > 0, !isSmall, address.dialect != .cockroach else {
      let all = try rows(request)
      _ = try PostgresRow(all, table, self).forEach(all, body)
      return
    }
    // Most results are small, and need no transaction: one row more than a part says that this one is not.
    let beginning = request.copy()
    beginning.resultType = .managedObjectResultType
    beginning.fetchLimit = Self.rowsOfPart + 1
    let first = try rows(beginning)
    let row = PostgresRow(first, table, self)
    guard first.count > Self.rowsOfPart else {
      _ = try row.forEach(first, body)
      return
    }
    let (sql, parameters) = try statement(request)
    try readParts(sql, parameters) { try row.forEach($0, body) }
  }

  /// Calls `body` with the rows of a statement, part by part, until it returns false. All are of one moment. What `body` reads of the store on
  /// this thread is of that moment, too; what it saves is another transaction.
  func readParts(
    _ sql: String, _ parameters: [PostgresParameter], _ body: (PostgresRows) throws -> Bool
  ) throws {
    let isAlone = !pool.isInTransaction
    try pool.withConnection(retries: false) { connection in
      try reading(connection) {
        try connection.withCursor(sql, parameters) { cursor in
          while true {
            let rows = try connection.cancelling(
              when: isAlone ? { IncrementalStore.isFetchCancelled } : nil
            ) { try cursor.next(Self.rowsOfPart) }
            let wantsMore =
              isAlone ? try pool.using(connection, isReading: true) { try body(rows) } : try body(rows)
            guard wantsMore, rows.count == Self.rowsOfPart else { return }
          }
        }
      }
    }
  }

  // MARK: Whole tables

  func readNodes(
    of root: EntityDescription, from first: UInt64?, reversed: Bool,
    _ body: (IncrementalStoreNode) throws -> Bool
  ) throws {
    let table = schema.table(root)
    let bound = first.map { " WHERE t0._id \(reversed ? "<=" : ">=") \(Int64(clamping: $0))" } ?? ""
    let sql =
      "SELECT \(selection(table, "t0")) FROM \(table.sqlName) t0\(bound) ORDER BY t0._id\(reversed ? " DESC" : "")"
    try translating(.persistentStoreOperation, "objects were not read from \(address.text)") {
      try readParts(sql, []) { rows in
        for node in nodes(rows, table) where try !body(node) { return false }
        return true
      }
    }
  }

  func readObjectIDs(of root: EntityDescription, _ body: (ManagedObjectID) throws -> Bool) throws {
    let table = schema.table(root)
    let sql = "SELECT t0._id\(table.isFamily ? ", t0._entity" : "") FROM \(table.sqlName) t0 ORDER BY t0._id"
    try translating(.persistentStoreOperation, "objects were not read from \(address.text)") {
      try readParts(sql, []) { rows in
        for id in identifiers(rows, table) where try !body(id) { return false }
        return true
      }
    }
  }

  func count(of root: EntityDescription) throws -> Int {
    let table = schema.table(root)
    return try translating(.persistentStoreOperation, "objects were not counted in \(address.text)") {
      Int(try query("SELECT count(*) FROM \(table.sqlName)", []).integer(0, 0))
    }
  }

  /// The greatest number that an object may have had: that of the last block that was reserved.
  func lastNumber(of root: EntityDescription) throws -> UInt64 {
    let table = schema.table(root)
    return try translating(.persistentStoreOperation, "objects were not read from \(address.text)") {
      let rows = try query(
        "SELECT GREATEST((SELECT CASE WHEN is_called THEN last_value + \(Self.block - 1) ELSE 0 END FROM \(schema.name.quoted).\(table.sequence.quoted)), "
          + "(SELECT COALESCE(max(_id), 0) FROM \(table.sqlName)))", [])
      return UInt64(clamping: rows.integer(0, 0))
    }
  }
}
