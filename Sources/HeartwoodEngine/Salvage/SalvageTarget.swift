import HeartwoodFiles

/// The new store, written in transactions of a few mebibytes.
final class SalvageTarget {
  let engine: Engine
  private let path: String
  private let fileSystem: any FileSystem
  private var changes: [Change] = []
  private var bytes = 0

  private enum Change {
    case put([UInt8], [UInt8])
    case delete([UInt8])
    case deleteRange(KeyRange)
  }

  private static let batchBytes = 4 << 20
  private static let batchCount = 16_384
  /// Estimated bytes of memory for a change, besides its key and value.
  private static let changeBytes = 64

  /// - Parameter generation: The new store's transactions have greater numbers.
  /// - Throws: `.exists` if there is a store already.
  init(
    _ path: String, _ options: EngineOptions, _ fileSystem: any FileSystem, after generation: UInt64
  ) throws(EngineError) {
    self.path = path
    self.fileSystem = fileSystem
    var options = options
    options.access = .readWrite
    options.createsStore = true
    try SalvageCreation(path: path, options: options, fileSystem: fileSystem).make(after: generation)
    do throws(EngineError) {
      engine = try Engine(at: path, options: options, fileSystem: fileSystem)
    } catch {
      Self.removeFiles(path, fileSystem)
      throw error
    }
  }

  func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
    try add(.put(Array(key), Array(value)), key.count + value.count)
  }

  /// Applies a record of the log.
  func apply(_ record: Record) throws(EngineError) {
    switch record.operation {
    case Format.putOperation: try put(record.key, record.storedValue)
    case Format.putCompressedOperation:
      guard let value = record.decompressed() else { return }
      try put(record.key, value.bytes.buffer)
    case Format.deleteOperation: try add(.delete(Array(record.key)), record.keyBytes)
    default:
      guard let range = RangeRecord.decode(record) else { return }
      try add(.deleteRange(range), record.keyBytes)
    }
  }

  private func add(_ change: Change, _ count: Int) throws(EngineError) {
    changes.append(change)
    bytes += count + Self.changeBytes
    if bytes >= Self.batchBytes || changes.count >= Self.batchCount { try flush() }
  }

  /// Commits the collected changes.
  func flush() throws(EngineError) {
    guard !changes.isEmpty else { return }
    let batch = changes
    changes.removeAll(keepingCapacity: true)
    bytes = 0
    do {
      try engine.write(durability: .deferred) { transaction in
        for change in batch {
          switch change {
          case .put(let key, let value): try transaction.put(key, value)
          case .delete(let key): try transaction.delete(key)
          case .deleteRange(let range): _ = try transaction.deleteRange(range)
          }
        }
      }
    } catch let error as EngineError {
      throw error
    } catch {
      throw EngineError(
        .inputOutput, "salvaged data could not be written to the new store", file: path, underlying: error)
    }
  }

  /// Number of keys in a range.
  func count(in range: KeyRange) throws(EngineError) -> UInt64 { try engine.snapshot().count(in: range) }

  /// Deletes the new store.
  func discard() {
    try? engine.close()
    Self.removeFiles(path, fileSystem)
  }

  private static func removeFiles(_ path: String, _ fileSystem: any FileSystem) {
    guard let folder = try? fileSystem.openDirectory(path), let names = try? folder.entries() else { return }
    // The anchor first: the remaining files are not a store without it.
    for name in [StoreFolder.anchorName] + names.filter({ SegmentName.parse($0) != nil }) {
      try? folder.unlink(name)
    }
    try? folder.sync()
  }
}
