extension XXH3 {
  /// The hash of bytes that arrive in pieces: equal to the hash of all of them at once.
  package struct Stream: ~Copyable {
    private let seed: UInt64
    /// The secret, the last stripe of the previous block, and the block that is being filled, contiguous in
    /// this order.
    private let memory: UnsafeMutableRawPointer
    private var lanes = XXH3.firstLanes
    private var filled = 0
    private var count = 0

    private var secret: UnsafeRawPointer { UnsafeRawPointer(memory) }
    private var block: UnsafeMutableRawPointer { memory + XXH3.secretSize + XXH3.stripeSize }

    package init(seed: UInt64) {
      self.seed = seed
      memory = .allocate(byteCount: XXH3.secretSize + XXH3.stripeSize + XXH3.blockSize, alignment: 64)
      XXH3.makeSecret(seed, at: memory)
    }

    deinit { memory.deallocate() }

    /// Hashes the next bytes, any number of them.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
      guard var next = bytes.baseAddress else { return }
      var rest = bytes.count
      count &+= rest
      while rest > 0 {
        // A full block is accumulated only when more bytes follow; see `XXH3.take`.
        if filled == XXH3.blockSize {
          take(1, UnsafeRawPointer(block))
          filled = 0
        }
        let blocks = filled == 0 ? (rest &- 1) / XXH3.blockSize : 0
        let taken = blocks > 0 ? blocks &* XXH3.blockSize : min(rest, XXH3.blockSize &- filled)
        if blocks > 0 { take(blocks, next) } else { keep(next, taken) }
        next += taken
        rest &-= taken
      }
    }

    private mutating func take(_ blocks: Int, _ base: UnsafeRawPointer) {
      XXH3.take(blocks, base, into: &lanes, secret)
      let last = base + (blocks &* XXH3.blockSize &- XXH3.stripeSize)
      (block - XXH3.stripeSize).copyMemory(from: last, byteCount: XXH3.stripeSize)
    }

    private mutating func keep(_ bytes: UnsafeRawPointer, _ taken: Int) {
      (block + filled).copyMemory(from: bytes, byteCount: taken)
      filled &+= taken
    }

    /// The hash of all bytes so far. More may follow.
    package func hash() -> UInt64 {
      guard count > 240 else {
        return XXH3.hash(UnsafeRawBufferPointer(start: block, count: count), seed: seed)
      }
      var last = lanes
      XXH3.finish(UnsafeRawPointer(block), filled, into: &last, secret)
      return XXH3.merged(last, count, secret)
    }
  }
}
