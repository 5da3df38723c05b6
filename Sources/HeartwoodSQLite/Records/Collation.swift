/// An order of text that is part of SQLite: "Datatypes In SQLite", section 7.1.
enum Collation {
  /// The order of the bytes.
  case binary
  /// As `binary`, with small ASCII letters for large ones.
  case noCase
  /// As `binary`, without the spaces at the end.
  case rightTrimmed

  /// Nil if the name is of a program's own order.
  init?(_ name: String) {
    switch name.lowercasedName {
    case "binary": self = .binary
    case "nocase": self = .noCase
    case "rtrim": self = .rightTrimmed
    default: return nil
    }
  }

  /// The bytes whose order is the order of the text.
  ///
  /// - Parameter text: In UTF-8; for `binary` in the encoding of the database.
  func sortBytes(_ text: [UInt8]) -> [UInt8] {
    switch self {
    case .binary: return text
    case .rightTrimmed: return Array(text[..<((text.lastIndex { $0 != 0x20 } ?? -1) + 1)])
    case .noCase:
      var bytes = text.prefix { $0 != 0 }.map { $0 >= 65 && $0 <= 90 ? $0 | 0x20 : $0 }
      // Behind a zero SQLite compares the lengths only.
      if bytes.count < text.count {
        bytes.append(0)
        RecordEncoder.appendBigEndian(UInt64(text.count), 8, to: &bytes)
      }
      return bytes
    }
  }
}
