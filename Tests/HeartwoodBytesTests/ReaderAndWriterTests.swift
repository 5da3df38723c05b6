import HeartwoodBytes
import HeartwoodFaults
import Testing

@Suite struct ReaderAndWriterTests {
  private static let edges: [UInt64] =
    (0..<64).flatMap { shift -> [UInt64] in
      let power = UInt64(1) << UInt64(shift)
      return [power - 1, power, power &+ 1]
    } + [.max]

  @Test func `written values are read back`() throws {
    var writer = ByteWriter(capacity: 1)
    writer.append(UInt8(0xAB))
    writer.append(UInt16(0x1234))
    writer.append(UInt32(0xDEAD_BEEF))
    writer.append(UInt64(0x0102_0304_0506_0708))
    writer.append(-1.5)
    writer.appendVarint(300)
    writer.appendSignedVarint(-3)
    [UInt8](1...9).withUnsafeBytes { writer.appendCounted($0) }
    writer.pad(toMultipleOf: 8)
    #expect(writer.count % 8 == 0)
    writer.store(UInt16(0x4321), at: 1)
    #expect(Array(writer.bytes.prefix(3)) == [0xAB, 0x21, 0x43])
    try writer.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      try #expect(reader.readUInt8() == 0xAB)
      try #expect(reader.readUInt16() == 0x4321)
      try #expect(reader.readUInt32() == 0xDEAD_BEEF)
      try #expect(reader.readUInt64() == 0x0102_0304_0506_0708)
      try #expect(reader.readDouble() == -1.5)
      try #expect(reader.readVarint() == 300)
      try #expect(reader.readSignedVarint() == -3)
      try #expect(Array(reader.readCountedBytes()) == [UInt8](1...9))
      while !reader.isAtEnd { try #expect(reader.readUInt8() == 0) }
    }
  }

  @Test func `a writer grows and keeps its bytes`() {
    var writer = ByteWriter(capacity: 1)
    var expected: [UInt8] = []
    var random = SplitMix64(seed: 11)
    for _ in 0..<500 {
      let piece = (0..<Int.random(in: 0...70, using: &random)).map { UInt8(truncatingIfNeeded: $0) }
      writer.append(piece)
      expected += piece
    }
    #expect(writer.bytes == expected)
    writer.removeAll(after: 10)
    #expect(writer.bytes == Array(expected.prefix(10)))
    writer.removeAll(keepingCapacity: false)
    #expect(writer.count == 0)
  }

  @Test func `short input throws at the start of the value and moves no position`() {
    let bytes = [UInt8](repeating: 0x80, count: 7)
    bytes.withUnsafeBytes { buffer in
      var reader = ByteReader(buffer)
      let short = ByteReader.ShortInput(position: 1)
      #expect(throws: Never.self) { try reader.skip(1) }
      #expect(throws: short) { try reader.readUInt64() }
      #expect(throws: short) { try reader.readVarint() }
      #expect(throws: short) { try reader.readBytes(7) }
      #expect(throws: short) { try reader.readBytes(-1) }
      #expect(throws: short) { try reader.readBytes(.max) }
      #expect(throws: short) { try reader.move(to: 8) }
      #expect(reader.position == 1)
    }
    var none = ByteReader(UnsafeRawBufferPointer(start: nil, count: 0))
    #expect(throws: ByteReader.ShortInput(position: 0)) { try none.readUInt8() }
    #expect(throws: Never.self) { try none.readBytes(0) }
  }

  @Test func `a count larger than any memory is short input`() {
    var writer = ByteWriter()
    writer.appendVarint(.max)
    writer.withUnsafeBytes { bytes in
      var reader = ByteReader(bytes)
      #expect(throws: ByteReader.ShortInput(position: 0)) { try reader.readCountedBytes() }
      #expect(reader.position == 0)
    }
  }

  @Test func `a variable-length number has the promised length and is read back`() throws {
    for value in Self.edges {
      var writer = ByteWriter()
      writer.appendVarint(value)
      #expect(writer.count == Varint.length(of: value))
      writer.withUnsafeBytes { bytes in
        let read = Varint.read(from: bytes, at: 0)
        #expect(read?.value == value)
        #expect(read?.next == bytes.count)
        let cut = UnsafeRawBufferPointer(rebasing: bytes.dropLast())
        #expect(Varint.read(from: cut, at: 0) == nil)
      }
    }
  }

  @Test(arguments: [
    [0x80, 0x00], [0xFF, 0x80, 0x00],
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02],
    [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x00],
  ])
  func `a variable-length number in a longer form or above 64 bits is refused`(bytes: [UInt8]) {
    bytes.withUnsafeBytes { #expect(Varint.read(from: $0, at: 0) == nil) }
  }

  @Test func `signed numbers survive the zigzag`() {
    for value in [0, 1, -1, 2, -2, .max, .min] as [Int64] {
      #expect(Varint.unzigzag(Varint.zigzag(value)) == value)
    }
    #expect(Varint.zigzag(-1) == 1)
  }
}
