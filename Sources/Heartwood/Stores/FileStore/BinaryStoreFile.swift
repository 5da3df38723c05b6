import HeartwoodBytes
import HeartwoodEngine
import HeartwoodFiles

/// The binary form of a store in one file: its keys and values in their order, in blocks with checksums. The page "Store kinds as files"
/// describes the bytes.
enum BinaryStoreFile {
  static let magic: [UInt8] = Array("HwBinary".utf8)
  static let format: UInt32 = 1
  static let headerBytes = 48
  static let blockHeaderBytes = 12
  /// The largest number of bytes of entries in one block.
  static let largestBlock = 1 << 20

  /// Whether an entry belongs to a file: the history does not.
  static func keeps(_ key: UnsafeRawBufferPointer) -> Bool {
    switch key.first {
    case KeySpace.history, KeySpace.newestHistory, KeySpace.deletedHistory: false
    default: true
    }
  }
}

/// Writing.
extension BinaryStoreFile {
  static func write(
    _ reader: some KeyValueReader, _ identifier: StoreIdentifier, saves: UInt64, to output: inout FileOutput
  ) throws {
    var header = ByteWriter()
    header.append(magic)
    header.append(format)
    header.append(UInt32(0))
    header.append(identifier.bytes)
    header.append(saves)
    let seed = header.withUnsafeBytes { XXH3.hash($0, seed: 0) }
    header.append(seed)
    try header.withUnsafeBytes { try output.append($0) }

    var blocks = BlockWriter(seed: seed)
    var count: UInt64 = 0
    var start = ByteWriter()
    try reader.scan { key, value in
      guard keeps(key) else { return true }
      count += 1
      start.removeAll()
      start.appendVarint(UInt64(key.count))
      start.appendVarint(UInt64(value.count))
      start.append(key)
      try start.withUnsafeBytes { try blocks.append($0, to: &output) }
      try blocks.append(value, to: &output)
      return true
    }
    try blocks.finish(count, to: &output)
  }

  /// Cuts a stream of bytes into blocks.
  private struct BlockWriter: ~Copyable {
    private let seed: UInt64
    private var number: UInt64 = 0
    private var block = ByteWriter(capacity: BinaryStoreFile.largestBlock)

    init(seed: UInt64) { self.seed = seed }

    mutating func append(_ bytes: UnsafeRawBufferPointer, to output: inout FileOutput) throws {
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(BinaryStoreFile.largestBlock - block.count)
        block.append(UnsafeRawBufferPointer(rebasing: piece))
        rest = rest.dropFirst(piece.count)
        if block.count == BinaryStoreFile.largestBlock { try flush(to: &output) }
      }
    }

    private mutating func flush(to output: inout FileOutput) throws {
      guard block.count > 0 else { return }
      var head = ByteWriter()
      head.append(UInt32(block.count))
      head.append(block.withUnsafeBytes { XXH3.hash($0, seed: seed &+ number) })
      try head.withUnsafeBytes { try output.append($0) }
      try block.withUnsafeBytes { try output.append($0) }
      block.removeAll()
      number += 1
    }

    mutating func finish(_ count: UInt64, to output: inout FileOutput) throws {
      try flush(to: &output)
      var end = ByteWriter()
      end.append(count)
      let checksum = end.withUnsafeBytes { XXH3.hash($0, seed: seed &+ number) }
      var head = ByteWriter()
      head.append(UInt32(0))
      head.append(checksum)
      try head.withUnsafeBytes { try output.append($0) }
      try end.withUnsafeBytes { try output.append($0) }
    }
  }
}

/// The beginning of a file.
struct StoreFileHeader {
  var identifier: StoreIdentifier
  /// How often the store was saved.
  var saves: UInt64
}
