import HeartwoodBytes

/// Compresses the values of a transaction. One thread at a time.
final class ValueCompressor {
  /// Shorter values are stored as they are.
  let shortest: Int
  private var compressor = LZ4Compressor()
  private var memory = OwnedBytes(count: 4096)

  /// Bytes of the memory that are kept between transactions.
  private static let keptBytes = 64 << 10

  init(shortest: Int) { self.shortest = shortest }

  /// The bytes that are stored for a value, valid until the next call; nil if they would not be shorter by an eighth.
  func compressed(_ value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard value.count >= shortest, value.count <= Format.compressedLimit else { return nil }
    let limit = value.count - value.count / 8
    if memory.bytes.count < limit { memory = OwnedBytes(count: max(limit, 2 * memory.bytes.count)) }
    let target = memory.writable.bytes(0, limit)
    let start = target.setVarint(0, UInt64(value.count))
    guard let count = target.bytes(from: start).compress(value, with: &compressor) else { return nil }
    return target.bytes.bytes(0, start + count).buffer
  }

  /// Frees the memory that long values needed.
  func trim() {
    if memory.bytes.count > Self.keptBytes { memory = OwnedBytes(count: Self.keptBytes) }
  }
}

extension EngineOptions {
  /// Shorter values never become shorter by much.
  private static let shortestCompressed = 32

  /// The compressor of values; nil if none are compressed.
  var compressor: ValueCompressor? {
    guard case .values(let count) = compression else { return nil }
    return ValueCompressor(shortest: max(count, Self.shortestCompressed))
  }

  /// The features of a store that is written with these options.
  var features: StoreFeatures { compression == .none ? [] : [.compressedValues] }
}
