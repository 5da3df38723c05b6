import HeartwoodBytes

/// Bytes that must be the same on every platform: what the functions of HeartwoodBytes write for fixed inputs, a line for each.
struct Vectors {
  private var state: UInt64 = 20_261_129
  private(set) var text: [UInt8] = []

  mutating func run() {
    checksums()
    varints()
    writers()
    keys()
    blocks()
    invalidBlocks()
  }

  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  private mutating func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<count { bytes.append(UInt8(truncatingIfNeeded: next())) }
    return bytes
  }

  private mutating func line(_ name: StaticString, _ number: Int, _ values: UInt64...) {
    name.withUTF8Buffer { text.append(contentsOf: $0) }
    hexadecimal(UInt64(truncatingIfNeeded: number))
    for value in values { hexadecimal(value) }
    text.append(10)
  }

  private mutating func hexadecimal(_ value: UInt64) {
    text.append(32)
    for shift in stride(from: UInt64(60), through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: value >> shift & 15)
      text.append(digit < 10 ? 48 + digit : 87 + digit)
    }
  }

  private func hash(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { XXH64.hash($0, seed: 0) } }

  private mutating func checksums() {
    for count in [0, 1, 3, 4, 8, 9, 16, 17, 64, 128, 129, 240, 241, 1024, 1025, 5000] {
      // At every alignment: WebAssembly reads words at any address, as the library expects.
      for shift in 0..<8 {
        let all = bytes(shift + count)
        let (short, long) = all.withUnsafeBytes { all in
          let part = UnsafeRawBufferPointer(rebasing: all[shift...])
          return (XXH64.hash(part, seed: 7), XXH3.hash(part, seed: 7))
        }
        line("checksum", count, short, long)
      }
    }
  }

  private mutating func varints() {
    for shift in 0..<64 {
      var writer = ByteWriter()
      writer.appendVarint(1 << UInt64(shift))
      writer.appendSignedVarint(Int64(bitPattern: UInt64.max << UInt64(shift)))
      line("varint", writer.count, hash(writer.bytes))
    }
  }

  private mutating func writers() {
    var writer = ByteWriter()
    writer.append(UInt8(1))
    writer.append(UInt16(0x0203))
    writer.append(UInt32(0x0405_0607))
    writer.append(UInt64(0x0809_0A0B_0C0D_0E0F))
    writer.append(-1.5)
    writer.append(bytes(100))
    writer.pad(toMultipleOf: 8)
    line("writer", writer.count, hash(writer.bytes))
    let sum = writer.withUnsafeBytes { (bytes) -> UInt64 in
      var reader = ByteReader(bytes)
      do throws(ByteReader.ShortInput) {
        let small =
          UInt64(try reader.readUInt8()) + UInt64(try reader.readUInt16()) + UInt64(try reader.readUInt32())
        return small &+ (try reader.readUInt64()) &+ (try reader.readDouble().bitPattern)
      } catch {
        return 0
      }
    }
    line("reader", 0, sum)
  }

  private mutating func keys() {
    for number in [Int64.min, -1, 0, 1, .max] {
      var key: [UInt8] = []
      OrderedKey.append(number, to: &key)
      OrderedKey.append(Double(number) / 3, to: &key)
      OrderedKey.append(UInt32(truncatingIfNeeded: number), to: &key)
      OrderedKey.append([0, 1, 255, UInt8(truncatingIfNeeded: number)], to: &key)
      line("key", key.count, hash(key))
    }
  }

  private mutating func blocks() {
    var compressor = LZ4Compressor()
    for count in [0, 1, 12, 13, 100, 1000, 70_000] {
      var contents: [UInt8] = []
      while contents.count < count {
        let known = contents.count
        if known > 0, next() % 2 == 0 {
          let start = Int(next() % UInt64(known))
          for offset in 0..<40 { contents.append(contents[start + offset % (known - start)]) }
        } else {
          contents += bytes(20)
        }
      }
      var block = [UInt8](repeating: 0, count: contents.count + contents.count / 255 + 16)
      let length = contents.withUnsafeBytes { contents in
        block.withUnsafeMutableBytes { compressor.compress(contents, into: $0) ?? 0 }
      }
      block.removeSubrange(length...)
      line("block", length, hash(block), decompressed(block, count: contents.count) == contents ? 1 : 0)
    }
  }

  private mutating func invalidBlocks() {
    var valid: UInt64 = 0
    for _ in 0..<2000 {
      let count = Int(next() % 40)
      let block = bytes(count)
      if decompressed(block, count: Int(next() % 300)) != nil { valid += 1 }
    }
    line("invalid", 0, valid)
  }

  private func decompressed(_ block: [UInt8], count: Int) -> [UInt8]? {
    var contents = [UInt8](repeating: 0, count: count)
    let isValid = block.withUnsafeBytes { block in
      contents.withUnsafeMutableBytes { LZ4.decompress(block, into: $0) }
    }
    return isValid ? contents : nil
  }
}
