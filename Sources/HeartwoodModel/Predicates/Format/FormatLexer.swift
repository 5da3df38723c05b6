import Foundation

/// Splits a predicate's text into tokens.
package struct FormatLexer {
  /// Scalars, not characters: a combining mark after a quote would form one character with it.
  private let text: [Unicode.Scalar]
  private var position = 0
  private var tokens: [FormatToken] = []

  /// Limits within which a text with too many parts is refused at once.
  private static let mostTokens = 20 * TreeSize.greatestCount
  private static let mostBytes = 16 << 20

  private init(_ text: String) { self.text = Array(text.unicodeScalars) }

  /// All tokens, the last of them `end`.
  package static func tokens(of text: String) throws(HeartwoodError) -> [FormatToken] {
    guard text.utf8.count <= mostBytes else {
      throw .predicate("the text is longer than \(mostBytes) bytes; pass long values as arguments")
    }
    var lexer = FormatLexer(text)
    while lexer.skipSpace() {
      guard lexer.tokens.count < mostTokens else {
        throw .predicate(
          "it has more than \(mostTokens) words and signs; split the fetch, or pass a list as an argument of IN",
          column: lexer.position + 1)
      }
      try lexer.readToken()
    }
    lexer.append(.end, from: lexer.position)
    return lexer.tokens
  }

  private var next: Unicode.Scalar? { position < text.count ? text[position] : nil }
  private var afterNext: Unicode.Scalar? { position + 1 < text.count ? text[position + 1] : nil }

  private mutating func append(_ kind: FormatToken.Kind, from start: Int) {
    tokens.append(FormatToken(kind: kind, column: start + 1))
  }

  /// - Returns: whether any text is left.
  private mutating func skipSpace() -> Bool {
    while let next, next.properties.isWhitespace { position += 1 }
    return next != nil
  }

  private mutating func readToken() throws(HeartwoodError) {
    let start = position
    guard let character = next else { return }
    if let uuid = readUUID() { return append(.uuid(uuid), from: start) }
    switch character {
    case "\"", "'": append(.text(try readText(closedBy: character)), from: start)
    case "0"..."9": append(try readNumber(), from: start)
    case "." where afterNext?.isDigit == true: append(try readNumber(), from: start)
    case "%": append(.placeholder(try readPlaceholder()), from: start)
    case "@": append(.function(try readMarkedName("a function such as @count")), from: start)
    case "$": append(.variable(try readMarkedName("a variable's name")), from: start)
    case "#": append(.name(try readMarkedName("a property's name"), isEscaped: true), from: start)
    case _ where character.isNameStart: append(.name(readName(), isEscaped: false), from: start)
    default: append(.sign(try readSign()), from: start)
    }
  }

  private func string(_ range: Range<Int>) -> String {
    var string = ""
    string.unicodeScalars.append(contentsOf: text[range])
    return string
  }

  private mutating func readName() -> String {
    let start = position
    // Names of functions have colons: `add:to:`.
    while let next, next.isNamePart || next == ":" && afterNext != "=" { position += 1 }
    return string(start..<position)
  }

  private mutating func readMarkedName(_ wanted: String) throws(HeartwoodError) -> String {
    let start = position
    position += 1
    guard let next, next.isNameStart else {
      throw .predicate("after \(text[start]) there must be \(wanted)", column: start + 1)
    }
    return readName()
  }

  private mutating func readSign() throws(HeartwoodError) -> String {
    let start = position
    for length in [2, 1] where start + length <= text.count {
      let sign = string(start..<start + length)
      guard let meaning = Self.signs[sign] else { continue }
      position += length
      return meaning
    }
    throw .predicate("the character '\(text[start])' is not valid here", column: start + 1)
  }

  /// Every sign with its canonical spelling.
  private static let signs: [String: String] = {
    var signs = ["=": "==", "<>": "!=", "=<": "<=", "=>": ">="]
    for sign in [
      "==", "!=", "<", "<=", ">", ">=", "&&", "||", "!", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-",
      "*", "/", "**", "&", "|", "^", "~", "<<", ">>",
    ] {
      signs[sign] = sign
    }
    return signs
  }()
}

/// Placeholders and numbers.
extension FormatLexer {
  /// `%@`, `%K`, and the conversions of `printf` with their modifiers: only the kind of the value matters.
  private mutating func readPlaceholder() throws(HeartwoodError) -> String {
    let start = position
    position += 1
    let modifiers: Set<Unicode.Scalar> = ["h", "l", "q", "L", "z", "t", "j"]
    while let next, modifiers.contains(next) { position += 1 }
    if let next,
      "dDiuUxXoOcCfFeEgGaAs".unicodeScalars.contains(next)
        || position == start + 1 && "@KS".unicodeScalars.contains(next)
    {
      position += 1
      return string((start + 1)..<position)
    }
    throw .predicate(
      "unknown placeholder: use one of %@, %K, %d, %i, %u, %x, %ld, %f or %s; a remainder is modulus:by:(a, b)",
      column: start + 1)
  }

