import BenchmarkHarness
import CLevelDB
import EngineBenchmarks
import Foundation

/// LevelDB through its C API: write batches, snapshots, iterators. Not durable means a log without sync.
///
/// As its authors advise: bloom filters of 10 bits, a block cache that holds everything, a large write buffer. No
/// compression: the values look random.
final class LevelDBPeer: EnginePeer {
  private let store: LevelDBStore
  private let batch = leveldb_writebatch_create()
  private let writeOptions = leveldb_writeoptions_create()
  private let newest = leveldb_readoptions_create()

  convenience init(directory: String, records: Int) throws {
    self.init(try LevelDBStore(directory: directory, records: records))
  }

  private init(_ store: LevelDBStore) { self.store = store }

  deinit {
    leveldb_writebatch_destroy(batch)
    leveldb_writeoptions_destroy(writeOptions)
    leveldb_readoptions_destroy(newest)
  }

  func forAnotherThread() -> any EnginePeer { LevelDBPeer(store) }

  func makeCommits(durable: Bool) { leveldb_writeoptions_set_sync(writeOptions, durable ? 1 : 0) }

  func read(_ body: (any PeerReader) throws -> Void) throws { try body(LevelDBReader(store)) }

  func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    try LevelDBReader.get(key, of: store.database, newest, into: &digest)
  }

  func write(_ body: (any PeerWriter) throws -> Void) throws {
    leveldb_writebatch_clear(batch)
    try body(LevelDBBatch(batch))
    try commit()
  }

  private func commit() throws {
    try leveldb { leveldb_write(store.database, writeOptions, batch, &$0) }
  }

  func load(_ body: (any PeerWriter) throws -> Void) throws {
    leveldb_writebatch_clear(batch)
    let writer = LevelDBBatch(batch) { try self.commit() }
    try body(writer)
    try writer.finish()
  }

  func settle() { leveldb_compact_range(store.database, nil, 0, nil, 0) }

  /// The database is closed with the last peer that has it.
  func close() {}
}

/// An open LevelDB database with everything that it was opened with.
private final class LevelDBStore {
  let database: OpaquePointer
  private let options = leveldb_options_create()
  private let filter = leveldb_filterpolicy_create_bloom(10)
  private let cache: OpaquePointer?

  init(directory: String, records: Int) throws {
    cache = leveldb_cache_create_lru(256 << 20 + records * 256)
    leveldb_options_set_create_if_missing(options, 1)
    leveldb_options_set_filter_policy(options, filter)
    leveldb_options_set_cache(options, cache)
    leveldb_options_set_write_buffer_size(options, 64 << 20)
    leveldb_options_set_compression(options, Int32(leveldb_no_compression))
    let settings = options
    let opened = try leveldb { leveldb_open(settings, directory + "/records", &$0) }
    guard let opened else { throw BenchmarkError("LevelDB opens no database") }
    database = opened
  }

  deinit {
    leveldb_close(database)
    leveldb_options_destroy(options)
    leveldb_cache_destroy(cache)
    leveldb_filterpolicy_destroy(filter)
  }
}

/// One snapshot, and an iterator over it for all scans.
private final class LevelDBReader: PeerReader {
  private let store: LevelDBStore
  private let snapshot: OpaquePointer?
  private let options = leveldb_readoptions_create()
  private lazy var iterator = leveldb_create_iterator(store.database, options)
  private var hasIterator = false

  init(_ store: LevelDBStore) {
    self.store = store
    snapshot = leveldb_create_snapshot(store.database)
    leveldb_readoptions_set_snapshot(options, snapshot)
  }

  deinit {
    if hasIterator { leveldb_iter_destroy(iterator) }
    leveldb_readoptions_destroy(options)
    leveldb_release_snapshot(store.database, snapshot)
  }

  @inline(__always)
  static func get(
    _ key: UnsafeRawBufferPointer, of database: OpaquePointer, _ options: OpaquePointer?,
    into digest: inout ReadDigest
  ) throws {
    var count = 0
    let found = try leveldb { leveldb_get(database, options, key.characters, key.count, &count, &$0) }
    guard let found else { throw missingKey("LevelDB") }
    defer { leveldb_free(found) }
    digest.add(ends: UnsafeRawBufferPointer(start: found, count: count))
  }

  func get(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    try Self.get(key, of: store.database, options, into: &digest)
  }

  func scan(from key: UnsafeRawBufferPointer?, limit: Int, into digest: inout ReadDigest) throws -> Int {
    try visit(from: key, limit: limit) { key, value in
      digest.add(ends: key)
      digest.add(ends: value)
      return true
    }
  }

  func scanWholly(into digest: inout ReadDigest) throws {
    _ = try visit(from: nil, limit: .max) { key, value in
      digest.add(all: key)
      digest.add(all: value)
      return true
    }
  }

  func count(from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer) throws -> Int {
    try visit(from: lower, limit: .max) { key, _ in key.precedes(upper) }
  }

  func entry(at rank: Int, into digest: inout ReadDigest) throws {
    var passed = 0
    _ = try visit(from: nil, limit: .max) { key, value in
      if passed == rank {
        digest.add(ends: key)
        digest.add(ends: value)
      }
      passed &+= 1
      return passed <= rank
    }
  }

  /// Visits records until `body` says no.
  /// - Returns: For how many it said yes.
  @inline(__always)
  private func visit(
    from start: UnsafeRawBufferPointer?, limit: Int,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) throws -> Int {
    hasIterator = true
    let iterator = iterator
    if let start {
      leveldb_iter_seek(iterator, start.characters, start.count)
    } else {
      leveldb_iter_seek_to_first(iterator)
    }
    var found = 0
    while leveldb_iter_valid(iterator) != 0 {
      var (keyBytes, valueBytes) = (0, 0)
      let key = UnsafeRawBufferPointer(start: leveldb_iter_key(iterator, &keyBytes), count: keyBytes)
      let value = UnsafeRawBufferPointer(start: leveldb_iter_value(iterator, &valueBytes), count: valueBytes)
      guard body(key, value) else { return found }
      found &+= 1
      if found == limit { break }
      leveldb_iter_next(iterator)
    }
    try leveldb { leveldb_iter_get_error(iterator, &$0) }
    return found
  }
}

/// A transaction: a batch that is written at its end, or one batch after the other for a load.
private final class LevelDBBatch: PeerWriter {
  private let batch: OpaquePointer?
  private let commit: (() throws -> Void)?
  private var waiting = 0

  init(_ batch: OpaquePointer?, commit: (() throws -> Void)? = nil) {
    self.batch = batch
    self.commit = commit
  }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    leveldb_writebatch_put(batch, key.characters, key.count, value.characters, value.count)
    waiting += 1
    if waiting >= loadBatch { try finish() }
  }

  func delete(_ key: UnsafeRawBufferPointer) {
    leveldb_writebatch_delete(batch, key.characters, key.count)
  }

  /// Commits what waits, where this is a load.
  func finish() throws {
    guard let commit, waiting > 0 else { return }
    try commit()
    leveldb_writebatch_clear(batch)
    waiting = 0
  }
}

/// Calls a function that reports its failure as text.
@discardableResult
@inline(__always)
private func leveldb<Result>(
  _ call: (inout UnsafeMutablePointer<CChar>?) throws -> Result
) throws -> Result {
  var failure: UnsafeMutablePointer<CChar>?
  let result = try call(&failure)
  guard let failure else { return result }
  defer { leveldb_free(failure) }
  throw BenchmarkError("LevelDB: " + String(cString: failure))
}
