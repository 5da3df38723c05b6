import Foundation

/// Writes a new database file of SQLite, without SQLite: tables, rows in the order of their rowids, and indexes.
///
/// ```swift
/// let writer = try SQLiteWriter(url)
/// let people = try writer.createTable("CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT)")
/// try writer.createIndex("CREATE INDEX person_name ON person (name)")
/// try people.insert([1, "Ada"])
/// try writer.finish()
/// ```
///
/// Rows of several tables can be inserted in turns. The memory used does not depend on the number of rows. The file has
/// its name only after `finish()`, when all of it is durable; without `finish()` nothing remains. One thread uses a
/// writer at a time.
public final class SQLiteWriter {
  let output: PageOutput
  let path: String
  private let replacing: Bool
  private var tables: [SQLiteTableWriter] = []
  private var names: Set<String> = []
  private var isFinished = false

  /// `PRAGMA user_version`.
  public var userVersion: Int32 = 0

  /// The memory that the records of indexes take, in bytes.
  private var sortMemory = 0
  /// The memory that they may take before they are written to a file.
  let sortMemoryLimit: Int

  /// - Parameters:
  ///   - url: Where the file is going to be.
  ///   - pageSize: In bytes: a power of two from 512 to 65,536.
  ///   - replacing: Whether a file that is there is replaced.
  /// - Throws: `.invalidArgument` if there is a file, or a log or journal that SQLite would take for the new file's.
  public convenience init(_ url: URL, pageSize: Int = 4096, replacing: Bool = false) throws(SQLiteError) {
    try self.init(url, pageSize: pageSize, replacing: replacing, sortMemoryLimit: 64 << 20)
  }

  package init(_ url: URL, pageSize: Int, replacing: Bool = false, sortMemoryLimit: Int) throws(SQLiteError) {
    path = url.path
    (self.replacing, self.sortMemoryLimit) = (replacing, sortMemoryLimit)
    guard pageSize >= 512, pageSize <= 65_536, pageSize & (pageSize - 1) == 0 else {
      throw SQLiteError(.invalidArgument, "Pages cannot have \(pageSize) bytes.", path: path)
    }
    for end in replacing ? ["-wal", "-journal"] : ["", "-wal", "-journal"]
    where FileManager.default.fileExists(atPath: url.path + end) {
      throw SQLiteError(
        .invalidArgument, "There is a file \(url.lastPathComponent)\(end) already.", path: path)
    }
    output = try PageOutput(url.path, pageSize: pageSize)
  }

  /// A name in quotation marks, as it can be used in statements.
  public static func quoted(_ name: String) -> String {
    "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
  }

  /// Creates a table.
  ///
  /// - Parameter sql: A `CREATE TABLE name (…)`. `UNIQUE` and `PRIMARY KEY` get their indexes. `WITHOUT ROWID`,
  ///   `AUTOINCREMENT` and generated columns are not supported.
  /// - Throws: `.invalidArgument` if the statement cannot be used; `.unsupported`.
  @discardableResult
  public func createTable(_ sql: String) throws(SQLiteError) -> SQLiteTableWriter {
    let sql = sql.trimmingCharacters(in: CharacterSet(charactersIn: " \t\r\n;"))
    var parser = SQLParser(sql)
    guard parser.take("create", "table"), !parser.isAt("if"), let name = parser.name(),
      parser.isAt(symbol: "("),
      let statement = TableStatement(sql)
    else { throw invalid("This is no CREATE TABLE name (…): \(sql)") }
    let isUsed = SQLTokens(sql).tokens.contains { token in
      if case .word(let word) = token { word.isSameName(as: "autoincrement") } else { false }
    }
    guard !statement.isWithoutRowid, !isUsed, !statement.columns.contains(where: \.isGenerated) else {
      throw SQLiteError(
        .unsupported, "WITHOUT ROWID, AUTOINCREMENT and generated columns cannot be written: \(sql)",
        path: path)
    }
    try take(name)
    let table = Schema.table(name, 0, sql, statement)
    let writer = try SQLiteTableWriter(table, statement, self)
    tables.append(writer)
    return writer
  }

