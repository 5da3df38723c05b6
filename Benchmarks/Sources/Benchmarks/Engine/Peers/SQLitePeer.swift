import BenchmarkHarness
import CSQLite
import EngineBenchmarks
import Foundation

/// SQLite through its C API: one table without row numbers, write-ahead log, prepared statements, a mapped file
/// and a cache that holds everything. Every thread has a connection of its own.
final class SQLitePeer: EnginePeer, PeerReader, PeerWriter {
  private let directory: String
  private let records: Int
  /// Writers of one program take turns: they wait for one another here, and not by asking again and again.
  private let writing: NSLock
  private let database: OpaquePointer
  private let begin, commit, rollback, get, put, remove, scan, scanAll, count, rank: SQLiteStatement

  convenience init(directory: String, records: Int) throws {
    try self.init(directory, records, writing: NSLock())
  }

  private init(_ directory: String, _ records: Int, writing: NSLock) throws {
    let database = try SQLiteStatement.open(directory + "/records.sqlite")
    for command in Self.settings { try SQLiteStatement.run(command, on: database) }
    func statement(_ text: String) throws -> SQLiteStatement { try SQLiteStatement(text, on: database) }
    (self.directory, self.records, self.writing, self.database) = (directory, records, writing, database)
    begin = try statement("BEGIN")
    commit = try statement("COMMIT")
    rollback = try statement("ROLLBACK")
    get = try statement("SELECT v FROM records WHERE k = ?")
    put = try statement("REPLACE INTO records VALUES (?, ?)")
    remove = try statement("DELETE FROM records WHERE k = ?")
    scan = try statement("SELECT k, v FROM records WHERE k >= ? ORDER BY k LIMIT ?")
    scanAll = try statement("SELECT k, v FROM records ORDER BY k")
    count = try statement("SELECT count(*) FROM records WHERE k >= ? AND k < ?")
    rank = try statement("SELECT k, v FROM records ORDER BY k LIMIT 1 OFFSET ?")
  }

  private static let settings = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -1000000",
    "PRAGMA mmap_size = 4000000000", "PRAGMA wal_autocheckpoint = 16000",
    "CREATE TABLE IF NOT EXISTS records (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID",
  ]

  func forAnotherThread() throws -> any EnginePeer { try SQLitePeer(directory, records, writing: writing) }

  func makeCommits(durable: Bool) throws {
    try SQLiteStatement.run("PRAGMA synchronous = \(durable ? "FULL" : "OFF")", on: database)
  }

  func read(_ body: (any PeerReader) throws -> Void) throws { try inTransaction { try body(self) } }

  func write(_ body: (any PeerWriter) throws -> Void) throws {
    writing.lock()
    defer { writing.unlock() }
    try inTransaction { try body(self) }
  }

  private func inTransaction(_ body: () throws -> Void) throws {
    try begin.run()
    do { try body() } catch {
      try rollback.run()
      throw error
    }
    try commit.run()
  }

  func settle() throws { try SQLiteStatement.run("PRAGMA wal_checkpoint(TRUNCATE)", on: database) }

  func close() throws {
    for statement in [begin, commit, rollback, get, put, remove, scan, scanAll, count, rank] {
      statement.finalize()
    }
    guard sqlite3_close(database) == SQLITE_OK else { throw SQLiteStatement.failure(of: database) }
  }

  func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    try get(key, into: &digest)
  }

  func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    get.bind(key, at: 1)
    guard try get.step() else { throw missingKey("SQLite") }
    digest.add(ends: get.blob(0))
    get.reset()
  }

  func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int {
    guard let key else { return try scan(scanAll, into: &digest) }
    scan.bind(key, at: 1)
    scan.bind(limit, at: 2)
    return try scan(scan, into: &digest)
  }

  private func scan(_ statement: SQLiteStatement, into digest: inout ReadDigest) throws -> Int {
    var found = 0
    while try statement.step() {
      digest.add(ends: statement.blob(0))
      digest.add(ends: statement.blob(1))
      found += 1
    }
    statement.reset()
    return found
  }

  func scanWholly(into digest: inout ReadDigest) throws {
    while try scanAll.step() {
      digest.add(all: scanAll.blob(0))
      digest.add(all: scanAll.blob(1))
    }
    scanAll.reset()
  }

  func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int {
    count.bind(lower, at: 1)
    count.bind(upper, at: 2)
    guard try count.step() else { throw missingKey("SQLite") }
    defer { count.reset() }
    return count.integer(0)
  }

  func entry(at rank: Int, into digest: inout ReadDigest) throws {
    self.rank.bind(rank, at: 1)
    guard try self.rank.step() else { throw missingKey("SQLite") }
    digest.add(ends: self.rank.blob(0))
    digest.add(ends: self.rank.blob(1))
    self.rank.reset()
  }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    put.bind(key, at: 1)
    put.bind(value, at: 2)
    try put.run()
  }

  func delete(_ key: UnsafeRawBufferPointer) throws {
    remove.bind(key, at: 1)
    try remove.run()
  }
}
