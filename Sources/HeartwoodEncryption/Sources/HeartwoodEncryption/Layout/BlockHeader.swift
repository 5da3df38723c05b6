/// The header before a sealed block. All of it but the tag is what the tag covers beside the bytes.
struct BlockHeader: Hashable, Sendable {
  static let byteCount = FileLayout.blockHeaderBytes
  static let coveredBytes = 48
  static let endFlag: UInt32 = 1

  /// Random for each writer of the file: the key of its blocks is derived with it.
  var session: SessionSalt
  /// Counts the blocks that the writer has sealed.
  var counter: UInt64
  /// Which block of the file it is.
  var block: Int64
  /// Of two copies of a block, that with the higher version counts.
  var version: UInt64
  /// How many bytes are sealed. Those after them are zeros.
  var length: Int
  var flags: UInt32

  /// Whether the file ended here when the block was sealed.
  var isEnd: Bool { flags & Self.endFlag != 0 }

  /// Whether bytes are of a block that was never written.
  static func isHole(_ bytes: UnsafeRawBufferPointer) -> Bool {
    !bytes.prefix(byteCount).contains { $0 != 0 }
  }

  init(session: SessionSalt, counter: UInt64, block: Int64, version: UInt64, length: Int, isEnd: Bool) {
    self.session = session
    self.counter = counter
    self.block = block
    self.version = version
    self.length = length
    flags = isEnd ? Self.endFlag : 0
  }

  /// Nil if the bytes cannot be a header.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.byteCount else { return nil }
    session = SessionSalt(
      first: bytes.littleEndian(at: 0), second: bytes.littleEndian(at: 8))
    counter = bytes.littleEndian(at: 16)
    block = Int64(bitPattern: bytes.littleEndian(at: 24))
    version = bytes.littleEndian(at: 32)
    let length: UInt32 = bytes.littleEndian(at: 40)
    flags = bytes.littleEndian(at: 44)
    guard length <= UInt32(FileLayout.blockBytes) else { return nil }
    self.length = Int(length)
  }

  /// Writes everything but the tag.
  func encode(to target: UnsafeMutableRawBufferPointer) {
    target.put(session.first, at: 0)
    target.put(session.second, at: 8)
    target.put(counter, at: 16)
    target.put(UInt64(bitPattern: block), at: 24)
    target.put(version, at: 32)
    target.put(UInt32(length), at: 40)
    target.put(flags, at: 44)
  }

  /// Calls a function with the nonce of 12 bytes: the counter, after zeros.
  func withNonce<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withUnsafeTemporaryAllocation(byteCount: 12, alignment: 8) { nonce in
      nonce.put(UInt32(0), at: 0)
      nonce.put(counter, at: 4)
      return try body(UnsafeRawBufferPointer(nonce))
    }
  }
}

/// 16 random bytes.
struct SessionSalt: Hashable, Sendable {
  var first: UInt64
  var second: UInt64

  var bytes: [UInt8] {
    var writer = FieldWriter()
    writer.number(first)
    writer.number(second)
    return writer.result
  }
}

extension UnsafeRawBufferPointer {
  func littleEndian<Number: FixedWidthInteger>(at offset: Int) -> Number {
    Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}

extension UnsafeMutableRawBufferPointer {
  func put<Number: FixedWidthInteger>(_ value: Number, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
  }
}
