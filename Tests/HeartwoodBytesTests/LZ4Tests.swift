import Foundation
import HeartwoodBytes
import HeartwoodFaults
import Testing

@Suite struct `Blocks of LZ4` {
  /// Blocks by the description of the format, and their contents.
  private static let vectors: [(block: [UInt8], contents: [UInt8])] = [
    ([0x00], []),
    ([0x50] + "hello".utf8, Array("hello".utf8)),
    ([0xF0, 0x00] + [UInt8](0..<15), [UInt8](0..<15)),
    ([0xF0, 0xFF, 0x00] + [UInt8](repeating: 7, count: 270), [UInt8](repeating: 7, count: 270)),
    // One byte, 14 copies of it, and five literals.
    ([0x1A, 0x61, 0x01, 0x00, 0x50] + "aaaaa".utf8, [UInt8](repeating: 0x61, count: 20)),
    // A copy whose length takes three bytes more.
    (
      [0x1F, 0x61, 0x01, 0x00, 0xFF, 0xFF, 0x05, 0x50] + "aaaaa".utf8,
      [UInt8](repeating: 0x61, count: 1 + 19 + 515 + 5)
    ),
    // A copy that overlaps itself.
    ([0x33] + "abc".utf8 + [0x03, 0x00, 0x10, 0x21], Array("abcabcabca!".utf8)),
    // A copy without literals before it.
    ([0x40] + "abcd".utf8 + [0x04, 0x00, 0x01, 0x08, 0x00, 0x10, 0x21], Array("abcdabcdabcda!".utf8)),
  ]

  @Test func `blocks of the described form are read`() {
    for (block, contents) in Self.vectors {
      #expect(decompressed(block, count: contents.count) == contents)
    }
  }

  @Test func `a run becomes one byte, a copy and five literals`() {
    let (block, contents) = Self.vectors[4]
    #expect(compressed(contents) == block)
    #expect(compressed([]) == [0])
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `what is compressed is read again`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var compressor = LZ4Compressor()
    for round in 0..<400 {
      let count = round < 40 ? round : random.below(round % 50 == 0 ? 200_000 : 3000)
      let contents = random.compressibleBytes(count)
      let block = compressed(contents, &compressor)
      #expect(decompressed(block, count: count) == contents, "seed \(seed), round \(round)")
      #expect(block == compressed(contents), "seed \(seed), round \(round), by a new compressor")
    }
  }

  @Test func `copies reach as far as the format allows, and no further`() {
    var random = SplitMix64(seed: 4)
    let word = random.bytes(64)
    for distance in [65_534, 65_535, 65_536, 65_537] {
      let between = [UInt8](repeating: 0, count: distance - word.count)
      let contents = word + between + word + random.bytes(20)
      let block = compressed(contents)
      #expect(decompressed(block, count: contents.count) == contents)
    }
  }

  @Test func `what does not fit into the target is not compressed`() {
    var random = SplitMix64(seed: 5)
    for _ in 0..<100 {
      let contents = random.compressibleBytes(random.below(2000))
      let block = compressed(contents)
      for room in [0, 1, block.count / 2, block.count - 1] where room < block.count {
        #expect(compressed(contents, room: room) == nil)
      }
      #expect(compressed(contents, room: block.count) == block)
    }
  }

  @Test func `random bytes become little longer`() {
    var random = SplitMix64(seed: 6)
    let contents = random.bytes(100_000)
    #expect(compressed(contents).count <= contents.count + contents.count / 255 + 16)
  }

  // MARK: Hostile blocks

  @Test func `a block whose contents have another length is refused`() {
    var random = SplitMix64(seed: 7)
    for _ in 0..<200 {
      let contents = random.compressibleBytes(1 + random.below(900))
      let block = compressed(contents)
      for count in [0, contents.count - 1, contents.count + 1, contents.count + 300] {
        #expect(decompressed(block, count: count) == nil)
      }
    }
  }

  @Test func `a block that is cut is refused`() {
    var random = SplitMix64(seed: 8)
    let contents = random.compressibleBytes(500)
    let block = compressed(contents)
    for count in 0..<block.count {
      #expect(decompressed(Array(block[..<count]), count: contents.count) == nil)
    }
  }

