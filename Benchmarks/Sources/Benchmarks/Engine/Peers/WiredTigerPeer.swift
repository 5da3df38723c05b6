#if canImport(CWiredTiger)
  import BenchmarkHarness
  import CWiredTiger
  import EngineBenchmarks

  /// WiredTiger through its C API: a row store of byte strings, one session with a cursor for each thread.
  ///
  /// As its authors advise: a cache that holds everything, the log for commits between checkpoints, transactions that are
  /// small beside the cache (a load in batches of 1000, and a bulk cursor for the sorted load), cursors that are kept.
  /// Durable means `sync=on`: the log is synced by `fsync` before the commit returns. Not durable means `sync=off`, and then
  /// a flush without a sync, as `sync=off` alone leaves the record in the memory of the process. No compression, as is the
  /// default.
  final class WiredTigerPeer: EnginePeer {
    private let connection: UnsafeMutablePointer<WT_CONNECTION>
    private let owns: Bool
    private let session: WiredTigerSession
    private var isDurable = false

    init(directory: String, records: Int) throws {
      let cache = 512 << 20 + records * 1024
      let settings = """
        create,cache_size=\(cache),log=(enabled=true,file_max=64MB),transaction_sync=(enabled=false,method=fsync),\
        session_max=64
        """
      var opened: UnsafeMutablePointer<WT_CONNECTION>?
      try wiredTiger(wiredtiger_open(directory, nil, settings, &opened))
      guard let opened else { throw BenchmarkError("WiredTiger opens no database") }
      connection = opened
      owns = true
      session = try WiredTigerSession(opened)
    }

    private init(sharing connection: UnsafeMutablePointer<WT_CONNECTION>) throws {
      self.connection = connection
      owns = false
      session = try WiredTigerSession(connection)
    }

    func forAnotherThread() throws -> any EnginePeer { try WiredTigerPeer(sharing: connection) }

    func makeCommits(durable: Bool) { isDurable = durable }

    func read(_ body: (any PeerReader) throws -> Void) throws {
      try session.begin()
      defer { session.rollBack() }
      try body(session)
    }

    /// Without a transaction of its own: a cursor reads what is committed when it searches.
    func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
      try session.get(key, into: &digest)
    }

    func write(_ body: (any PeerWriter) throws -> Void) throws {
      try session.begin()
      do { try body(session) } catch {
        session.rollBack()
        throw error
      }
      try session.commit(durable: isDurable)
    }

    func load(_ body: (any PeerWriter) throws -> Void) throws {
      let load = WiredTigerLoad(session)
      try body(load)
      try load.finish()
    }

    func settle() throws { try session.checkpoint() }

    func close() throws {
      try session.close()
      if owns { try wiredTiger(connection.pointee.close(connection, nil)) }
    }
  }

  /// A session, for one thread, and its cursor. Reads see the state of the transaction's begin, or the newest outside of one.
  private final class WiredTigerSession: PeerReader, PeerWriter {
    private let session: UnsafeMutablePointer<WT_SESSION>
    private var cursor: UnsafeMutablePointer<WT_CURSOR>

    private static let table = "table:records"

    init(_ connection: UnsafeMutablePointer<WT_CONNECTION>) throws {
      var opened: UnsafeMutablePointer<WT_SESSION>?
      try wiredTiger(connection.pointee.open_session(connection, nil, nil, &opened))
      guard let opened else { throw BenchmarkError("WiredTiger opens no session") }
      session = opened
      try wiredTiger(opened.pointee.create(opened, Self.table, "key_format=u,value_format=u"))
      cursor = try Self.cursor(in: opened, nil)
    }

    private static func cursor(
      in session: UnsafeMutablePointer<WT_SESSION>, _ settings: String?
    ) throws -> UnsafeMutablePointer<WT_CURSOR> {
      var opened: UnsafeMutablePointer<WT_CURSOR>?
      try wiredTiger(session.pointee.open_cursor(session, table, nil, settings, &opened))
      guard let opened else { throw BenchmarkError("WiredTiger opens no cursor") }
      return opened
    }

    func begin() throws { try wiredTiger(session.pointee.begin_transaction(session, "isolation=snapshot")) }

    func commit(durable: Bool) throws {
      try wiredTiger(session.pointee.commit_transaction(session, durable ? "sync=on" : "sync=off"))
      if !durable { try wiredTiger(session.pointee.log_flush(session, "sync=off")) }
    }

    func rollBack() { _ = session.pointee.rollback_transaction(session, nil) }

    func checkpoint() throws {
      try wiredTiger(cursor.pointee.reset(cursor))
      try wiredTiger(session.pointee.checkpoint(session, nil))
    }

    func close() throws { try wiredTiger(session.pointee.close(session, nil)) }

    /// Does `body` with a cursor for keys that come in order, into an empty table that no other session has open.
    func appending(_ isAppending: Bool) throws {
      try wiredTiger(cursor.pointee.close(cursor))
      cursor = try Self.cursor(in: session, isAppending ? "bulk" : nil)
    }

    // MARK: Reading

    func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
      var item = WT_ITEM(key)
      wt_set_key(cursor, &item)
      guard cursor.pointee.search(cursor) == 0 else { throw missingKey("WiredTiger") }
      try wiredTiger(wt_get_value(cursor, &item))
      digest.add(ends: item.bytes)
      try wiredTiger(cursor.pointee.reset(cursor))
    }

    func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int {
      var found = 0
      try visit(from: key) { key, value in
        digest.add(ends: key)
        digest.add(ends: value)
        found += 1
        return found < limit
      }
      return found
    }

    func scanWholly(into digest: inout ReadDigest) throws {
      try visit(from: nil) { key, value in
        digest.add(all: key)
        digest.add(all: value)
        return true
      }
    }

    func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int {
      var found = 0
      try visit(from: lower) { key, _ in
        guard key.precedes(upper) else { return false }
        found += 1
        return true
      }
      return found
    }

    func entry(at rank: Int, into digest: inout ReadDigest) throws {
      var passed = 0
      try visit(from: nil) { key, value in
        if passed == rank {
          digest.add(ends: key)
          digest.add(ends: value)
        }
        passed += 1
        return passed <= rank
      }
    }

    /// Visits records until `body` says no.
    @inline(__always)
    private func visit(
      from start: UnsafeRawBufferPointer?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
    ) throws {
      var (key, value) = (WT_ITEM(), WT_ITEM())
      var code: Int32
      if let start {
        key = WT_ITEM(start)
        wt_set_key(cursor, &key)
        var order: Int32 = 0
        code = cursor.pointee.search_near(cursor, &order)
        if code == 0, order < 0 { code = cursor.pointee.next(cursor) }
      } else {
        code = cursor.pointee.next(cursor)
      }
      while code == 0 {
        try wiredTiger(wt_get_key(cursor, &key))
        try wiredTiger(wt_get_value(cursor, &value))
        guard body(key.bytes, value.bytes) else { break }
        code = cursor.pointee.next(cursor)
      }
      guard code == 0 || code == WT_NOTFOUND else { return try wiredTiger(code) }
      try wiredTiger(cursor.pointee.reset(cursor))
    }

    // MARK: Writing

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
      var (key, value) = (WT_ITEM(key), WT_ITEM(value))
      wt_set_key(cursor, &key)
      wt_set_value(cursor, &value)
      try wiredTiger(cursor.pointee.insert(cursor))
    }

    func delete(_ key: UnsafeRawBufferPointer) throws {
      var key = WT_ITEM(key)
      wt_set_key(cursor, &key)
      try wiredTiger(cursor.pointee.remove(cursor))
    }
  }

  /// A load: keys in order through a bulk cursor, others in batches.
  private final class WiredTigerLoad: PeerWriter {
    private let session: WiredTigerSession
    private var waiting = 0
    private var appends = false

    init(_ session: WiredTigerSession) { self.session = session }

    func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
      if !appends { try session.appending(true) }
      appends = true
      try session.put(key, value)
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
      if waiting == 0 { try session.begin() }
      try session.put(key, value)
      waiting += 1
      if waiting == loadBatch { try finish() }
    }

    func delete(_ key: UnsafeRawBufferPointer) throws { try session.delete(key) }

    func finish() throws {
      if waiting > 0 { try session.commit(durable: false) }
      if appends { try session.appending(false) }
      (waiting, appends) = (0, false)
    }
  }

  private func wiredTiger(_ code: Int32) throws {
    guard code == 0 else { throw BenchmarkError("WiredTiger: " + String(cString: wiredtiger_strerror(code))) }
  }

  extension WT_ITEM {
    @inline(__always)
    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
      self.init()
      (data, size) = (bytes.baseAddress, bytes.count)
    }

    @inline(__always)
    fileprivate var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: data, count: size) }
  }
#endif
