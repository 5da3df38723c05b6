#if canImport(CTkrzw)
  import BenchmarkHarness
  import CTkrzw
  import EngineBenchmarks
  import Foundation

  /// Tkrzw's tree database through its C API, one object for all threads.
  ///
  /// As its author advises where commits have to be whole: pages are appended and not overwritten, and a damaged file is
  /// restored to the last synchronization, so that one is a commit. A durable commit is a hard one, with the file synced.
  /// Without sync there is none, as it would look at all cached pages: these changes stay in the page cache of the process,
  /// which promises less than the other peers do. A cache that holds all pages, and buckets for all of them. There are no
  /// transactions, and so no snapshots either, and what a commit has written so far is seen by everybody: the rows that need
  /// either are left out. A store is brought to rest by rebuilding it, which drops replaced pages.
  final class TkrzwPeer: EnginePeer {
    private let access: TkrzwAccess
    private let writing: NSLock
    private let owns: Bool
    private var isDurable = false

    init(directory: String, records: Int) throws {
      let settings = """
        update_mode=UPDATE_APPENDING,restore_mode=RESTORE_SYNC,max_cached_pages=\(max(100_000, records / 8)),\
        num_buckets=\(max(131_101, records / 8))
        """
      guard let opened = tkrzw_dbm_open(directory + "/records.tkt", true, settings) else {
        throw TkrzwAccess.failure
      }
      (access, writing, owns) = (TkrzwAccess(opened), NSLock(), true)
    }

    private init(sharing other: TkrzwPeer) {
      (access, writing, owns) = (TkrzwAccess(other.access.database), other.writing, false)
    }

    static var hasSnapshots: Bool { false }

    func forAnotherThread() -> any EnginePeer { TkrzwPeer(sharing: self) }

    func makeCommits(durable: Bool) { isDurable = durable }

    func read(_ body: (any PeerReader) throws -> Void) throws { try body(access) }

    func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
      try access.get(key, into: &digest)
    }

    func write(_ body: (any PeerWriter) throws -> Void) throws {
      writing.lock()
      defer { writing.unlock() }
      try body(access)
      if isDurable { try TkrzwAccess.check(tkrzw_dbm_synchronize(access.database, true, nil, nil, "")) }
    }

    /// Handed to the system in the end.
    func load(_ body: (any PeerWriter) throws -> Void) throws {
      try body(access)
      try TkrzwAccess.check(tkrzw_dbm_synchronize(access.database, false, nil, nil, ""))
    }

    func settle() throws {
      access.close()
      try TkrzwAccess.check(tkrzw_dbm_rebuild(access.database, ""))
      try TkrzwAccess.check(tkrzw_dbm_synchronize(access.database, true, nil, nil, ""))
    }

    func close() throws {
      access.close()
      if owns { try TkrzwAccess.check(tkrzw_dbm_close(access.database)) }
    }
  }

  /// One thread's way to the database, with an iterator.
  private final class TkrzwAccess: PeerReader, PeerWriter {
    let database: UnsafeMutablePointer<TkrzwDBM>
    private var iterator: UnsafeMutablePointer<TkrzwDBMIter>?

    init(_ database: UnsafeMutablePointer<TkrzwDBM>) { self.database = database }

    func close() {
      if let iterator { tkrzw_dbm_iter_free(iterator) }
      iterator = nil
    }

    static var failure: BenchmarkError {
      BenchmarkError("Tkrzw: " + (tkrzw_get_last_status_message().map { String(cString: $0) } ?? "?"))
    }

    static func check(_ succeeded: Bool) throws {
      guard succeeded else { throw failure }
    }

    func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
      var visit = RecordVisit(digest: digest)
      let succeeded = tkrzw_dbm_process(
        database, key.characters, Int32(truncatingIfNeeded: key.count),
        { visit, _, _, value, valueCount, _ in
          RecordVisit.at(visit, leaving: tkrzw_no_operation()) { visit in
            guard let value else { return false }
            visit.digest.add(ends: UnsafeRawBufferPointer(start: value, count: Int(valueCount)))
            return true
          }
        }, &visit, false)
      guard succeeded, visit.found == 1 else { throw missingKey("Tkrzw") }
      digest = visit.digest
    }

    func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int {
      var visit = RecordVisit(digest: digest, limit: limit)
      defer { digest = visit.digest }
      return try walk(from: key, &visit) { visit, key, keyCount, value, valueCount, _ in
        guard let value else { return tkrzw_no_operation() }
        return RecordVisit.at(visit, leaving: tkrzw_no_operation()) { visit in
          visit.digest.add(ends: UnsafeRawBufferPointer(start: key, count: Int(keyCount)))
          visit.digest.add(ends: UnsafeRawBufferPointer(start: value, count: Int(valueCount)))
          return true
        }
      }
    }

    func scanWholly(into digest: inout ReadDigest) throws {
      var visit = RecordVisit(digest: digest)
      _ = try walk(from: nil, &visit) { visit, key, keyCount, value, valueCount, _ in
        guard let value else { return tkrzw_no_operation() }
        return RecordVisit.at(visit, leaving: tkrzw_no_operation()) { visit in
          visit.digest.add(all: UnsafeRawBufferPointer(start: key, count: Int(keyCount)))
          visit.digest.add(all: UnsafeRawBufferPointer(start: value, count: Int(valueCount)))
          return true
        }
      }
      digest = visit.digest
    }

    func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int {
      var visit = RecordVisit(digest: ReadDigest(), upper: upper)
      return try walk(from: lower, &visit) { visit, key, keyCount, _, _, _ in
        RecordVisit.at(visit, leaving: tkrzw_no_operation()) {
          UnsafeRawBufferPointer(start: key, count: Int(keyCount)).precedes($0.upper)
        }
      }
    }

    func entry(at rank: Int, into digest: inout ReadDigest) throws {
      var visit = RecordVisit(digest: digest, limit: rank + 1)
      _ = try walk(from: nil, &visit) { visit, key, keyCount, value, valueCount, _ in
        RecordVisit.at(visit, leaving: tkrzw_no_operation()) { visit in
          guard visit.found + 1 == visit.limit else { return true }
          visit.digest.add(ends: UnsafeRawBufferPointer(start: key, count: Int(keyCount)))
          visit.digest.add(ends: UnsafeRawBufferPointer(start: value, count: Int(valueCount)))
          return true
        }
      }
      digest = visit.digest
    }

    /// Visits records in order. All of them are visited in one call, which is faster than an iterator, and makes one visit
    /// without a record before them and one after them.
    /// - Returns: How many there were.
    private func walk(
      from start: UnsafeRawBufferPointer?, _ visit: inout RecordVisit, _ body: tkrzw_record_processor
    ) throws -> Int {
      if start == nil, visit.limit == .max {
        try Self.check(tkrzw_dbm_process_each(database, body, &visit, false))
        return visit.found
      }
      if iterator == nil { iterator = tkrzw_dbm_make_iterator(database) }
      if let start {
        try Self.check(
          tkrzw_dbm_iter_jump(iterator, start.characters, Int32(truncatingIfNeeded: start.count)))
      } else {
        try Self.check(tkrzw_dbm_iter_first(iterator))
      }
      while !visit.isDone, tkrzw_dbm_iter_process(iterator, body, &visit, false), !visit.isDone {
        guard tkrzw_dbm_iter_next(iterator) else { break }
      }
      return visit.found
    }

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
      try Self.check(
        tkrzw_dbm_set(
          database, key.characters, Int32(truncatingIfNeeded: key.count), value.characters,
          Int32(truncatingIfNeeded: value.count), true))
    }

    func delete(_ key: UnsafeRawBufferPointer) throws {
      try Self.check(tkrzw_dbm_remove(database, key.characters, Int32(truncatingIfNeeded: key.count)))
    }
  }
#endif
