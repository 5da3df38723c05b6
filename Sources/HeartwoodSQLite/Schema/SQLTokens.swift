/// The tokens of a statement of SQL, as far as `CREATE TABLE` and `CREATE INDEX` need them. Blanks and comments are
/// left out.
struct SQLTokens {
  enum Token: Hashable {
    /// A word without quotation marks: a keyword or a name.
    case word(String)
    /// A name in quotation marks, accents or brackets.
    case name(String)
    /// Text in apostrophes.
    case string(String)
    /// The digits in `x'…'`.
    case blob(String)
    /// As it is written.
    case number(String)
    /// Any other character.
    case symbol(Character)
  }

  private(set) var tokens: [Token] = []
  private let text: [UInt8]
  private var position = 0

  init(_ sql: String) {
    text = Array(sql.utf8)
    while let token = nextToken() { tokens.append(token) }
  }

  private var current: UInt8? { position < text.count ? text[position] : nil }
  private var following: UInt8? { position + 1 < text.count ? text[position + 1] : nil }

  private mutating func nextToken() -> Token? {
    while let byte = current {
      switch byte {
      case 0x09, 0x0A, 0x0C, 0x0D, 0x20: position += 1
      case UInt8(ascii: "-") where following == UInt8(ascii: "-"):
        while let byte = current, byte != 0x0A { position += 1 }
      case UInt8(ascii: "/") where following == UInt8(ascii: "*"):
        position += 2
        while let byte = current, byte != UInt8(ascii: "*") || following != UInt8(ascii: "/") {
          position += 1
        }
        position += 2
      case UInt8(ascii: "'"): return .string(quoted(by: byte))
      case UInt8(ascii: "\""), UInt8(ascii: "`"): return .name(quoted(by: byte))
      case UInt8(ascii: "["): return .name(quoted(by: UInt8(ascii: "]")))
      case UInt8(ascii: "x"), UInt8(ascii: "X"):
        guard following == UInt8(ascii: "'") else { return .word(taken(while: Self.isOfWord)) }
        position += 1
        return .blob(quoted(by: UInt8(ascii: "'")))
      case UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(number())
      case UInt8(ascii: ".") where following.map(Self.isDigit) ?? false: return .number(number())
      case _ where Self.isOfWord(byte): return .word(taken(while: Self.isOfWord))
      default:
        position += 1
        return .symbol(Character(Unicode.Scalar(byte)))
      }
    }
    return nil
  }

  /// The text up to a quotation mark; two of them stand for one in the text.
  private mutating func quoted(by end: UInt8) -> String {
    position += 1
    var bytes: [UInt8] = []
    while let byte = current {
      position += 1
      if byte == end {
        guard current == end, end != UInt8(ascii: "]") else { break }
        position += 1
      }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private mutating func number() -> String {
    let start = position
    let isHexadecimal = current == UInt8(ascii: "0") && (following ?? 0) | 0x20 == UInt8(ascii: "x")
    while let byte = current {
      let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
      let isAfterExponent = position > start && text[position - 1] | 0x20 == UInt8(ascii: "e")
      guard
        Self.isOfWord(byte) || byte == UInt8(ascii: ".") || isSign && isAfterExponent && !isHexadecimal
      else { break }
      position += 1
    }
    return String(decoding: text[start..<position], as: UTF8.self)
  }

  private mutating func taken(while belongs: (UInt8) -> Bool) -> String {
    let start = position
    while let byte = current, belongs(byte) { position += 1 }
    return String(decoding: text[start..<position], as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    byte >= 0x80 || isDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
      || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
  }
}
