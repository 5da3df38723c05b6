/// The 64-bit XXH3 with a seed: the checksum of value records, most of which are short.
///
/// Inputs of up to 128 bytes, the usual size of rows, cost a handful of multiplications without a loop. The
/// hash detects damage, not attacks.
@usableFromInline
package enum XXH3 {
  /// The hash of `bytes` under `seed`; the same on every platform.
  @inlinable @inline(__always)
  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    let count = bytes.count
    guard count > 16, count <= 128, let base = bytes.baseAddress else { return other(bytes, seed) }
    return upTo128(base, count, seed)
  }

  /// The hash for lengths that are rare in records.
  @usableFromInline
  static func other(_ bytes: UnsafeRawBufferPointer, _ seed: UInt64) -> UInt64 {
    let count = bytes.count
    guard count > 0, let base = bytes.baseAddress else {
      return XXH64.avalanche(seed ^ secret(7) ^ secret(8))
    }
    if count <= 16 { return upTo16(base, count, seed) }
    if count <= 240 { return upTo240(base, count, seed) }
    return long(base, count, seed)
  }

  static func upTo16(_ base: UnsafeRawPointer, _ count: Int, _ seed: UInt64) -> UInt64 {
    let length = UInt64(truncatingIfNeeded: count)
    if count > 8 {
      let low = ((secret(3) ^ secret(4)) &+ seed) ^ base.littleEndian64(0)
      let high = ((secret(5) ^ secret(6)) &- seed) ^ base.littleEndian64(count &- 8)
      return avalanche(length &+ low.byteSwapped &+ high &+ folded(low, high))
    }
    if count >= 4 {
      let swapped = UInt64(UInt32(truncatingIfNeeded: seed).byteSwapped)
      let first = UInt64(base.littleEndian32(0))
      let last = UInt64(base.littleEndian32(count &- 4))
      let key = (secret(1) ^ secret(2)) &- (seed ^ (swapped &<< 32))
      var hash = key ^ (last | (first &<< 32))
      hash = (hash ^ hash.rotated(49) ^ hash.rotated(24)) &* mix2
      hash = (hash ^ ((hash &>> 35) &+ length)) &* mix2
      return hash ^ (hash &>> 28)
    }
    let first = UInt64(base.load(as: UInt8.self))
    let middle = UInt64(base.load(fromByteOffset: count &>> 1, as: UInt8.self))
    let last = UInt64(base.load(fromByteOffset: count &- 1, as: UInt8.self))
    let combined = last | (length &<< 8) | (first &<< 16) | (middle &<< 24)
    let key = ((secret(0) ^ (secret(0) &>> 32)) & 0xFFFF_FFFF) &+ seed
    return XXH64.avalanche(key ^ combined)
  }

  /// Pairs of 16-byte chunks from both ends towards the middle, where they may overlap.
  @inlinable @inline(__always)
  static func upTo128(_ base: UnsafeRawPointer, _ count: Int, _ seed: UInt64) -> UInt64 {
    var sum = UInt64(truncatingIfNeeded: count) &* XXH64.prime1
    if count > 96 {
      sum &+= mixed(base, 48, secret(12), secret(13), seed)
      sum &+= mixed(base, count &- 64, secret(14), secret(15), seed)
    }
    if count > 64 {
      sum &+= mixed(base, 32, secret(8), secret(9), seed)
      sum &+= mixed(base, count &- 48, secret(10), secret(11), seed)
    }
    if count > 32 {
      sum &+= mixed(base, 16, secret(4), secret(5), seed)
      sum &+= mixed(base, count &- 32, secret(6), secret(7), seed)
    }
    sum &+= mixed(base, 0, secret(0), secret(1), seed)
    sum &+= mixed(base, count &- 16, secret(2), secret(3), seed)
    return avalanche(sum)
  }

  static func upTo240(_ base: UnsafeRawPointer, _ count: Int, _ seed: UInt64) -> UInt64 {
    var sum = UInt64(truncatingIfNeeded: count) &* XXH64.prime1
    for chunk in 0..<8 {
      sum &+= mixed(base, chunk &* 16, secret(chunk &* 2), secret(chunk &* 2 &+ 1), seed)
    }
    sum = avalanche(sum)
    for chunk in 8..<(count &>> 4) {
      let word = (chunk &- 8) &* 2
      sum &+= mixed(base, chunk &* 16, secret(word, skip: 3), secret(word &+ 1, skip: 3), seed)
    }
    sum &+= mixed(base, count &- 16, secret(14, skip: 7), secret(15, skip: 7), seed)
    return avalanche(sum)
  }

  /// 16 bytes of input at `offset`, mixed with two words of the secret.
  @inlinable @inline(__always)
  static func mixed(
    _ base: UnsafeRawPointer, _ offset: Int, _ secret1: UInt64, _ secret2: UInt64, _ seed: UInt64
  ) -> UInt64 {
    folded(
      base.littleEndian64(offset) ^ (secret1 &+ seed), base.littleEndian64(offset &+ 8) ^ (secret2 &- seed))
  }

  /// The 128-bit product, its halves combined.
  @inlinable @inline(__always)
  static func folded(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }

  @inlinable @inline(__always)
  static func avalanche(_ value: UInt64) -> UInt64 {
    let hash = (value ^ (value &>> 37)) &* mix1
    return hash ^ (hash &>> 32)
  }

  @usableFromInline static var mix1: UInt64 { @inline(__always) get { 0x1656_6791_9E37_79F9 } }
  @usableFromInline static var mix2: UInt64 { @inline(__always) get { 0x9FB2_1C65_1E98_DF25 } }
}
