import BenchmarkHarness
import CLMDB
import EngineBenchmarks

/// A read transaction and a cursor, renewed for each snapshot.
final class LMDBReader: PeerReader {
  private let table: MDB_dbi
  private let transaction: OpaquePointer?
  private let cursor: OpaquePointer?

  /// The new reader is at rest: `renew` comes first.
  init(_ environment: OpaquePointer, _ table: MDB_dbi) throws {
    var transaction: OpaquePointer?
    var cursor: OpaquePointer?
    try lmdb(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
    try lmdb(mdb_cursor_open(transaction, table, &cursor))
    mdb_txn_reset(transaction)
    self.table = table
    self.transaction = transaction
    self.cursor = cursor
  }

  func renew() throws {
    try lmdb(mdb_txn_renew(transaction))
    try lmdb(mdb_cursor_renew(transaction, cursor))
  }

  func reset() { mdb_txn_reset(transaction) }

  func close() {
    mdb_cursor_close(cursor)
    mdb_txn_abort(transaction)
  }

  func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    var key = MDB_val(key)
    var value = MDB_val()
    try lmdb(mdb_get(transaction, table, &key, &value))
    digest.add(ends: value.bytes)
  }

  func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int {
    try visit(from: key, limit: limit) { key, value in
      digest.add(ends: key.bytes)
      digest.add(ends: value.bytes)
    }
  }

  func scanWholly(into digest: inout ReadDigest) throws {
    _ = try visit(from: nil, limit: .max) { key, value in
      digest.add(all: key.bytes)
      digest.add(all: value.bytes)
    }
  }

  func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int {
    var end = MDB_val(upper)
    var found = 0
    var (key, value) = (MDB_val(lower), MDB_val())
    var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
    while code == 0, mdb_cmp(transaction, table, &key, &end) < 0 {
      found += 1
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    return found
  }

  func entry(at rank: Int, into digest: inout ReadDigest) throws {
    var (key, value) = (MDB_val(), MDB_val())
    try lmdb(mdb_cursor_get(cursor, &key, &value, MDB_FIRST))
    for _ in 0..<rank { try lmdb(mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) }
    digest.add(ends: key.bytes)
    digest.add(ends: value.bytes)
  }

  @inline(__always)
  private func visit(
    from start: UnsafeRawBufferPointer?, limit: Int, _ body: (MDB_val, MDB_val) -> Void
  ) throws -> Int {
    var (key, value) = (start.map { MDB_val($0) } ?? MDB_val(), MDB_val())
    var code = mdb_cursor_get(cursor, &key, &value, start == nil ? MDB_FIRST : MDB_SET_RANGE)
    var found = 0
    while code == 0 {
      body(key, value)
      found += 1
      if found == limit { break }
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    return found
  }
}

/// A write transaction.
final class LMDBWriter: PeerWriter {
  private let table: MDB_dbi
  private let transaction: OpaquePointer?

  init(_ transaction: OpaquePointer?, _ table: MDB_dbi) {
    self.transaction = transaction
    self.table = table
  }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    try put(key, value, flags: 0)
  }

  func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    try put(key, value, flags: UInt32(MDB_APPEND))
  }

  private func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, flags: UInt32) throws {
    var (key, value) = (MDB_val(key), MDB_val(value))
    try lmdb(mdb_put(transaction, table, &key, &value, flags))
  }

  func delete(_ key: UnsafeRawBufferPointer) throws {
    var key = MDB_val(key)
    try lmdb(mdb_del(transaction, table, &key, nil))
  }
}
