/// Writes records: "Database File Format", section 2.1.
enum RecordEncoder {
  /// Appends the record of values.
  static func append(_ values: some Sequence<SQLiteValue>, to bytes: inout [UInt8]) {
    var types: [UInt8] = []
    var bodySize = 0
    for value in values {
      let (type, size) = type(value)
      appendVarint(UInt64(type), to: &types)
      bodySize += size
    }
    // The length of the header counts its own bytes.
    var headerSize = types.count + 1
    while headerSize != types.count + varintSize(UInt64(headerSize)) {
      headerSize = types.count + varintSize(UInt64(headerSize))
    }
    bytes.reserveCapacity(bytes.count + headerSize + bodySize)
    appendVarint(UInt64(headerSize), to: &bytes)
    bytes.append(contentsOf: types)
    for value in values { appendBody(value, to: &bytes) }
  }

  private static func type(_ value: SQLiteValue) -> (type: Int, size: Int) {
    switch value {
    case .null: return (0, 0)
    case .integer(let number):
      switch number {
      case 0: return (8, 0)
      case 1: return (9, 0)
      case -0x80...0x7F: return (1, 1)
      case -0x8000...0x7FFF: return (2, 2)
      case -0x80_0000...0x7F_FFFF: return (3, 3)
      case -0x8000_0000...0x7FFF_FFFF: return (4, 4)
      case -0x8000_0000_0000...0x7FFF_FFFF_FFFF: return (5, 6)
      default: return (6, 8)
      }
    case .real(let number): return number.isNaN ? (0, 0) : (7, 8)
    case .text(let text): return (13 + 2 * text.utf8.count, text.utf8.count)
    case .blob(let bytes): return (12 + 2 * bytes.count, bytes.count)
    }
  }

  private static func appendBody(_ value: SQLiteValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: break
    case .integer(let number): appendBigEndian(UInt64(bitPattern: number), type(value).size, to: &bytes)
    case .real(let number): if !number.isNaN { appendBigEndian(number.bitPattern, 8, to: &bytes) }
    case .text(let text): bytes.append(contentsOf: text.utf8)
    case .blob(let blob): bytes.append(contentsOf: blob)
    }
  }

  /// Appends the lowest `count` bytes of a number, the highest of them first.
  static func appendBigEndian(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for index in (0..<count).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index))))
    }
  }

  static func varintSize(_ number: UInt64) -> Int {
    number >= 1 << 56 ? 9 : max(1, (64 - number.leadingZeroBitCount + 6) / 7)
  }

  static func appendVarint(_ number: UInt64, to bytes: inout [UInt8]) {
    if number < 0x80 { return bytes.append(UInt8(number)) }
    let size = varintSize(number)
    if size == 9 {
      for index in 0..<8 {
        bytes.append(0x80 | UInt8(truncatingIfNeeded: number >> (57 - 7 * UInt64(index)) & 0x7F))
      }
      return bytes.append(UInt8(truncatingIfNeeded: number))
    }
    for index in (0..<size).reversed() {
      let part = UInt8(truncatingIfNeeded: number >> (7 * UInt64(index)) & 0x7F)
      bytes.append(index == 0 ? part : part | 0x80)
    }
  }
}