  @Test(
    arguments: [
      [], [0xF0], [0xF0, 0xFF], [0x10], [0x00, 0x01, 0x00], [0x10, 0x61, 0x00, 0x00, 0x00],
      [0x10, 0x61, 0x02, 0x00, 0x00], [0x10, 0x61, 0x01], [0x1F, 0x61, 0x01, 0x00],
      [0x1F, 0x61, 0x01, 0x00, 0xFF],
      [0xFF] + [UInt8](repeating: 0xFF, count: 3000),
    ] as [[UInt8]])
  func `an invalid block is refused`(block: [UInt8]) {
    for count in 0..<40 { #expect(decompressed(block, count: count) == nil) }
  }

  @Test(arguments: [9, 10, 11] as [UInt64])
  func `changed and random blocks stay within their memory`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for round in 0..<3000 {
      let contents = random.compressibleBytes(random.below(300))
      var block = round % 3 == 0 ? random.bytes(random.below(60)) : compressed(contents)
      for _ in 0..<random.below(4) where !block.isEmpty {
        block[random.below(block.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      // `decompressed` checks the bytes around the target.
      _ = decompressed(block, count: random.below(2) == 0 ? contents.count : random.below(400))
    }
  }

  // MARK: The reference implementation

  @Test(.enabled(if: ReferenceLZ4.shared != nil, "liblz4 is not installed"), arguments: [12, 13] as [UInt64])
  func `the reference implementation reads these blocks, and its own are read`(seed: UInt64) throws {
    let reference = try #require(ReferenceLZ4.shared)
    var random = SplitMix64(seed: seed)
    for round in 0..<300 {
      let contents = random.compressibleBytes(random.below(round % 40 == 0 ? 300_000 : 4000))
      let comment: Comment = "seed \(seed), round \(round)"
      #expect(reference.decompressed(compressed(contents), count: contents.count) == contents, comment)
      #expect(decompressed(reference.compressed(contents), count: contents.count) == contents, comment)
    }
  }

  // MARK: Calls

  private func compressed(_ contents: [UInt8]) -> [UInt8] {
    var compressor = LZ4Compressor()
    return compressed(contents, &compressor)
  }

  private func compressed(_ contents: [UInt8], _ compressor: inout LZ4Compressor) -> [UInt8] {
    compressed(contents, room: contents.count + contents.count / 255 + 16, &compressor) ?? []
  }

  private func compressed(_ contents: [UInt8], room: Int) -> [UInt8]? {
    var compressor = LZ4Compressor()
    return compressed(contents, room: room, &compressor)
  }

  private func compressed(_ contents: [UInt8], room: Int, _ compressor: inout LZ4Compressor) -> [UInt8]? {
    var block = [UInt8](repeating: 0, count: room)
    let count = contents.withUnsafeBytes { contents in
      block.withUnsafeMutableBytes { compressor.compress(contents, into: $0) }
    }
    return count.map { Array(block[..<$0]) }
  }

  /// The contents of a block; nil if it is refused. Expects that the bytes around the target are untouched.
  private func decompressed(_ block: [UInt8], count: Int) -> [UInt8]? {
    let margin = [UInt8](repeating: 0xA5, count: 32)
    var memory = margin + [UInt8](repeating: 0, count: count) + margin
    let isValid = block.withUnsafeBytes { block in
      memory.withUnsafeMutableBytes { memory in
        let target = UnsafeMutableRawBufferPointer(rebasing: memory[margin.count..<margin.count + count])
        return LZ4.decompress(block, into: target)
      }
    }
    #expect(Array(memory.prefix(margin.count)) == margin && Array(memory.suffix(margin.count)) == margin)
    return isValid ? Array(memory[margin.count..<margin.count + count]) : nil
  }
}

/// The system's liblz4, as a test only.
private struct ReferenceLZ4: Sendable {
  private typealias Call = @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?, Int32, Int32) -> Int32

  private let compress: Call
  private let decompress: Call

  static let shared = ReferenceLZ4()

  private init?() {
    guard let library = dlopen("liblz4.so.1", RTLD_NOW),
      let compress = dlsym(library, "LZ4_compress_default"),
      let decompress = dlsym(library, "LZ4_decompress_safe")
    else { return nil }
    self.compress = unsafeBitCast(compress, to: Call.self)
    self.decompress = unsafeBitCast(decompress, to: Call.self)
  }

  func compressed(_ contents: [UInt8]) -> [UInt8] {
    run(compress, contents, room: contents.count + contents.count / 255 + 16) ?? []
  }

  func decompressed(_ block: [UInt8], count: Int) -> [UInt8]? { run(decompress, block, room: count) }

  private func run(_ call: Call, _ source: [UInt8], room: Int) -> [UInt8]? {
    var target = [UInt8](repeating: 0, count: max(room, 1))
    let count = source.withUnsafeBytes { source in
      target.withUnsafeMutableBytes {
        call(source.baseAddress, $0.baseAddress, Int32(source.count), Int32(room))
      }
    }
    return count >= 0 ? Array(target[..<Int(count)]) : nil
  }
}
