import BenchmarkHarness
import CSQLite

/// A prepared statement. Bound bytes must live until it is reset.
final class SQLiteStatement {
  private let database: OpaquePointer
  private let statement: OpaquePointer

  init(_ text: String, on database: OpaquePointer) throws {
    var prepared: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard sqlite3_prepare_v3(database, text, -1, flags, &prepared, nil) == SQLITE_OK, let prepared else {
      throw Self.failure(of: database)
    }
    self.database = database
    statement = prepared
  }

  static func open(_ path: String) throws -> OpaquePointer {
    var database: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &database, flags, nil) == SQLITE_OK, let database else {
      throw BenchmarkError("SQLite cannot open \(path)")
    }
    return database
  }

  static func run(_ text: String, on database: OpaquePointer) throws {
    guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else { throw failure(of: database) }
  }

  static func failure(of database: OpaquePointer) -> BenchmarkError {
    BenchmarkError("SQLite: " + (sqlite3_errmsg(database).map { String(cString: $0) } ?? "?"))
  }

  func bind(_ bytes: UnsafeRawBufferPointer, at place: Int32) {
    sqlite3_bind_blob(statement, place, bytes.baseAddress, Int32(truncatingIfNeeded: bytes.count), nil)
  }

  func bind(_ number: Int, at place: Int32) { sqlite3_bind_int64(statement, place, Int64(number)) }

  func bind(_ number: Double, at place: Int32) { sqlite3_bind_double(statement, place, number) }

  func bindNull(at place: Int32) { sqlite3_bind_null(statement, place) }

  /// Binds a copy of a text.
  func bind(_ text: String, at place: Int32) {
    var text = text
    text.withUTF8 { bytes in
      let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      bytes.withMemoryRebound(to: CChar.self) { characters in
        _ = sqlite3_bind_text(
          statement, place, characters.baseAddress, Int32(truncatingIfNeeded: characters.count), copied)
      }
    }
  }

  /// Goes to the next row.
  /// - Returns: Whether there is one.
  func step() throws -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw Self.failure(of: database)
    }
  }

  /// Runs a statement that returns no rows.
  func run() throws {
    let code = sqlite3_step(statement)
    sqlite3_reset(statement)
    guard code == SQLITE_DONE else { throw Self.failure(of: database) }
  }

  func reset() { sqlite3_reset(statement) }
  func finalize() { sqlite3_finalize(statement) }

  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
  }

  func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }

  func double(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

  func optionalText(_ column: Int32) -> String? {
    sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : text(column)
  }

  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(statement, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}

/// Statements that are prepared when they are first used, by their texts: `try statement("SELECT 1")`.
final class SQLiteStatements {
  private let database: OpaquePointer
  private var prepared: [String: SQLiteStatement] = [:]

  init(on database: OpaquePointer) { self.database = database }

  func callAsFunction(_ text: String) throws -> SQLiteStatement {
    if let statement = prepared[text] { return statement }
    let statement = try SQLiteStatement(text, on: database)
    prepared[text] = statement
    return statement
  }

  func finalize() { for statement in prepared.values { statement.finalize() } }
}
