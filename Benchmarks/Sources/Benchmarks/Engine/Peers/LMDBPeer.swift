import BenchmarkHarness
import CLMDB
import EngineBenchmarks

/// LMDB as its author advises: a read-only map, a reader that is reset and renewed, cursors, and `MDB_APPEND`
/// for keys that come in order. Not durable means `MDB_NOSYNC`.
final class LMDBPeer: EnginePeer {
  private let environment: OpaquePointer
  private let table: MDB_dbi
  private let reader: LMDBReader
  private let owns: Bool

  init(directory: String, records: Int) throws {
    var made: OpaquePointer?
    try lmdb(mdb_env_create(&made))
    guard let made else { throw BenchmarkError("LMDB makes no environment") }
    environment = made
    owns = true
    try lmdb(mdb_env_set_mapsize(environment, 1 << 30 + records * 16_384))
    try lmdb(mdb_env_open(environment, directory, UInt32(MDB_NOTLS | MDB_NOSYNC), 0o644))
    table = try Self.table(in: environment)
    reader = try LMDBReader(environment, table)
  }

  private init(sharing other: LMDBPeer) throws {
    (environment, table, owns) = (other.environment, other.table, false)
    reader = try LMDBReader(environment, table)
  }

  func forAnotherThread() throws -> any EnginePeer { try LMDBPeer(sharing: self) }

  private static func table(in environment: OpaquePointer) throws -> MDB_dbi {
    var transaction: OpaquePointer?
    var table = MDB_dbi()
    try lmdb(mdb_txn_begin(environment, nil, 0, &transaction))
    try lmdb(mdb_dbi_open(transaction, nil, 0, &table))
    try lmdb(mdb_txn_commit(transaction))
    return table
  }

  func makeCommits(durable: Bool) throws {
    try lmdb(mdb_env_set_flags(environment, UInt32(MDB_NOSYNC), durable ? 0 : 1))
  }

  func read(_ body: (any PeerReader) throws -> Void) throws {
    try reader.renew()
    defer { reader.reset() }
    try body(reader)
  }

  func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    try reader.renew()
    defer { reader.reset() }
    try reader.get(key, into: &digest)
  }

  func write(_ body: (any PeerWriter) throws -> Void) throws {
    var transaction: OpaquePointer?
    try lmdb(mdb_txn_begin(environment, nil, 0, &transaction))
    do { try body(LMDBWriter(transaction, table)) } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try lmdb(mdb_txn_commit(transaction))
  }

  func settle() throws { try lmdb(mdb_env_sync(environment, 1)) }

  func close() throws {
    reader.close()
    if owns { mdb_env_close(environment) }
  }
}

func lmdb(_ code: Int32) throws {
  guard code == 0 else { throw BenchmarkError("LMDB: " + String(cString: mdb_strerror(code))) }
}

extension MDB_val {
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }
}
