/// A value of a column, of one of the five storage classes of SQLite.
public enum SQLiteValue: Hashable, Sendable {
  /// No value.
  case null
  /// A signed integer.
  case integer(Int64)
  /// A floating-point number, never "not a number": SQLite reads that as null.
  case real(Double)
  /// Text. Bytes that are no text in the encoding of the database are replaced by U+FFFD; `SQLiteRow.bytes(_:)` has
  /// them as they are.
  case text(String)
  /// Bytes.
  case blob([UInt8])
}

extension SQLiteValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByNilLiteral
{
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .real(value) }
  /// Text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// Null.
  public init(nilLiteral: ()) { self = .null }
}

/// How text is stored in a database: the same for all of its text.
public enum SQLiteTextEncoding: UInt32, Hashable, Sendable {
  /// UTF-8.
  case utf8 = 1
  /// UTF-16, the lower byte first.
  case utf16LittleEndian = 2
  /// UTF-16, the higher byte first.
  case utf16BigEndian = 3
}

extension SQLiteTextEncoding {
  /// The text that bytes of the file are; what is no text is replaced by U+FFFD.
  func text(_ bytes: UnsafeRawBufferPointer) -> String {
    switch self {
    case .utf8: String(decoding: bytes, as: UTF8.self)
    case .utf16LittleEndian: Self.text(bytes, low: 0, high: 1)
    case .utf16BigEndian: Self.text(bytes, low: 1, high: 0)
    }
  }

  private static func text(_ bytes: UnsafeRawBufferPointer, low: Int, high: Int) -> String {
    // As in SQLite, a byte that is left over at the end is not part of the text.
    let units = (0..<bytes.count / 2).lazy.map { unit in
      UInt16(bytes[2 * unit + high]) << 8 | UInt16(bytes[2 * unit + low])
    }
    return String(decoding: units, as: UTF16.self)
  }

  /// The bytes that text has in the file.
  func bytes(_ text: String) -> [UInt8] {
    switch self {
    case .utf8: Array(text.utf8)
    case .utf16LittleEndian: text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    case .utf16BigEndian: text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }
  }
}
