/// The 64-bit xxHash: the checksum of tree pages and frames.
///
/// It is the fastest portable hash on whole pages. It detects damage, not attacks.
@usableFromInline
package enum XXH64 {
  @usableFromInline static var prime1: UInt64 { @inline(__always) get { 0x9E37_79B1_85EB_CA87 } }
  @usableFromInline static var prime2: UInt64 { @inline(__always) get { 0xC2B2_AE3D_27D4_EB4F } }
  @usableFromInline static var prime3: UInt64 { @inline(__always) get { 0x1656_67B1_9E37_79F9 } }
  @usableFromInline static var prime4: UInt64 { @inline(__always) get { 0x85EB_CA77_C2B2_AE63 } }
  @usableFromInline static var prime5: UInt64 { @inline(__always) get { 0x27D4_EB2F_1656_67C5 } }

  /// The hash of `bytes` under `seed`; the same on every platform.
  @inlinable
  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    guard let base = bytes.baseAddress else { return avalanche(seed &+ prime5) }
    let count = bytes.count
    var offset = 0
    var hash = seed &+ prime5
    if count >= 32 {
      hash = stripes(base, count: count, seed: seed)
      offset = count & ~31
    }
    return finish(hash &+ UInt64(truncatingIfNeeded: count), base, from: offset, to: count)
  }

  /// Four independent lanes of 8 bytes, so that the processor works on them at the same time.
  @inlinable @inline(__always)
  static func stripes(_ base: UnsafeRawPointer, count: Int, seed: UInt64) -> UInt64 {
    var lane1 = seed &+ prime1 &+ prime2
    var lane2 = seed &+ prime2
    var lane3 = seed
    var lane4 = seed &- prime1
    var offset = 0
    while offset &+ 32 <= count {
      lane1 = round(lane1, base.littleEndian64(offset))
      lane2 = round(lane2, base.littleEndian64(offset &+ 8))
      lane3 = round(lane3, base.littleEndian64(offset &+ 16))
      lane4 = round(lane4, base.littleEndian64(offset &+ 24))
      offset &+= 32
    }
    var hash = lane1.rotated(1) &+ lane2.rotated(7) &+ lane3.rotated(12) &+ lane4.rotated(18)
    hash = merge(hash, lane1)
    hash = merge(hash, lane2)
    hash = merge(hash, lane3)
    return merge(hash, lane4)
  }

  /// Hashes the bytes after the stripes, fewer than 32.
  @inlinable @inline(__always)
  static func finish(_ start: UInt64, _ base: UnsafeRawPointer, from: Int, to end: Int) -> UInt64 {
    var hash = start
    var offset = from
    while offset &+ 8 <= end {
      hash = (hash ^ round(0, base.littleEndian64(offset))).rotated(27) &* prime1 &+ prime4
      offset &+= 8
    }
    if offset &+ 4 <= end {
      hash = (hash ^ (UInt64(base.littleEndian32(offset)) &* prime1)).rotated(23) &* prime2 &+ prime3
      offset &+= 4
    }
    while offset < end {
      let byte = UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
      hash = (hash ^ (byte &* prime5)).rotated(11) &* prime1
      offset &+= 1
    }
    return avalanche(hash)
  }

  @inlinable @inline(__always)
  static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    (lane &+ input &* prime2).rotated(31) &* prime1
  }

  @inlinable @inline(__always)
  static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
    (hash ^ round(0, lane)) &* prime1 &+ prime4
  }

  @inlinable @inline(__always)
  static func avalanche(_ value: UInt64) -> UInt64 {
    var hash = value
    hash = (hash ^ (hash &>> 33)) &* prime2
    hash = (hash ^ (hash &>> 29)) &* prime3
    return hash ^ (hash &>> 32)
  }
}

extension UInt64 {
  /// Rotated left by 1 to 63 bits.
  @inlinable @inline(__always)
  func rotated(_ bits: UInt64) -> UInt64 { (self &<< bits) | (self &>> (64 &- bits)) }
}
