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
}
