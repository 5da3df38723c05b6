/// The tables and indexes of a database, from the table `sqlite_schema` whose root is page 1.
struct Schema: Sendable {
  var tables: [SQLiteTable] = []
  var indexes: [SQLiteIndex] = []
  /// By the table's name in small letters.
  var layouts: [String: RowLayout] = [:]
  /// By the page of the table's root.
  var layoutsByRoot: [UInt32: RowLayout] = [:]

  /// The table of the schema itself.
  static let schemaTable = SQLiteTable(
    name: "sqlite_master",
    columns: ["type", "name", "tbl_name", "rootpage", "sql"].map {
      SQLiteColumn(
        name: $0, declaredType: $0 == "rootpage" ? "INT" : "TEXT",
        affinity: $0 == "rootpage" ? .integer : .text,
        defaultValue: .null, isNotNull: false, collation: "BINARY")
    },
    computedColumns: [], rowidAlias: nil, primaryKey: [], isWithoutRowid: false, rootPage: 1,
    sql: "CREATE TABLE sqlite_master(type TEXT, name TEXT, tbl_name TEXT, rootpage INT, sql TEXT)")

  /// Reads all statements.
  init(_ source: PageSource) throws(SQLiteError) {
    let layout = RowLayout(Self.schemaTable, source.header.encoding)
    layouts[Self.schemaTable.name] = layout
    layoutsByRoot[1] = layout
    var statements: [String: TableStatement] = [:]
    var indexRows: [(name: String, table: String, root: UInt32, sql: String?, cell: (UInt32, Int))] = []
    let cursor = try SQLiteCursor(source, Self.schemaTable, layout)
    while let row = try cursor.next() {
      let place = cursor.place
      guard case .text(let type) = row[0], case .text(let name) = row[1], case .text(let table) = row[2]
      else {
        continue
      }
      let sql: String? = if case .text(let text) = row[4] { text } else { nil }
      guard type == "table" || type == "index", case .integer(let page) = row[3], page != 0 else { continue }
      guard let root = UInt32(exactly: page), root <= source.pageCount else {
        throw SQLiteError.damaged(
          "The root of \(type) \(name) is page \(page), and the database has \(source.pageCount) pages.",
          page: place.page, offset: place.offset)
      }
      if type == "index" {
        indexRows.append((name, table, root, sql, place))
      } else if let sql, let statement = TableStatement(sql) {
        let key = name.lowercasedName
        let table = Self.table(name, root, sql, statement)
        statements[key] = statement
        tables.append(table)
        layouts[key] = RowLayout(table, source.header.encoding)
        layoutsByRoot[root] = layouts[key]
      } else {
        throw SQLiteError.damaged(
          "The statement of table \(name) is no CREATE TABLE: \(sql?.prefix(80) ?? "null").",
          page: place.page,
          offset: place.offset)
      }
    }
    for row in indexRows {
      guard let table = tables.first(where: { $0.name.isSameName(as: row.table) }),
        let statement = statements[row.table.lowercasedName],
        let index = Self.index(row.name, row.root, row.sql, table, statement, source.header)
      else {
        throw SQLiteError.damaged(
          "The statement of index \(row.name) does not fit: \(row.sql?.prefix(80) ?? "null").",
          page: row.cell.0,
          offset: row.cell.1)
      }
      indexes.append(index)
    }
  }

  static func table(_ name: String, _ root: UInt32, _ sql: String, _ statement: TableStatement)
    -> SQLiteTable
  {
    let stored = statement.columns.filter { !$0.isVirtual }
    let columns = stored.map { column in
      let affinity = SQLiteAffinity(declaredType: column.type, isStrict: statement.isStrict)
      return SQLiteColumn(
        name: column.name, declaredType: column.type, affinity: affinity,
        defaultValue: DefaultValue.value(column.defaultTokens, affinity), isNotNull: column.isNotNull,
        collation: column.collation)
    }
    let key = statement.keys.first(where: \.isPrimary)
    var primaryKey: [Int] = []
    var seen: Set<String> = []
    for part in key?.columns ?? [] {
      guard let column = columns.firstIndex(where: { part.name?.isSameName(as: $0.name) ?? false }) else {
        continue
      }
      // A column that is repeated counts only for another order of text.
      let collation = (part.collation ?? columns[column].collation).lowercasedName
      if seen.insert("\(column) \(collation)").inserted { primaryKey.append(column) }
    }
    var alias: Int?
    if !statement.isWithoutRowid, primaryKey.count == 1, key?.columns.count == 1,
      key?.isDescendingColumn == false,
      columns[primaryKey[0]].declaredType.isSameName(as: "integer")
    {
      alias = primaryKey[0]
    }
    return SQLiteTable(
      name: name, columns: columns, computedColumns: statement.columns.filter(\.isVirtual).map(\.name),
      rowidAlias: alias, primaryKey: primaryKey, isWithoutRowid: statement.isWithoutRowid, rootPage: root,
      sql: sql)
  }

  private static func index(
    _ name: String, _ root: UInt32, _ sql: String?, _ table: SQLiteTable, _ statement: TableStatement,
    _ header: DatabaseHeader
  ) -> SQLiteIndex? {
    var parts: [TableStatement.KeyColumn]
    var (isUnique, isPartial) = (true, false)
    if let sql {
      guard let index = IndexStatement(sql) else { return nil }
      (parts, isUnique, isPartial) = (index.columns, index.isUnique, index.isPartial)
    } else {
      // The index of a constraint is named by the number of the constraint.
      guard let number = name.split(separator: "_").last.flatMap({ Int($0) }), number > 0 else { return nil }
      let keys = constraintKeys(table, statement)
      guard number <= keys.count else { return nil }
      parts = keys[number - 1].columns
    }
    let columns = parts.map { part in
      let column = part.name.flatMap { name in table.columns.first { $0.name.isSameName(as: name) } }
      return SQLiteIndexColumn(
        name: column?.name, collation: part.collation ?? column?.collation ?? "BINARY",
        isDescending: part.isDescending && header.schemaFormat >= 4)
    }
    return SQLiteIndex(
      name: name, tableName: table.name, columns: columns, isUnique: isUnique, isPartial: isPartial,
      rootPage: root,
      sql: sql)
  }

  /// The constraints that have an index, in the order of their numbers: without a rowid, and without those that repeat
  /// an earlier one.
  static func constraintKeys(_ table: SQLiteTable, _ statement: TableStatement) -> [TableStatement
    .Key]
  {
    var keys: [TableStatement.Key] = []
    var seen: Set<[String]> = []
    for key in statement.keys {
      if key.isPrimary, table.rowidAlias != nil { continue }
      let names = key.columns.map { part in
        let column = table.columns.first { part.name?.isSameName(as: $0.name) ?? false }
        return "\(column?.name ?? "") \((part.collation ?? column?.collation ?? "BINARY").lowercasedName)"
      }
      if seen.insert(names).inserted { keys.append(key) }
    }
    return keys
  }
}
