/// A table of a database that is being written: `SQLiteWriter.createTable(_:)`.
public final class SQLiteTableWriter {
  /// The name of the table.
  public let name: String
  /// The columns, in the order of the values of a row.
  public let columns: [SQLiteColumn]

  let sql: String
  let statement: TableStatement
  let table: SQLiteTable
  private unowned let writer: SQLiteWriter
  private let tree: TreeBuilder
  private(set) var indexes: [IndexWriter] = []
  private var values: [SQLiteValue] = []
  private var record: [UInt8] = []
  private var key = SortKey()
  /// The number of rows that were inserted.
  public private(set) var count = 0

  /// An index that is being written.
  final class IndexWriter {
    let name: String
    let sql: String?
    let isUnique: Bool
    let parts: [(column: Int, collation: Collation, isDescending: Bool)]
    let sorter: IndexSorter

    init(
      _ name: String, _ sql: String?, isUnique: Bool,
      _ parts: [(column: Int, collation: Collation, isDescending: Bool)], _ path: String
    ) {
      (self.name, self.sql, self.isUnique, self.parts) = (name, sql, isUnique, parts)
      sorter = IndexSorter(path)
    }
  }

  init(_ table: SQLiteTable, _ statement: TableStatement, _ writer: SQLiteWriter) throws(SQLiteError) {
    (name, columns, sql) = (table.name, table.columns, table.sql)
    (self.table, self.statement, self.writer) = (table, statement, writer)
    tree = TreeBuilder(writer.output, .table)
    for (number, key) in Schema.constraintKeys(table, statement).enumerated() {
      try addIndex("sqlite_autoindex_\(name)_\(number + 1)", nil, isUnique: true, key.columns)
    }
  }

  func addIndex(
    _ name: String, _ sql: String?, isUnique: Bool, _ parts: [TableStatement.KeyColumn]
  ) throws(SQLiteError) {
    guard count == 0 else {
      throw writer.invalid(
        "Index \(name) must be created before the first row of table \(self.name) is inserted.")
    }
    var found: [(column: Int, collation: Collation, isDescending: Bool)] = []
    for part in parts {
      guard let name = part.name, let column = table.columnIndex(named: name) else {
        throw writer.invalid("Table \(self.name) has no column \(part.name ?? "(expression)") for an index.")
      }
      guard let collation = Collation(part.collation ?? columns[column].collation) else {
        throw writer.invalid("Text cannot be ordered by \(part.collation ?? columns[column].collation).")
      }
      found.append((column, collation, part.isDescending))
    }
    guard !found.isEmpty else { throw writer.invalid("Index \(name) has no columns.") }
    indexes.append(IndexWriter(name, sql, isUnique: isUnique, found, writer.path))
  }

  /// Inserts a row.
  ///
  /// Values are converted by the affinity of their columns, as SQLite does. `CHECK` and foreign keys are not checked.
  ///
  /// - Parameters:
  ///   - values: A value for each column. The value of the `INTEGER PRIMARY KEY` is the rowid; null there stands for the
  ///     next one.
  ///   - rowid: The rowid, for a table without such a column; nil for the next one. Rowids ascend.
  /// - Throws: `.invalidArgument` if the row does not fit the table; `.inputOutput` if the file cannot be written.
  public func insert(_ values: [SQLiteValue], rowid: Int64? = nil) throws(SQLiteError) {
    guard values.count == columns.count else {
      throw writer.invalid(
        "Table \(name) has \(columns.count) columns, and \(values.count) values were passed.")
    }
    self.values = values
    var rowid = rowid
    if let alias = table.rowidAlias {
      switch values[alias] {
      case .integer(let number): rowid = number
      case .null: break
      default:
        throw writer.invalid("The INTEGER PRIMARY KEY of table \(name) is not an integer: \(values[alias]).")
      }
      self.values[alias] = .null
    }
    let number = rowid ?? (tree.lastRowid ?? 0) &+ 1
    if let last = tree.lastRowid, number <= last {
      throw writer.invalid(
        "Rowid \(number) follows \(last) in table \(name): rows are inserted in ascending order.")
    }
    for (index, column) in columns.enumerated() where index != table.rowidAlias {
      if case .null = values[index] {
        guard !column.isNotNull else {
          throw writer.invalid("Column \(column.name) of table \(name) cannot be null.")
        }
      } else {
        self.values[index] = DefaultValue.applying(column.affinity, to: values[index])
      }
    }
    record.removeAll(keepingCapacity: true)
    RecordEncoder.append(self.values, to: &record)
    guard record.count <= 1_000_000_000 else {
      throw writer.invalid("A row of table \(name) is longer than SQLite allows.")
    }
    try tree.add(rowid: number, record)
    count += 1
    if indexes.isEmpty { return }
    if let alias = table.rowidAlias { self.values[alias] = .integer(number) }
    let before = indexes.reduce(0) { $0 + $1.sorter.memory }
    for index in indexes {
      key.removeAll()
      for part in index.parts {
        key.append(self.values[part.column], part.collation, isDescending: part.isDescending)
      }
      key.append(rowid: number)
      record.removeAll(keepingCapacity: true)
      RecordEncoder.append(index.parts.map { self.values[$0.column] } + [.integer(number)], to: &record)
      index.sorter.add(key, record)
    }
    try writer.addSortMemory(indexes.reduce(0) { $0 + $1.sorter.memory } - before)
  }

  /// Writes what is left; returns the rows of the schema.
  func finish() throws(SQLiteError) -> [[SQLiteValue]] {
    var rows: [[SQLiteValue]] = []
    rows.append([.text("table"), .text(name), .text(name), .integer(Int64(try tree.finish())), .text(sql)])
    for index in indexes {
      let tree = TreeBuilder(writer.output, .index)
      try index.sorter.forEach { (record, isDuplicate) throws(SQLiteError) in
        guard !isDuplicate || !index.isUnique else {
          throw writer.invalid(
            "Two rows of table \(name) have the same values in unique index \(index.name).")
        }
        try tree.add(record)
      }
      let root = try tree.finish()
      rows.append([
        .text("index"), .text(index.name), .text(name), .integer(Int64(root)),
        index.sql.map { .text($0) } ?? .null,
      ])
    }
    return rows
  }
}
