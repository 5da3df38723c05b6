#if canImport(CMDBX)
  import BenchmarkHarness
  import CMDBX
  import EngineBenchmarks

  /// libmdbx as LMDB is used: a read-only map, a reader that is reset and renewed, cursors, and `MDBX_APPEND` for keys that
  /// come in order. Durable is its default, a sync of the data and then of the meta page at each commit. Not durable means
  /// `MDBX_UTTERLY_NOSYNC`, which is LMDB's `MDB_NOSYNC`.
  final class MDBXPeer: EnginePeer {
    private let environment: OpaquePointer
    private let table: MDBX_dbi
    private let reader: MDBXReader
    private let owns: Bool

    init(directory: String, records: Int) throws {
      // Its notices would be written among the rows.
      _ = mdbx_setup_debug(MDBX_LOG_ERROR, MDBX_DBG_NONE, nil)
      var made: OpaquePointer?
      try mdbx(mdbx_env_create(&made))
      guard let made else { throw BenchmarkError("libmdbx makes no environment") }
      environment = made
      owns = true
      try mdbx(mdbx_env_set_geometry(environment, -1, -1, 1 << 30 + records * 16_384, -1, -1, 4096))
      let flags = MDBX_NOSTICKYTHREADS.rawValue | MDBX_UTTERLY_NOSYNC.rawValue
      try mdbx(mdbx_env_open(environment, directory, MDBX_env_flags_t(rawValue: flags), 0o644))
      table = try Self.table(in: environment)
      reader = try MDBXReader(environment, table)
    }

    private init(sharing other: MDBXPeer) throws {
      (environment, table, owns) = (other.environment, other.table, false)
      reader = try MDBXReader(environment, table)
    }

    func forAnotherThread() throws -> any EnginePeer { try MDBXPeer(sharing: self) }

    private static func table(in environment: OpaquePointer) throws -> MDBX_dbi {
      var transaction: OpaquePointer?
      var table = MDBX_dbi()
      try mdbx(mdbx_txn_begin_ex(environment, nil, MDBX_TXN_READWRITE, &transaction, nil))
      try mdbx(mdbx_dbi_open(transaction, nil, MDBX_DB_DEFAULTS, &table))
      try mdbx(mdbx_txn_commit_ex(transaction, nil))
      return table
    }

    func makeCommits(durable: Bool) throws {
      try mdbx(mdbx_env_set_flags(environment, MDBX_UTTERLY_NOSYNC, !durable))
    }

    func read(_ body: (any PeerReader) throws -> Void) throws {
      try reader.renew()
      defer { reader.reset() }
      try body(reader)
    }

    func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
      try reader.renewTransaction()
      defer { reader.reset() }
      try reader.get(key, into: &digest)
    }

    func write(_ body: (any PeerWriter) throws -> Void) throws {
      var transaction: OpaquePointer?
      try mdbx(mdbx_txn_begin_ex(environment, nil, MDBX_TXN_READWRITE, &transaction, nil))
      do { try body(MDBXWriter(transaction, table)) } catch {
        mdbx_txn_abort(transaction)
        throw error
      }
      try mdbx(mdbx_txn_commit_ex(transaction, nil))
    }

    func settle() throws { try mdbx(mdbx_env_sync_ex(environment, true, false), orNothing: true) }

    func close() throws {
      reader.close()
      if owns { try mdbx(mdbx_env_close_ex(environment, false)) }
    }
  }

  /// A read transaction and a cursor, renewed for each snapshot.
  private final class MDBXReader: PeerReader {
    private let table: MDBX_dbi
    private let transaction: OpaquePointer?
    private let cursor: OpaquePointer?

    /// The new reader is at rest: `renew` comes first.
    init(_ environment: OpaquePointer, _ table: MDBX_dbi) throws {
      var transaction: OpaquePointer?
      var cursor: OpaquePointer?
      try mdbx(mdbx_txn_begin_ex(environment, nil, MDBX_TXN_RDONLY, &transaction, nil))
      try mdbx(mdbx_cursor_open(transaction, table, &cursor))
      mdbx_txn_reset(transaction)
      self.table = table
      self.transaction = transaction
      self.cursor = cursor
    }

    func renewTransaction() throws { try mdbx(mdbx_txn_renew(transaction)) }

    func renew() throws {
      try renewTransaction()
      try mdbx(mdbx_cursor_renew(transaction, cursor))
    }

    func reset() { mdbx_txn_reset(transaction) }

    func close() {
      mdbx_cursor_close(cursor)
      mdbx_txn_abort(transaction)
    }

    func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
      var key = MDBX_val(key)
      var value = MDBX_val()
      try mdbx(mdbx_get(transaction, table, &key, &value))
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
      var end = MDBX_val(upper)
      var found = 0
      var (key, value) = (MDBX_val(lower), MDBX_val())
      var code = mdbx_cursor_get(cursor, &key, &value, MDBX_SET_RANGE)
      while code == 0, mdbx_cmp(transaction, table, &key, &end) < 0 {
        found += 1
        code = mdbx_cursor_get(cursor, &key, &value, MDBX_NEXT)
      }
      return found
    }

    func entry(at rank: Int, into digest: inout ReadDigest) throws {
      var (key, value) = (MDBX_val(), MDBX_val())
      try mdbx(mdbx_cursor_get(cursor, &key, &value, MDBX_FIRST))
      for _ in 0..<rank { try mdbx(mdbx_cursor_get(cursor, &key, &value, MDBX_NEXT)) }
      digest.add(ends: key.bytes)
      digest.add(ends: value.bytes)
    }

    @inline(__always)
    private func visit(
      from start: UnsafeRawBufferPointer?, limit: Int, _ body: (MDBX_val, MDBX_val) -> Void
    ) throws -> Int {
      var (key, value) = (start.map { MDBX_val($0) } ?? MDBX_val(), MDBX_val())
      var code = mdbx_cursor_get(cursor, &key, &value, start == nil ? MDBX_FIRST : MDBX_SET_RANGE)
      var found = 0
      while code == 0 {
        body(key, value)
        found += 1
        if found == limit { break }
        code = mdbx_cursor_get(cursor, &key, &value, MDBX_NEXT)
      }
      return found
    }
  }

  /// A write transaction.
  private final class MDBXWriter: PeerWriter {
    private let table: MDBX_dbi
    private let transaction: OpaquePointer?

    init(_ transaction: OpaquePointer?, _ table: MDBX_dbi) {
      self.transaction = transaction
      self.table = table
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
      try put(key, value, MDBX_UPSERT)
    }

    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
      try put(key, value, MDBX_APPEND)
    }

    private func put(
      _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ flags: MDBX_put_flags_t
    ) throws {
      var (key, value) = (MDBX_val(key), MDBX_val(value))
      try mdbx(mdbx_put(transaction, table, &key, &value, flags))
    }

    func delete(_ key: UnsafeRawBufferPointer) throws {
      var key = MDBX_val(key)
      try mdbx(mdbx_del(transaction, table, &key, nil))
    }
  }

  /// - Parameter orNothing: Whether there may have been nothing to do.
  private func mdbx(_ code: Int32, orNothing: Bool = false) throws {
    guard code == 0 || orNothing && code == MDBX_RESULT_TRUE.rawValue else {
      throw BenchmarkError("libmdbx: " + String(cString: mdbx_strerror(code)))
    }
  }

  extension MDBX_val {
    @inline(__always)
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
      self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }

    @inline(__always)
    fileprivate var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: iov_base, count: iov_len) }
  }
#endif
