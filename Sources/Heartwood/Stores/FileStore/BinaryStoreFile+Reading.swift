import HeartwoodBytes
import HeartwoodEngine
import HeartwoodFiles

/// Reading: each block is checked before its bytes are used, and memory grows only with bytes that are there.
extension BinaryStoreFile {
  /// Why bytes are no binary store.
  struct Damage: Error {
    let message: String
  }

  /// The header, and a seed that is different for each file.
  ///
  /// - Throws: `Damage`; `HeartwoodError` for a file of a newer version.
  static func header(_ input: inout FileInput) throws -> (StoreFileHeader, seed: UInt64) {
    let bytes = try input.next(headerBytes)
    guard bytes.count == headerBytes else {
      throw Damage(message: "it ends in its first \(headerBytes) bytes")
    }
    return try bytes.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      guard try reader.readBytes(magic.count).elementsEqual(magic) else {
        throw Damage(message: "it does not begin as one")
      }
      let found = try reader.readUInt32()
      guard found == format else {
        throw HeartwoodError(
          .persistentStoreOpen,
          "it is in format \(found) of binary stores, which this version does not know; use a newer one")
      }
      try reader.skip(4)
      let identifier = StoreIdentifier(low: try reader.readUInt64(), high: try reader.readUInt64())
      let saves = try reader.readUInt64()
      let seed = XXH3.hash(UnsafeRawBufferPointer(rebasing: bytes[..<(headerBytes - 8)]), seed: 0)
      guard try reader.readUInt64() == seed else { throw Damage(message: "its header is damaged") }
      return (StoreFileHeader(identifier: identifier, saves: saves), seed)
    }
  }

  /// Calls `body` with each entry in order. The bytes are valid until it returns.
  static func readEntries(
    _ input: inout FileInput, seed: UInt64,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var blocks = BlockReader(seed: seed)
    var count: UInt64 = 0
    var last: [UInt8] = []
    while let keyCount = try blocks.number(&input) {
      guard let valueCount = try blocks.number(&input), keyCount > 0, keyCount <= 1 << 16,
        valueCount <= 1 << 40
      else { throw blocks.damage("an entry has impossible sizes") }
      let isInOrder = try blocks.withBytes(Int(keyCount) + Int(valueCount), &input) { bytes in
        let key = UnsafeRawBufferPointer(rebasing: bytes[..<Int(keyCount)])
        guard last.lexicographicallyPrecedes(key) else { return false }
        try body(key, UnsafeRawBufferPointer(rebasing: bytes[Int(keyCount)...]))
        last = Array(key)
        return true
      }
      guard isInOrder else { throw blocks.damage("its keys are not in order") }
      count += 1
    }
    guard blocks.announced == count else {
      throw blocks.damage("it has \(count) entries, not as many as it says")
    }
  }
}

/// Joins the bytes of blocks.
private struct BlockReader {
  private let seed: UInt64
  private var number: UInt64 = 0
  private var bytes: [UInt8] = []
  private var position = 0
  /// The number of entries that the end announces; nil before the end.
  private(set) var announced: UInt64?

  init(seed: UInt64) { self.seed = seed }

  func damage(_ what: String) -> BinaryStoreFile.Damage {
    BinaryStoreFile.Damage(message: "\(what), near block \(number)")
  }

  /// Reads the next block.
  ///
  /// - Returns: False after the last.
  private mutating func fill(_ input: inout FileInput) throws -> Bool {
    guard announced == nil else { return false }
    let head = try input.next(BinaryStoreFile.blockHeaderBytes)
    guard head.count == BinaryStoreFile.blockHeaderBytes else { throw damage("it ends too early") }
    let (count, checksum) = try head.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      return (Int(try reader.readUInt32()), try reader.readUInt64())
    }
    guard count <= BinaryStoreFile.largestBlock else { throw damage("a block has an impossible size") }
    let block = try input.next(count == 0 ? 8 : count)
    guard block.count == (count == 0 ? 8 : count) else { throw damage("it ends too early") }
    guard block.withUnsafeBytes({ XXH3.hash($0, seed: seed &+ number) }) == checksum else {
      throw damage("bytes are not what was written")
    }
    number += 1
    guard count > 0 else {
      announced = try block.withUnsafeBytes { bytes in
        var reader = ByteReader(bytes)
        return try reader.readUInt64()
      }
      guard try input.next(1).isEmpty else { throw damage("something is behind its end") }
      return false
    }
    bytes.removeFirst(position)
    position = 0
    bytes.append(contentsOf: block)
    return true
  }

  /// The next number; nil at the end.
  mutating func number(_ input: inout FileInput) throws -> UInt64? {
    while bytes.count - position < 10, try fill(&input) {}
    guard bytes.count > position else { return nil }
    return try bytes.withUnsafeBytes { bytes in
      guard let (value, next) = Varint.read(from: bytes, at: position) else {
        throw damage("a size is damaged")
      }
      position = next
      return value
    }
  }

  mutating func withBytes<Result>(
    _ count: Int, _ input: inout FileInput, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    while bytes.count - position < count {
      guard try fill(&input) else { throw damage("an entry is longer than the rest") }
    }
    defer { position += count }
    return try bytes.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[position..<position + count]))
    }
  }
}