  private mutating func readNumber() throws(HeartwoodError) -> FormatToken.Kind {
    if next == "0", let radix = afterNext.flatMap({ Self.radixes[$0] }) {
      return try readDigits(radix: radix)
    }
    let start = position
    var isWhole = true
    skipDigits()
    if next == ".", let afterNext, afterNext.isDigit {
      isWhole = false
      position += 1
      skipDigits()
    }
    if skipExponent() { isWhole = false }
    let digits = string(start..<position)
    try checkEnd(of: digits, from: start)
    if isWhole, let number = Int64(digits) { return .integer(number) }
    guard let number = Double(digits) else {
      throw .predicate("'\(digits)' is not a number", column: start + 1)
    }
    guard number.isFinite else {
      throw .predicate("'\(digits)' is a larger number than any attribute has", column: start + 1)
    }
    // A decimal has more digits, for comparisons with decimals.
    if let decimal = DecimalText.nearest(digits), !decimal.isNaN,
      DecimalText.nearest("\(number)") != decimal
    {
      return .decimal(decimal)
    }
    return .number(number)
  }

  /// A UUID in capitals: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
  private mutating func readUUID() -> UUID? {
    let end = position + 36
    guard end <= text.count, text[position + 8] == "-", text[position + 13] == "-",
      end == text.count || !text[end].isNamePart, let uuid = UUID(uuidString: string(position..<end)),
      uuid.uuidString == string(position..<end)
    else { return nil }
    position = end
    return uuid
  }

  private static let radixes: [Unicode.Scalar: Int] = [
    "x": 16, "X": 16, "o": 8, "O": 8, "b": 2, "B": 2,
  ]

  /// A hexadecimal, octal or binary number.
  private mutating func readDigits(radix: Int) throws(HeartwoodError) -> FormatToken.Kind {
    let start = position
    position += 2
    while let next, next.properties.isASCIIHexDigit { position += 1 }
    let digits = string(start..<position)
    try checkEnd(of: digits, from: start)
    guard let number = UInt64(digits.dropFirst(2), radix: radix) else {
      throw .predicate("'\(digits)' is no number to the base of \(radix) with 64 bits", column: start + 1)
    }
    return Int64(exactly: number).map(FormatToken.Kind.integer) ?? .number(Double(number))
  }

  private func checkEnd(of digits: String, from start: Int) throws(HeartwoodError) {
    guard let next, next.isNamePart else { return }
    throw .predicate("'\(digits)\(next)' is neither a number nor a name", column: start + 1)
  }

  private mutating func skipDigits() {
    while let next, next.isDigit { position += 1 }
  }

  private mutating func skipExponent() -> Bool {
    guard next == "e" || next == "E" else { return false }
    var digits = position + 1
    if digits < text.count, text[digits] == "+" || text[digits] == "-" { digits += 1 }
    guard digits < text.count, text[digits].isDigit else { return false }
    position = digits
    skipDigits()
    return true
  }
}

/// Strings in quotes.
extension FormatLexer {
  private mutating func readText(closedBy quote: Unicode.Scalar) throws(HeartwoodError) -> String {
    let start = position
    var result = ""
    position += 1
    while let character = next {
      position += 1
      if character == quote { return result }
      if character == "\\" { result += try readEscape() } else { result.unicodeScalars.append(character) }
    }
    throw .predicate("the text that begins here is not closed by \(quote)", column: start + 1)
  }

  /// The text of an escape sequence. `\*` and `\?` stay as they are, for LIKE, and so do unknown sequences.
  private mutating func readEscape() throws(HeartwoodError) -> String {
    let start = position - 1
    guard let character = next else { throw .predicate("the text ends after a backslash", column: start + 1) }
    position += 1
    switch character {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "\\", "\"", "'": return String(character)
    case "u": return try readScalar(digits: 4, from: start)
    case "U": return try readScalar(digits: 8, from: start)
    default: return "\\" + String(character)
    }
  }

  private mutating func readScalar(digits: Int, from start: Int) throws(HeartwoodError) -> String {
    let end = position + digits
    guard end <= text.count, let number = UInt32(string(position..<end), radix: 16),
      let scalar = Unicode.Scalar(number)
    else {
      throw .predicate("\\u needs four, \\U eight hexadecimal digits of a character", column: start + 1)
    }
    position = end
    return String(Character(scalar))
  }
}

extension Unicode.Scalar {
  fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
  fileprivate var isNameStart: Bool { self == "_" || properties.isAlphabetic }
  fileprivate var isNamePart: Bool { isNameStart || isDigit || properties.isIDContinue }
}
