import BenchmarkHarness
import CRocksDB
import Foundation

/// An open RocksDB database with everything that it was opened with.
///
/// As its authors advise for data that fits into memory: threads for background work, level style compaction with
/// its memory budget, dynamic level sizes, bloom filters of 10 bits, blocks of 16 KiB with hash indexes, a
/// block cache that holds everything. No compression: the values look random.
final class RocksDBStore {
  let database: OpaquePointer
  private let options: OpaquePointer
  private let cache: OpaquePointer?
  private let directory: String
  /// For the load: sorted files are made here, on the same file system, and then moved into the database.
  private var nextFile = 0

  private static let levels = 7
  private static let memtableBytes: UInt64 = 512 << 20

  init(directory: String, records: Int) throws {
    guard let options = rocksdb_options_create() else { throw BenchmarkError("RocksDB makes no options") }
    cache = rocksdb_cache_create_lru(256 << 20 + records * 256)
    Self.set(options, cache)
    self.options = options
    self.directory = directory
    let opened = try rocksdb { rocksdb_open(options, directory + "/records", &$0) }
    guard let opened else { throw BenchmarkError("RocksDB opens no database") }
    database = opened
    if rocksdb_get_latest_sequence_number(opened) == 0 { try Self.leaveSequenceZero(opened) }
  }

  /// A change that leaves nothing: RocksDB 7.8 loses what was ingested into a database without any
  /// change when it is compacted while there is a snapshot of that time (its pull request 13155).
  private static func leaveSequenceZero(_ database: OpaquePointer) throws {
    let options = rocksdb_writeoptions_create()
    defer { rocksdb_writeoptions_destroy(options) }
    try rocksdb { rocksdb_put(database, options, "", 0, "", 0, &$0) }
    try rocksdb { rocksdb_delete(database, options, "", 0, &$0) }
  }

  private static func set(_ options: OpaquePointer, _ cache: OpaquePointer?) {
    rocksdb_options_set_create_if_missing(options, 1)
    rocksdb_options_increase_parallelism(options, Int32(max(2, ProcessInfo.processInfo.activeProcessorCount)))
    rocksdb_options_optimize_level_style_compaction(options, memtableBytes)
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1)
    rocksdb_options_set_bytes_per_sync(options, 1 << 20)
    rocksdb_options_set_compression_per_level(options, [Int32](repeating: 0, count: levels), levels)
    rocksdb_options_set_compression(options, Int32(rocksdb_no_compression))
    let table = rocksdb_block_based_options_create()
    let hashed = Int32(rocksdb_block_based_table_data_block_index_type_binary_search_and_hash)
    rocksdb_block_based_options_set_block_size(table, 16 << 10)
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10))
    rocksdb_block_based_options_set_block_cache(table, cache)
    rocksdb_block_based_options_set_data_block_index_type(table, hashed)
    rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.75)
    rocksdb_options_set_block_based_table_factory(options, table)
    rocksdb_block_based_options_destroy(table)
  }

  deinit {
    rocksdb_close(database)
    rocksdb_options_destroy(options)
    if let cache { rocksdb_cache_destroy(cache) }
  }

  func settle() throws {
    let flush = rocksdb_flushoptions_create()
    defer { rocksdb_flushoptions_destroy(flush) }
    try rocksdb { rocksdb_flush(database, flush, &$0) }
    rocksdb_compact_range(database, nil, 0, nil, 0)
  }

  // MARK: A file of sorted records

  func newSortedFile() throws -> (writer: OpaquePointer, path: String) {
    let environment = rocksdb_envoptions_create()
    defer { rocksdb_envoptions_destroy(environment) }
    guard let writer = rocksdb_sstfilewriter_create(environment, options) else {
      throw BenchmarkError("RocksDB makes no file writer")
    }
    nextFile += 1
    let path = directory + "/sorted-\(nextFile).sst"
    try rocksdb { rocksdb_sstfilewriter_open(writer, path, &$0) }
    return (writer, path)
  }

  func ingest(_ path: String) throws {
    let options = rocksdb_ingestexternalfileoptions_create()
    defer { rocksdb_ingestexternalfileoptions_destroy(options) }
    rocksdb_ingestexternalfileoptions_set_move_files(options, 1)
    try path.withCString { name in
      try rocksdb { rocksdb_ingest_external_file(database, [name], 1, options, &$0) }
    }
  }
}

/// Calls a function that reports its failure as text.
@discardableResult
@inline(__always)
func rocksdb<Result>(_ call: (inout UnsafeMutablePointer<CChar>?) throws -> Result) throws -> Result {
  var failure: UnsafeMutablePointer<CChar>?
  let result = try call(&failure)
  guard let failure else { return result }
  defer { rocksdb_free(failure) }
  throw BenchmarkError("RocksDB: " + String(cString: failure))
}

extension UnsafeRawBufferPointer {
  /// The bytes as C's interfaces want them.
  @inline(__always)
  var characters: UnsafePointer<CChar>? { baseAddress?.assumingMemoryBound(to: CChar.self) }
}
