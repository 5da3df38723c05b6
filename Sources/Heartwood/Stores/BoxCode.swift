import HeartwoodBytes

/// Two numbers as one: the bits of both in turns, beginning with the most significant bit of the first.
///
/// Points that are near each other mostly have codes that are near each other, so that a box is a few ranges of codes.
struct BoxCode: Hashable, Comparable {
  static let size = 16

  private let high: UInt64
  private let low: UInt64

  /// - Parameters: numbers in an unsigned order.
  init(_ first: UInt64, _ second: UInt64) {
    high = Self.spread(first >> 32) << 1 | Self.spread(second >> 32)
    low = Self.spread(first & 0xFFFF_FFFF) << 1 | Self.spread(second & 0xFFFF_FFFF)
  }

  /// - Returns: nil if there are not sixteen bytes.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.size else { return nil }
    high = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
    low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
  }

  var first: UInt64 { Self.gather(high >> 1) << 32 | Self.gather(low >> 1) }
  var second: UInt64 { Self.gather(high) << 32 | Self.gather(low) }

  func append(to key: inout [UInt8]) {
    OrderedKey.append(high, to: &key)
    OrderedKey.append(low, to: &key)
  }

  static func < (left: BoxCode, right: BoxCode) -> Bool {
    left.high != right.high ? left.high < right.high : left.low < right.low
  }

  /// The 32 bits of a number at every second place.
  private static func spread(_ number: UInt64) -> UInt64 {
    var bits = number
    bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
    bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
    bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
    bits = (bits | bits << 2) & 0x3333_3333_3333_3333
    return (bits | bits << 1) & 0x5555_5555_5555_5555
  }

  /// The inverse.
  private static func gather(_ number: UInt64) -> UInt64 {
    var bits = number & 0x5555_5555_5555_5555
    bits = (bits | bits >> 1) & 0x3333_3333_3333_3333
    bits = (bits | bits >> 2) & 0x0F0F_0F0F_0F0F_0F0F
    bits = (bits | bits >> 4) & 0x00FF_00FF_00FF_00FF
    bits = (bits | bits >> 8) & 0x0000_FFFF_0000_FFFF
    return (bits | bits >> 16) & 0x0000_0000_FFFF_FFFF
  }
}

/// Pairs of numbers that are each between two others.
struct Box: Hashable {
  var first: ClosedRange<UInt64>
  var second: ClosedRange<UInt64>

  func contains(_ code: BoxCode) -> Bool { first.contains(code.first) && second.contains(code.second) }
}

/// A square of pairs whose numbers begin with the same bits: those with a range of codes.
struct BoxCell {
  private let first: UInt64
  private let second: UInt64
  /// How many bits of both numbers are the same.
  private let depth: Int

  /// The smallest cell around a box.
  init(around box: Box) {
    depth = min(
      (box.first.lowerBound ^ box.first.upperBound).leadingZeroBitCount,
      (box.second.lowerBound ^ box.second.upperBound).leadingZeroBitCount)
    let rest = Self.rest(depth)
    (first, second) = (box.first.lowerBound & ~rest, box.second.lowerBound & ~rest)
  }

  private init(_ first: UInt64, _ second: UInt64, _ depth: Int) {
    (self.first, self.second, self.depth) = (first, second, depth)
  }

  /// The bits after the first ones.
  private static func rest(_ depth: Int) -> UInt64 { depth == 64 ? 0 : .max >> UInt64(depth) }

  var box: Box {
    let rest = Self.rest(depth)
    return Box(first: first...first | rest, second: second...second | rest)
  }

  var codes: ClosedRange<BoxCode> {
    let rest = Self.rest(depth)
    return BoxCode(first, second)...BoxCode(first | rest, second | rest)
  }

  func isInside(_ other: Box) -> Bool {
    let own = box
    return other.first.lowerBound <= own.first.lowerBound && own.first.upperBound <= other.first.upperBound
      && other.second.lowerBound <= own.second.lowerBound && own.second.upperBound <= other.second.upperBound
  }

  /// The share of the cell that a box covers.
  func share(of other: Box) -> Double {
    func share(_ own: ClosedRange<UInt64>, _ other: ClosedRange<UInt64>) -> Double {
      let common = own.clamped(to: other)
      return (Double(common.upperBound - common.lowerBound) + 1)
        / (Double(own.upperBound - own.lowerBound) + 1)
    }
    return share(box.first, other.first) * share(box.second, other.second)
  }

  /// The quarters that a box overlaps, in the order of their codes.
  func quarters(of other: Box) -> [BoxCell] {
    guard depth < 64 else { return [] }
    let bit = UInt64(1) << UInt64(63 - depth)
    return [(first, second), (first, second | bit), (first | bit, second), (first | bit, second | bit)]
      .map { BoxCell($0.0, $0.1, depth + 1) }
      .filter { $0.box.first.overlaps(other.first) && $0.box.second.overlaps(other.second) }
  }
}
