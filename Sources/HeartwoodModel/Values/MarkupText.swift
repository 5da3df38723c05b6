extension String {
  /// The text as it is written in XML.
  ///
  /// - Parameter keepingLines: Whether line feeds and tabs stay as they are. In attributes, reading makes spaces of them.
  package func escapedForMarkup(keepingLines: Bool) -> String {
    let bytes = Array(utf8)
    var escaped: [UInt8] = []
    /// The end of what is escaped.
    var end = 0
    for (place, byte) in bytes.enumerated() where byte <= 0x3E {
      guard let reference = Self.reference(byte, keepingLines) else { continue }
      escaped += bytes[end..<place]
      escaped += reference.utf8
      end = place + 1
    }
    return end == 0 ? self : String(decoding: escaped + bytes[end...], as: UTF8.self)
  }

  /// The text that takes the place of a character; nil if it stays.
  private static func reference(_ byte: UInt8, _ keepingLines: Bool) -> String? {
    switch byte {
    case 0x26: "&amp;"
    case 0x3C: "&lt;"
    case 0x3E: "&gt;"
    case 0x22: "&quot;"
    case 0x0D: "&#13;"
    case 0x0A where !keepingLines: "&#10;"
    case 0x09 where !keepingLines: "&#9;"
    default: nil
    }
  }

  /// Whether XML can have all characters, written as they are or as references. In UTF-8, U+FFFE and U+FFFF are three bytes.
  package var isOfMarkup: Bool {
    let bytes = Array(utf8)
    for (place, byte) in bytes.enumerated() where byte < 0x20 || byte == 0xEF {
      let isAllowed =
        byte == 0xEF
        ? bytes[place + 1] != 0xBF || bytes[place + 2] < 0xBE : byte == 0x09 || byte == 0x0A || byte == 0x0D
      if !isAllowed { return false }
    }
    return true
  }
}

extension Unicode.Scalar {
  /// Whether XML can have the character at all, written as it is or as a reference.
  package var isOfMarkup: Bool {
    switch value {
    case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...: true
    default: false
    }
  }
}
