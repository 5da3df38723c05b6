/// An order-sensitive digest of what a peer read: of a record two steps that wait for the step before, so that a row
/// measures the peer and not the digest.
public struct ReadDigest {
  @usableFromInline var state: UInt64 = 0x243F_6A88_85A3_08D3

  /// The digest of nothing.
  @inlinable
  public init() {}

  /// The digest of everything so far.
  @inlinable
  public var value: UInt64 { state }

  /// Takes in a number.
  @inlinable @inline(__always)
  public mutating func add(_ word: UInt64) {
    let turned: UInt64 = (state << 23) | (state >> 41)
    state = (turned ^ word) &* 0x9E37_79B9_7F4A_7C15
  }

  /// Takes in the length and the first and last words of `bytes`, joined before they come to the chain.
  @inlinable @inline(__always)
  public mutating func add(ends bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 8 else { return add(all: bytes) }
    let first = bytes.loadUnaligned(as: UInt64.self) &* 0xC2B2_AE3D_27D4_EB4F
    let last = bytes.loadUnaligned(fromByteOffset: bytes.count &- 8, as: UInt64.self)
    let joined: UInt64 = (first ^ (first >> 32)) &+ last
    add(joined ^ (UInt64(truncatingIfNeeded: bytes.count) << 48))
  }

  /// Takes in every byte.
  @inlinable
  public mutating func add(all bytes: UnsafeRawBufferPointer) {
    add(UInt64(truncatingIfNeeded: bytes.count))
    var offset = 0
    while offset &+ 8 <= bytes.count {
      add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset &+= 8
    }
    for byte in bytes[offset...] { add(UInt64(byte)) }
  }

  /// Takes in every byte of a text in UTF-8.
  @inlinable
  public mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(all: UnsafeRawBufferPointer($0)) }
  }
}
