import Foundation
import HeartwoodBytes

/// A decimal number in the normal form of rows and keys: a mantissa without trailing zeros.
package struct DecimalParts: Hashable {
  package var isNaN = false
  package var isNegative = false
  /// The power of ten, -128...127.
  package var exponent = 0
  package var mantissa: UInt128 = 0

  package init(_ decimal: Decimal) {
    guard !decimal.isNaN else {
      isNaN = true
      return
    }
    mantissa = Self.mantissa(of: decimal)
    guard mantissa != 0 else { return }
    isNegative = decimal.isSignMinus
    exponent = decimal.exponent
    while exponent < 127, mantissa.isMultiple(of: 10) {
      mantissa /= 10
      exponent += 1
    }
  }

  package var decimal: Decimal {
    guard !isNaN else { return .nan }
    guard exponent < 127 || !mantissa.isMultiple(of: 10) || mantissa == 0 else { return largeDecimal }
    return Self.decimal(mantissa, exponent, isNegative)
  }

  /// A number whose zeros have no room in the exponent. Foundation makes it by an addition only: by itself it removes the zeros, and then has
  /// no exponent for the rest.
  private var largeDecimal: Decimal {
    Self.decimal(mantissa - 1, exponent, isNegative) + Self.decimal(1, exponent, isNegative)
  }

  private static func decimal(_ mantissa: UInt128, _ exponent: Int, _ isNegative: Bool) -> Decimal {
    let low = Decimal(UInt64(truncatingIfNeeded: mantissa))
    let high = Decimal(UInt64(truncatingIfNeeded: mantissa >> 64))
    let significand = high.isZero ? low : high * twoTo64 + low
    return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
  }

  var doubleValue: Double {
    if isNaN { return .nan }
    return Double("\(isNegative ? "-" : "")\(mantissa)e\(exponent)") ?? .nan
  }

  private static let twoTo64 = Decimal(sign: .plus, exponent: 0, significand: Decimal(UInt64.max)) + 1

  /// The digits. The fallback parses the significand's text: Foundation has no other API for all 128 bits.
  private static func mantissa(of decimal: Decimal) -> UInt128 {
    let magnitude = decimal.significand.magnitude
    if isLayoutKnown { return layoutMantissa(of: magnitude) }
    return UInt128(magnitude.description) ?? 0
  }

  /// Whether `Decimal` stores its mantissa, little-endian, in the last 16 of its 20 bytes, as all current versions of
  /// Foundation do. Reading it there is fifty times faster than parsing the text.
  private static let isLayoutKnown: Bool =
    MemoryLayout<Decimal>.size == 20
    && layoutMantissa(of: Decimal(0x0102_0304_0506_0708 as UInt64)) == 0x0102_0304_0506_0708
    && layoutMantissa(of: Decimal.greatestFiniteMagnitude) == .max
    && layoutMantissa(of: Decimal(0)) == 0

  private static func layoutMantissa(of decimal: Decimal) -> UInt128 {
    withUnsafeBytes(of: decimal) { bytes in
      let low = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
      let high = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt64.self))
      return UInt128(high) << 64 | UInt128(low)
    }
  }
}

/// Encoding in rows: a byte of flags (1 negative, 2 NaN), the exponent, then the mantissa's bytes, lowest first, without
/// leading zeros.
extension DecimalParts {
  package init?(rowBytes bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= 2, bytes.count <= 18 else { return nil }
    isNaN = bytes[0] & 2 != 0
    isNegative = bytes[0] & 1 != 0
    exponent = Int(Int8(bitPattern: bytes[1]))
    for index in stride(from: bytes.count - 1, through: 2, by: -1) {
      mantissa = mantissa << 8 | UInt128(bytes[index])
    }
  }

  package func appendRowBytes(to row: inout [UInt8]) {
    row.append((isNegative ? 1 : 0) | (isNaN ? 2 : 0))
    row.append(UInt8(bitPattern: Int8(truncatingIfNeeded: exponent)))
    var rest = mantissa
    while rest != 0 {
      row.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}

/// Encoding in ordered keys: sign class, position of the first digit, digits as one byte each (1...10), a zero byte. For
/// negative numbers, everything after the sign class is inverted.
extension DecimalParts {
  func appendOrderedKey(to key: inout [UInt8]) {
    guard !isNaN, mantissa != 0 else { return key.append(isNaN ? 4 : 2) }
    key.append(isNegative ? 1 : 3)
    let digits = String(mantissa).utf8
    let flip: UInt8 = isNegative ? 0xFF : 0
    let place = UInt16(exponent + digits.count + 1024)
    key.append(UInt8(place >> 8) ^ flip)
    key.append(UInt8(place & 0xFF) ^ flip)
    let end = digits.lastIndex { $0 != UInt8(ascii: "0") } ?? digits.startIndex
    for digit in digits[...end] { key.append((digit - UInt8(ascii: "0") + 1) ^ flip) }
    key.append(flip)
  }
}
