#if canImport(CKyotoCabinet)
  import BenchmarkHarness
  import CKyotoCabinet
  import EngineBenchmarks
  import Foundation

  /// Kyoto Cabinet's tree database through its C API, one object for all threads.
  ///
  /// As its author advises: linear collision chains, buckets for all pages, a mapped file and a page cache that hold
  /// everything. A durable commit is a hard transaction, whose log and file are synced. Without sync there is no transaction:
  /// it would look at all cached pages, twice, which takes milliseconds. So these changes stay in the page cache of the
  /// process, which promises less than the other peers do. There are no snapshots, and what a commit has written so far is
  /// seen by everybody, so the rows that need either are left out. Writers wait for one another here, as the library asks
  /// again and again.
  final class KyotoCabinetPeer: EnginePeer {
    private let database: OpaquePointer
    private let writing: NSLock
    private let access: KyotoCabinetAccess
    private let owns: Bool
    private var isDurable = false

    init(directory: String, records: Int) throws {
      let (mapped, cached) = (1 << 30 + records * 512, 256 << 20 + records * 512)
      let path =
        "\(directory)/records.kct#opts=l#bnum=\(max(65_536, records / 8))#msiz=\(mapped)#pccap=\(cached)"
      guard let database = kcdbnew().map(OpaquePointer.init) else {
        throw BenchmarkError("Kyoto Cabinet makes no database")
      }
      self.database = database
      (writing, owns) = (NSLock(), true)
      access = KyotoCabinetAccess(database)
      try access.check(kcdbopen(access.database, path, UInt32(KCOWRITER | KCOCREATE)))
    }

    private init(sharing other: KyotoCabinetPeer) {
      (database, writing, owns) = (other.database, other.writing, false)
      access = KyotoCabinetAccess(database)
    }

    static var hasSnapshots: Bool { false }

    func forAnotherThread() -> any EnginePeer { KyotoCabinetPeer(sharing: self) }

    func makeCommits(durable: Bool) { isDurable = durable }

    func read(_ body: (any PeerReader) throws -> Void) throws { try body(access) }

    func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
      try access.get(key, into: &digest)
    }

    func write(_ body: (any PeerWriter) throws -> Void) throws {
      writing.lock()
      defer { writing.unlock() }
      guard isDurable else { return try body(access) }
      try access.check(kcdbbegintran(access.database, 1))
      do { try body(access) } catch {
        kcdbendtran(access.database, 0)
        throw error
      }
      try access.check(kcdbendtran(access.database, 1))
    }

    /// Without a transaction, whose log would hold all pages, and then handed to the system.
    func load(_ body: (any PeerWriter) throws -> Void) throws {
      try body(access)
      try access.check(kcdbsync(access.database, 0, nil, nil))
    }

    func settle() throws { try access.check(kcdbsync(access.database, 1, nil, nil)) }

    func close() throws {
      access.close()
      guard owns else { return }
      try access.check(kcdbclose(access.database))
      kcdbdel(access.database)
    }
  }

  /// One thread's way to the database, with a cursor.
  private final class KyotoCabinetAccess: PeerReader, PeerWriter {
    let database: UnsafeMutablePointer<KCDB>
    private lazy var cursor = kcdbcursor(database)
    private var hasCursor = false
    private let value = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)

    init(_ database: OpaquePointer) { self.database = UnsafeMutablePointer(database) }

    deinit { value.deallocate() }

    func close() {
      if hasCursor { kccurdel(cursor) }
      hasCursor = false
    }

    func check(_ succeeded: Int32) throws {
      guard succeeded != 0 else {
        throw BenchmarkError("Kyoto Cabinet: " + (kcdbemsg(database).map { String(cString: $0) } ?? "?"))
      }
    }

    func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
      let place = value.baseAddress?.assumingMemoryBound(to: CChar.self)
      let count = Int(kcdbgetbuf(database, key.characters, key.count, place, value.count))
      guard count >= 0, count <= value.count else { throw missingKey("Kyoto Cabinet") }
      digest.add(ends: UnsafeRawBufferPointer(rebasing: value[..<count]))
    }

    func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int {
      var visit = RecordVisit(digest: digest, limit: limit)
      defer { digest = visit.digest }
      return try walk(from: key, &visit) { key, keyCount, value, valueCount, _, visit in
        RecordVisit.at(visit, leaving: kc_no_operation()) { visit in
          visit.digest.add(ends: UnsafeRawBufferPointer(start: key, count: keyCount))
          visit.digest.add(ends: UnsafeRawBufferPointer(start: value, count: valueCount))
          return true
        }
      }
    }

    func scanWholly(into digest: inout ReadDigest) throws {
      var visit = RecordVisit(digest: digest)
      _ = try walk(from: nil, &visit) { key, keyCount, value, valueCount, _, visit in
        RecordVisit.at(visit, leaving: kc_no_operation()) { visit in
          visit.digest.add(all: UnsafeRawBufferPointer(start: key, count: keyCount))
          visit.digest.add(all: UnsafeRawBufferPointer(start: value, count: valueCount))
          return true
        }
      }
      digest = visit.digest
    }

    func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int {
      var visit = RecordVisit(digest: ReadDigest(), upper: upper)
      return try walk(from: lower, &visit) { key, keyCount, _, _, _, visit in
        RecordVisit.at(visit, leaving: kc_no_operation()) {
          UnsafeRawBufferPointer(start: key, count: keyCount).precedes($0.upper)
        }
      }
    }

    func entry(at rank: Int, into digest: inout ReadDigest) throws {
      var visit = RecordVisit(digest: digest, limit: rank + 1)
      _ = try walk(from: nil, &visit) { key, keyCount, value, valueCount, _, visit in
        RecordVisit.at(visit, leaving: kc_no_operation()) { visit in
          guard visit.found + 1 == visit.limit else { return true }
          visit.digest.add(ends: UnsafeRawBufferPointer(start: key, count: keyCount))
          visit.digest.add(ends: UnsafeRawBufferPointer(start: value, count: valueCount))
          return true
        }
      }
      digest = visit.digest
    }

    /// Visits records in order. All of them are visited in one call, which is faster than a cursor.
    /// - Returns: How many there were.
    private func walk(
      from start: UnsafeRawBufferPointer?, _ visit: inout RecordVisit, _ body: KCVISITFULL
    ) throws -> Int {
      if start == nil, visit.limit == .max {
        try check(kcdbiterate(database, body, &visit, 0))
        return visit.found
      }
      hasCursor = true
      var isThere =
        start.map { kccurjumpkey(cursor, $0.characters, $0.count) } ?? kccurjump(cursor)
      while isThere != 0, !visit.isDone { isThere = kccuraccept(cursor, body, &visit, 0, 1) }
      return visit.found
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
      try check(kcdbset(database, key.characters, key.count, value.characters, value.count))
    }

    func delete(_ key: UnsafeRawBufferPointer) throws {
      try check(kcdbremove(database, key.characters, key.count))
    }
  }
#endif
