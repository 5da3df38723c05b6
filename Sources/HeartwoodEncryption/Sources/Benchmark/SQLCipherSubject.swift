#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// SQLCipher, found when the program runs: it needs no header, and its rows are left out where it is not installed.
struct SQLCipherSubject: Subject {
  private typealias Handle = OpaquePointer
  private typealias Open = @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>) -> Int32
  private typealias Execute =
    @convention(c) (
      Handle?, UnsafePointer<CChar>, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?
    ) -> Int32
  private typealias Prepare =
    @convention(c) (
      Handle?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<Handle?>, UnsafeRawPointer?
    ) -> Int32
  private typealias Bind = @convention(c) (Handle?, Int32, UnsafeRawPointer?, Int32, Int) -> Int32
  private typealias Call = @convention(c) (Handle?) -> Int32
  private typealias Column = @convention(c) (Handle?, Int32) -> Int32

  let name = "SQLCipher"
  private let library: UnsafeMutableRawPointer
  private var database: Handle?
  private var insertion: Handle?
  private var lookup: Handle?

  /// Nil where it is not installed.
  init?() {
    let names = ["libsqlcipher.so.1", "libsqlcipher.so.0", "libsqlcipher.so", "libsqlcipher.dylib"]
    guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else { return nil }
    self.library = library
  }

  private func function<Function>(_ name: String, _ type: Function.Type) throws -> Function {
    guard let symbol = dlsym(library, name) else { throw Failure(what: name) }
    return unsafeBitCast(symbol, to: type)
  }

  struct Failure: Error { var what: String }

  private func check(_ status: Int32, _ what: String) throws {
    guard [0, 100, 101].contains(status) else { throw Failure(what: "\(what): \(status)") }
  }

  private func execute(_ text: String) throws {
    try check(try function("sqlite3_exec", Execute.self)(database, text, nil, nil, nil), text)
  }

  private func prepared(_ text: String) throws -> Handle? {
    var statement: Handle?
    try check(try function("sqlite3_prepare_v2", Prepare.self)(database, text, -1, &statement, nil), text)
    return statement
  }

  mutating func open(_ path: String) throws {
    try check(try function("sqlite3_open", Open.self)(path, &database), "open")
    try execute("PRAGMA key = \"x'\(String(repeating: "07", count: 32))'\"")
    try execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144")
    try execute("CREATE TABLE IF NOT EXISTS rows (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
    insertion = try prepared("INSERT OR REPLACE INTO rows VALUES (?, ?)")
    lookup = try prepared("SELECT value FROM rows WHERE key = ?")
  }

  func put(_ keys: Range<Int>, isDurable: Bool) throws {
    try execute("PRAGMA synchronous = \(isDurable ? "FULL" : "NORMAL")")
    try execute("BEGIN")
    for key in keys {
      try bind(insertion, 1, Rows.key(key))
      try bind(insertion, 2, Rows.value(key))
      try check(try function("sqlite3_step", Call.self)(insertion), "insert")
      _ = try function("sqlite3_reset", Call.self)(insertion)
    }
    try execute("COMMIT")
  }

  func get(_ key: Int) throws -> Int {
    try bind(lookup, 1, Rows.key(key))
    try check(try function("sqlite3_step", Call.self)(lookup), "select")
    let count = try function("sqlite3_column_bytes", Column.self)(lookup, 0)
    _ = try function("sqlite3_reset", Call.self)(lookup)
    return Int(count)
  }

  func scan() throws -> Int {
    let all = try prepared("SELECT value FROM rows ORDER BY key")
    let (step, bytes) = (
      try function("sqlite3_step", Call.self), try function("sqlite3_column_bytes", Column.self)
    )
    var total = 0
    while step(all) == 100 { total += Int(bytes(all, 0)) }
    _ = try function("sqlite3_finalize", Call.self)(all)
    return total
  }

  private func bind(_ statement: Handle?, _ index: Int32, _ bytes: [UInt8]) throws {
    // SQLite copies the bytes.
    let transient = -1
    try bytes.withUnsafeBytes {
      try check(
        try function("sqlite3_bind_blob", Bind.self)(
          statement, index, $0.baseAddress, Int32($0.count), transient), "bind")
    }
  }

  mutating func close() throws {
    for statement in [insertion, lookup] { _ = try function("sqlite3_finalize", Call.self)(statement) }
    try check(try function("sqlite3_close", Call.self)(database), "close")
    database = nil
  }
}
