import HeartwoodBytes
import HeartwoodFaults
import Testing

@Suite struct OrderedKeyTests {
  private func key(_ fill: (inout [UInt8]) -> Void) -> [UInt8] {
    var key: [UInt8] = []
    fill(&key)
    return key
  }

  /// Checks for all pairs of values that the keys compare as the values do, also for equal ones.
  private func expectSameOrder<Value>(
    _ values: [Value], _ isLess: (Value, Value) -> Bool, _ append: (Value, inout [UInt8]) -> Void
  ) {
    let keys = values.map { value in key { append(value, &$0) } }
    for left in values.indices {
      for right in values.indices {
        let less = keys[left].lexicographicallyPrecedes(keys[right])
        #expect(less == isLess(values[left], values[right]), "\(values[left]) against \(values[right])")
      }
    }
  }

  @Test func `integers sort as their values`() throws {
    var random = SplitMix64(seed: 1)
    let numbers = (0..<100).map { _ in random.next() >> (random.next() % 64) } + [0, 1, .max]
    let signed = numbers.map { Int64(bitPattern: $0) } + [.min, -1, 0, 1, .max]
    expectSameOrder(numbers, <) { OrderedKey.append($0, to: &$1) }
    expectSameOrder(signed, <) { OrderedKey.append($0, to: &$1) }
    expectSameOrder(numbers.map { UInt32(truncatingIfNeeded: $0) }, <) { OrderedKey.append($0, to: &$1) }
    expectSameOrder(numbers.map { UInt16(truncatingIfNeeded: $0) }, <) { OrderedKey.append($0, to: &$1) }
    for (number, signed) in zip(numbers, signed) {
      let bytes = key {
        OrderedKey.append(number, to: &$0)
        OrderedKey.append(signed, to: &$0)
        OrderedKey.append(UInt32(truncatingIfNeeded: number), to: &$0)
        OrderedKey.append(UInt16(truncatingIfNeeded: number), to: &$0)
        OrderedKey.append(number % 2 == 0, to: &$0)
      }
      try bytes.withUnsafeBytes { buffer in
        var reader = ByteReader(buffer)
        try #expect(reader.readOrderedUInt64() == number)
        try #expect(reader.readOrderedInt64() == signed)
        try #expect(reader.readOrderedUInt32() == UInt32(truncatingIfNeeded: number))
        try #expect(reader.readOrderedUInt16() == UInt16(truncatingIfNeeded: number))
        try #expect(reader.readOrderedBool() == (number % 2 == 0))
        #expect(reader.isAtEnd)
      }
    }
  }

  @Test func `doubles sort in a total order with NaN last and one zero`() throws {
    var random = SplitMix64(seed: 2)
    let some = (0..<120).map { _ in Double(bitPattern: random.next()) }
    let edges: [Double] = [
      0, -0.0, 1, -1, .infinity, -.infinity, .nan, -.nan, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
      .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNormalMagnitude,
    ]
    let isLess = { (left: Double, right: Double) in left.isNaN ? false : right.isNaN || left < right }
    expectSameOrder(some + edges, isLess) { OrderedKey.append($0, to: &$1) }
    for value in some + edges {
      try key { OrderedKey.append(value, to: &$0) }.withUnsafeBytes { buffer in
        var reader = ByteReader(buffer)
        let read = try reader.readOrderedDouble()
        #expect(read == value || read.isNaN && value.isNaN)
      }
    }
  }

  @Test func `bytes with zeros and other ends sort as themselves`() throws {
    var random = SplitMix64(seed: 3)
    let alphabet: [UInt8] = [0, 0, 1, 0x61, 0xFE, 0xFF]
    let values = (0..<150).map { _ in
      (0..<Int.random(in: 0...6, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
    }
    expectSameOrder(values, { $0.lexicographicallyPrecedes($1) }) { OrderedKey.append($0, to: &$1) }
    for value in values {
      try key { OrderedKey.append(value, to: &$0) }.withUnsafeBytes { buffer in
        var reader = ByteReader(buffer)
        try #expect(reader.readOrderedBytes() == value)
        #expect(reader.isAtEnd)
      }
    }
  }

  @Test func `several values in a key sort by the first that differs`() {
    var random = SplitMix64(seed: 4)
    let values = (0..<150).map { _ in
      (
        (0..<Int.random(in: 0...2, using: &random)).map { _ in UInt8.random(in: 0...1, using: &random) },
        Int64.random(in: -2...2, using: &random)
      )
    }
    let isLess = { (left: ([UInt8], Int64), right: ([UInt8], Int64)) in
      left.0 == right.0 ? left.1 < right.1 : left.0.lexicographicallyPrecedes(right.0)
    }
    expectSameOrder(values, isLess) { value, key in
      OrderedKey.append(value.0, to: &key)
      OrderedKey.append(value.1, to: &key)
    }
  }

  @Test(arguments: [[], [0x61], [0x61, 0], [0x61, 0, 1], [0, 0xFF]] as [[UInt8]])
  func `bytes without their terminator are refused`(bytes: [UInt8]) {
    bytes.withUnsafeBytes { buffer in
      var reader = ByteReader(buffer)
      #expect(throws: ByteReader.ShortInput(position: 0)) { try reader.readOrderedBytes() }
    }
  }

  @Test func `a string is its UTF-8 bytes`() throws {
    try key { OrderedKey.append("Grüße", to: &$0) }.withUnsafeBytes { buffer in
      var reader = ByteReader(buffer)
      try #expect(reader.readOrderedBytes() == Array("Grüße".utf8))
    }
  }
}