  /// Creates an index of a table that has no rows yet. It is built by `finish()`.
  ///
  /// - Parameter sql: A `CREATE [UNIQUE] INDEX name ON table (columns)`, without expressions and without `WHERE`.
  /// - Throws: `.invalidArgument` if the statement cannot be used.
  public func createIndex(_ sql: String) throws(SQLiteError) {
    let sql = sql.trimmingCharacters(in: CharacterSet(charactersIn: " \t\r\n;"))
    var parser = SQLParser(sql)
    guard parser.take("create") else { throw invalid("This is no CREATE INDEX: \(sql)") }
    _ = parser.take("unique")
    guard parser.take("index"), !parser.isAt("if"), let name = parser.name(), parser.take("on"),
      let tableName = parser.name(), let index = IndexStatement(sql), !index.isPartial
    else { throw invalid("This is no CREATE INDEX name ON table (columns): \(sql)") }
    guard let table = tables.first(where: { $0.name.isSameName(as: tableName) }) else {
      throw invalid("There is no table \(tableName) for index \(name).")
    }
    try take(name)
    try table.addIndex(name, sql, isUnique: index.isUnique, index.columns)
  }

  private func take(_ name: String) throws(SQLiteError) {
    guard !isFinished else { throw invalid("The database is finished.") }
    guard !name.lowercasedName.hasPrefix("sqlite_") else {
      throw invalid("The name \(name) is SQLite's own.")
    }
    guard names.insert(name.lowercasedName).inserted else {
      throw invalid("There are two tables or indexes \(name).")
    }
  }

  func invalid(_ message: String) -> SQLiteError { SQLiteError(.invalidArgument, message, path: path) }

  /// Counts memory that records of indexes take; writes them to files when they are too many.
  func addSortMemory(_ bytes: Int) throws(SQLiteError) {
    sortMemory += bytes
    guard sortMemory > sortMemoryLimit else { return }
    let sorters = tables.flatMap(\.indexes).map(\.sorter)
    try sorters.max { $0.memory < $1.memory }?.spill()
    sortMemory = sorters.reduce(0) { $0 + $1.memory }
  }

  /// Builds the indexes, makes the file durable, and gives it its name.
  ///
  /// - Throws: `.invalidArgument` if two rows have the same values in a unique index; `.inputOutput` if the file cannot
  ///   be written.
  public func finish() throws(SQLiteError) {
    guard !isFinished else { return }
    isFinished = true
    let schema = TreeBuilder(output, .table)
    var rowid: Int64 = 0
    for table in tables {
      for row in try table.finish() {
        rowid += 1
        var record: [UInt8] = []
        RecordEncoder.append(row, to: &record)
        try schema.add(rowid: rowid, record)
      }
    }
    var page = try schema.finishFirstPage()
    page.replaceSubrange(0..<DatabaseHeader.size, with: header())
    try output.finish(firstPage: page, replacing: replacing)
  }

  /// "Database File Format", section 1.3.
  private func header() -> [UInt8] {
    var bytes = Array("SQLite format 3\0".utf8)
    func append(_ number: some BinaryInteger, _ count: Int) {
      RecordEncoder.appendBigEndian(UInt64(truncatingIfNeeded: number), count, to: &bytes)
    }
    append(output.pageSize == 65_536 ? 1 : output.pageSize, 2)
    // A rollback journal, nothing reserved, the fractions of payloads.
    bytes += [1, 1, 0, 64, 32, 32]
    // The change counter, the size, no free pages, the schema's version and format, no size of a cache.
    for number in [1, Int(output.pageCount), 0, 0, 1, 4, 0] { append(number, 4) }
    // No pointer maps, UTF-8, versions of the program, no vacuum, no application.
    for number in [0, 1, Int(userVersion), 0, 0] { append(number, 4) }
    bytes += [UInt8](repeating: 0, count: 20)
    // The change for which the size counts, and the version of SQLite whose format this is.
    for number in [1, 3_040_000] { append(number, 4) }
    return bytes
  }
}
