import BenchmarkHarness
import CRocksDB
import EngineBenchmarks
import Foundation

/// RocksDB through its C API: write batches, snapshots, pinned values, iterators. Not durable means a write-ahead log
/// without sync.
final class RocksDBPeer: EnginePeer {
  private let store: RocksDBStore
  private let batch = rocksdb_writebatch_create()
  private let writeOptions = rocksdb_writeoptions_create()
  private let newest = rocksdb_readoptions_create()

  convenience init(directory: String, records: Int) throws {
    self.init(try RocksDBStore(directory: directory, records: records))
  }

  private init(_ store: RocksDBStore) { self.store = store }

  deinit {
    rocksdb_writebatch_destroy(batch)
    rocksdb_writeoptions_destroy(writeOptions)
    rocksdb_readoptions_destroy(newest)
  }

  func forAnotherThread() -> any EnginePeer { RocksDBPeer(store) }

  func makeCommits(durable: Bool) { rocksdb_writeoptions_set_sync(writeOptions, durable ? 1 : 0) }

  func read(_ body: (any PeerReader) throws -> Void) throws { try body(RocksDBReader(store)) }

  func getNewest(_ key: UnsafeRawBufferPointer, into digest: inout ReadDigest) throws {
    try RocksDBReader.get(key, of: store.database, newest, into: &digest)
  }

  func write(_ body: (any PeerWriter) throws -> Void) throws {
    rocksdb_writebatch_clear(batch)
    try body(RocksDBBatch(batch))
    try commit()
  }

  private func commit() throws {
    try rocksdb { rocksdb_write(store.database, writeOptions, batch, &$0) }
  }

  func load(_ body: (any PeerWriter) throws -> Void) throws {
    let writer = RocksDBLoad(store, batch) { try self.commit() }
    rocksdb_writebatch_clear(batch)
    try body(writer)
    try writer.finish()
  }

  func settle() throws { try store.settle() }

  /// The database is closed with the last peer that has it.
  func close() {}
}

/// One snapshot, and an iterator over it for all scans.
private final class RocksDBReader: PeerReader {
  private let store: RocksDBStore
  private let snapshot: OpaquePointer?
  private let options = rocksdb_readoptions_create()
  private lazy var iterator = rocksdb_create_iterator(store.database, options)
  private var hasIterator = false

  init(_ store: RocksDBStore) {
    self.store = store
    snapshot = rocksdb_create_snapshot(store.database)
    rocksdb_readoptions_set_snapshot(options, snapshot)
    rocksdb_readoptions_set_readahead_size(options, 2 << 20)
  }

  deinit {
    if hasIterator { rocksdb_iter_destroy(iterator) }
    rocksdb_readoptions_destroy(options)
    rocksdb_release_snapshot(store.database, snapshot)
  }

  @inline(__always)
  static func get(
    _ key: UnsafeRawBufferPointer, of database: OpaquePointer, _ options: OpaquePointer?,
    into digest: inout ReadDigest
  ) throws {
    let found = try rocksdb { rocksdb_get_pinned(database, options, key.characters, key.count, &$0) }
    guard let found else { throw missingKey("RocksDB") }
    defer { rocksdb_pinnableslice_destroy(found) }
    var count = 0
    let start = rocksdb_pinnableslice_value(found, &count)
    digest.add(ends: UnsafeRawBufferPointer(start: start, count: count))
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
      rocksdb_iter_seek(iterator, start.characters, start.count)
    } else {
      rocksdb_iter_seek_to_first(iterator)
    }
    var found = 0
    while rocksdb_iter_valid(iterator) != 0 {
      var (keyBytes, valueBytes) = (0, 0)
      let key = UnsafeRawBufferPointer(start: rocksdb_iter_key(iterator, &keyBytes), count: keyBytes)
      let value = UnsafeRawBufferPointer(start: rocksdb_iter_value(iterator, &valueBytes), count: valueBytes)
      guard body(key, value) else { return found }
      found &+= 1
      if found == limit { break }
      rocksdb_iter_next(iterator)
    }
    try rocksdb { rocksdb_iter_get_error(iterator, &$0) }
    return found
  }
}

/// A transaction: a batch that is written at its end.
private final class RocksDBBatch: PeerWriter {
  private let batch: OpaquePointer?

  init(_ batch: OpaquePointer?) { self.batch = batch }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    rocksdb_writebatch_put(batch, key.characters, key.count, value.characters, value.count)
  }

  func delete(_ key: UnsafeRawBufferPointer) {
    rocksdb_writebatch_delete(batch, key.characters, key.count)
  }
}

/// A load: what comes in order goes into a sorted file that the database takes over, the rest into batches.
private final class RocksDBLoad: PeerWriter {
  private let store: RocksDBStore
  private let batch: OpaquePointer?
  private let commit: () throws -> Void
  private var file: (writer: OpaquePointer, path: String)?
  private var waiting = 0

  init(_ store: RocksDBStore, _ batch: OpaquePointer?, commit: @escaping () throws -> Void) {
    self.store = store
    self.batch = batch
    self.commit = commit
  }

  deinit { if let file { rocksdb_sstfilewriter_destroy(file.writer) } }

  func append(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    if file == nil { file = try store.newSortedFile() }
    try rocksdb {
      rocksdb_sstfilewriter_put(
        file?.writer, key.characters, key.count, value.characters, value.count, &$0)
    }
  }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
    rocksdb_writebatch_put(batch, key.characters, key.count, value.characters, value.count)
    waiting += 1
    if waiting == loadBatch { try commitBatch() }
  }

  func delete(_ key: UnsafeRawBufferPointer) {
    rocksdb_writebatch_delete(batch, key.characters, key.count)
    waiting += 1
  }

  private func commitBatch() throws {
    try commit()
    rocksdb_writebatch_clear(batch)
    waiting = 0
  }

  func finish() throws {
    if waiting > 0 { try commitBatch() }
    guard let file else { return }
    try rocksdb { rocksdb_sstfilewriter_finish(file.writer, &$0) }
    try store.ingest(file.path)
  }
}

/// How many records LevelDB's and RocksDB's own benchmarks put into a batch when they fill a database.
let loadBatch = 1000

extension UnsafeRawBufferPointer {
  @inline(__always)
  func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
    guard let one = baseAddress, let two = other.baseAddress else { return count < other.count }
    let order = memcmp(one, two, Swift.min(count, other.count))
    return order == 0 ? count < other.count : order < 0
  }
}
