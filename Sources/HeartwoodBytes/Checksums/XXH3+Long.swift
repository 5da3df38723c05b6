extension XXH3 {
  typealias Lanes = SIMD8<UInt64>

  static let stripeSize = 64
  static let secretSize = 192
  /// The secret advances by 8 bytes with each stripe; a block ends when it is used up.
  private static let stripesPerBlock = (secretSize - stripeSize) / 8
  static let blockSize = stripeSize * stripesPerBlock

  /// Inputs above 240 bytes: eight lanes over stripes of 64 bytes.
  @usableFromInline
  static func long(_ base: UnsafeRawPointer, _ count: Int, _ seed: UInt64) -> UInt64 {
    withUnsafeTemporaryAllocation(byteCount: secretSize, alignment: 64) { buffer in
      guard let start = buffer.baseAddress else { return 0 }
      makeSecret(seed, at: start)
      let secret = UnsafeRawPointer(start)
      // The last block is always left for `finish`, even if it is full: the last stripe uses a secret of its
      // own.
      let blocks = (count &- 1) / blockSize
      var lanes = firstLanes
      take(blocks, base, into: &lanes, secret)
      finish(base + blocks &* blockSize, count &- blocks &* blockSize, into: &lanes, secret)
      return merged(lanes, count, secret)
    }
  }

  /// The secret under a seed, `secretSize` bytes.
  static func makeSecret(_ seed: UInt64, at start: UnsafeMutableRawPointer) {
    for pair in 0..<(secretSize / 16) {
      let words = (secret(2 * pair) &+ seed, secret(2 * pair + 1) &- seed)
      start.storeBytes(of: words.0.littleEndian, toByteOffset: 16 * pair, as: UInt64.self)
      start.storeBytes(of: words.1.littleEndian, toByteOffset: 16 * pair + 8, as: UInt64.self)
    }
  }

  static var firstLanes: Lanes {
    Lanes(
      0xC2B2_AE3D, XXH64.prime1, XXH64.prime2, XXH64.prime3,
      XXH64.prime4, 0x85EB_CA77, XXH64.prime5, 0x9E37_79B1)
  }

  /// Accumulates whole blocks. At least one byte must follow them.
  @inline(__always)
  static func take(
    _ blocks: Int, _ base: UnsafeRawPointer, into lanes: inout Lanes, _ secret: UnsafeRawPointer
  ) {
    let scrambleSecret = vector(secret, secretSize &- stripeSize)
    for block in 0..<blocks {
      let start = base + block &* blockSize
      for stripe in 0..<stripesPerBlock { accumulate(&lanes, start, stripe, secret) }
      lanes = (lanes ^ (lanes &>> 47) ^ scrambleSecret) &* 0x9E37_79B1
    }
  }

  /// Accumulates the last 1 to `blockSize` bytes. The last stripe may begin before them.
  @inline(__always)
  static func finish(
    _ base: UnsafeRawPointer, _ count: Int, into lanes: inout Lanes, _ secret: UnsafeRawPointer
  ) {
    for stripe in 0..<((count &- 1) / stripeSize) { accumulate(&lanes, base, stripe, secret) }
    add(&lanes, vector(base, count &- stripeSize), vector(secret, secretSize &- stripeSize &- 7))
  }

  @inline(__always)
  private static func accumulate(
    _ lanes: inout Lanes, _ block: UnsafeRawPointer, _ stripe: Int, _ secret: UnsafeRawPointer
  ) {
    add(&lanes, vector(block, stripe &* stripeSize), vector(secret, stripe &* 8))
  }

  @inline(__always)
  private static func add(_ lanes: inout Lanes, _ input: Lanes, _ secret: Lanes) {
    let keyed = input ^ secret
    let neighbours = Lanes(
      input[1], input[0], input[3], input[2], input[5], input[4], input[7], input[6])
    lanes &+= neighbours &+ (keyed & 0xFFFF_FFFF) &* (keyed &>> 32)
  }

  @inline(__always)
  private static func vector(_ base: UnsafeRawPointer, _ offset: Int) -> Lanes {
    let loaded = base.loadUnaligned(fromByteOffset: offset, as: Lanes.self)
    #if _endian(little)
      return loaded
    #else
      var swapped = loaded
      for lane in 0..<8 { swapped[lane] = loaded[lane].byteSwapped }
      return swapped
    #endif
  }

  static func merged(_ lanes: Lanes, _ count: Int, _ secret: UnsafeRawPointer) -> UInt64 {
    var hash = UInt64(truncatingIfNeeded: count) &* XXH64.prime1
    for pair in 0..<4 {
      let low = lanes[2 &* pair] ^ secret.littleEndian64(11 &+ 16 &* pair)
      let high = lanes[2 &* pair &+ 1] ^ secret.littleEndian64(19 &+ 16 &* pair)
      hash &+= folded(low, high)
    }
    return avalanche(hash)
  }
}
