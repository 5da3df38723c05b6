/// The notation of keys and values on the command line, in results and in dumps.
enum ByteNotation {
  /// Printable UTF-8 unchanged, except for `\\`; every other byte as `\xNN`.
  case text
  /// Two hexadecimal digits for each byte.
  case hexadecimal

  /// The error for text that is not a valid notation of bytes.
  struct Misspelling: Error {
    let message: String
  }

  /// The source of the text. Lines of a file must escape control characters, because editors can change line
  /// endings.
  enum Place {
    case word, line
  }

  func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    append(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Appends the notation of bytes to a text.
  func append(_ bytes: some RandomAccessCollection<UInt8>, to text: inout [UInt8]) {
    switch self {
    case .text: EscapedText.append(bytes, to: &text)
    case .hexadecimal: for byte in bytes { HexDigits.append(byte, to: &text) }
    }
  }

  /// Parses the notation of bytes.
  func bytes(_ text: ArraySlice<UInt8>, in place: Place) throws(Misspelling) -> [UInt8] {
    switch self {
    case .text: try EscapedText.bytes(text, in: place)
    case .hexadecimal: try HexDigits.bytes(text)
    }
  }
}

/// Two hexadecimal digits for each byte.
enum HexDigits {
  private static let digits = Array("0123456789abcdef".utf8)

  static func append(_ byte: UInt8, to text: inout [UInt8]) {
    text.append(digits[Int(byte >> 4)])
    text.append(digits[Int(byte & 15)])
  }

  static func bytes(_ text: ArraySlice<UInt8>) throws(ByteNotation.Misspelling) -> [UInt8] {
    guard text.count % 2 == 0 else {
      throw ByteNotation.Misspelling(message: "\(text.count) hexadecimal digits; bytes have two each")
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    for index in stride(from: text.startIndex, to: text.endIndex, by: 2) {
      guard let byte = byte(text[index...].prefix(2)) else {
        let place = index - text.startIndex + 1
        throw ByteNotation.Misspelling(message: "no two hexadecimal digits at character \(place)")
      }
      bytes.append(byte)
    }
    return bytes
  }

  /// The byte given by exactly two digits; nil if they are invalid.
  static func byte(_ digits: ArraySlice<UInt8>) -> UInt8? {
    guard digits.count == 2, let first = digits.first.flatMap(value), let last = digits.last.flatMap(value)
    else { return nil }
    return first << 4 | last
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
