/// Bytes as text, with escapes for bytes that are not printable.
enum EscapedText {
  typealias Misspelling = ByteNotation.Misspelling
  private static let backslash = UInt8(ascii: "\\")

  static func append(_ bytes: some RandomAccessCollection<UInt8>, to text: inout [UInt8]) {
    var rest = bytes[...]
    while let byte = rest.first {
      var length = 1
      if byte == backslash {
        text.append(backslash)
        text.append(backslash)
      } else if 0x20..<0x7F ~= byte {
        text.append(byte)
      } else if let found = LeadingScalar(rest), found.isPrintable {
        text.append(contentsOf: rest.prefix(found.byteCount))
        length = found.byteCount
      } else {
        append(escaped: byte, to: &text)
      }
      rest = rest.dropFirst(length)
    }
  }

  static func append(escaped byte: UInt8, to text: inout [UInt8]) {
    text.append(backslash)
    text.append(UInt8(ascii: "x"))
    HexDigits.append(byte, to: &text)
  }

  static func bytes(_ text: ArraySlice<UInt8>, in place: ByteNotation.Place) throws(Misspelling) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text
    while let byte = rest.first {
      if byte == backslash {
        try takeEscape(&rest, to: &bytes)
      } else if byte < 0x80 {
        guard place == .word || 0x20..<0x7F ~= byte else { throw raw(byte, "a control character") }
        bytes.append(byte)
        rest.removeFirst()
      } else {
        guard let found = LeadingScalar(rest) else { throw raw(byte, "a byte that is not UTF-8") }
        bytes += rest.prefix(found.byteCount)
        rest.removeFirst(found.byteCount)
      }
    }
    return bytes
  }

  private static func takeEscape(
    _ rest: inout ArraySlice<UInt8>, to bytes: inout [UInt8]
  ) throws(Misspelling) {
    if rest.dropFirst().first == backslash {
      bytes.append(backslash)
      rest.removeFirst(2)
    } else if rest.dropFirst().first == UInt8(ascii: "x"),
      let byte = HexDigits.byte(rest.dropFirst(2).prefix(2))
    {
      bytes.append(byte)
      rest.removeFirst(4)
    } else {
      let shown = String(decoding: rest.prefix(4), as: UTF8.self)
      throw Misspelling(message: "\(shown) is no escape; those are \\\\ and \\xNN")
    }
  }

  private static func raw(_ byte: UInt8, _ what: String) -> Misspelling {
    var escape: [UInt8] = []
    append(escaped: byte, to: &escape)
    return Misspelling(
      message: "\(what) stands where text should; write it as \(String(decoding: escape, as: UTF8.self))")
  }
}

/// The first Unicode scalar of some bytes.
private struct LeadingScalar {
  let byteCount: Int
  private let scalar: Unicode.Scalar

  /// Returns nil if the bytes do not start with valid UTF-8.
  init?(_ bytes: some RandomAccessCollection<UInt8>) {
    byteCount =
      switch bytes.first ?? 0xFF {
      case 0..<0x80: 1
      case 0xC2..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0..<0xF5: 4
      default: 0
      }
    let found = String(validating: bytes.prefix(byteCount), as: UTF8.self)?.unicodeScalars
    guard let found, found.count == 1, let scalar = found.first else { return nil }
    self.scalar = scalar
  }

  /// Whether the scalar is visible and does not affect the display of its neighbors.
  var isPrintable: Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
