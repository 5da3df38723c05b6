/// Splits Swift source into tokens. Interpolations in strings are split as well.
package struct Lexer {
  private let bytes: [UInt8]
  private var place = 0
  private var line = 1
  private var isFirstOnLine = true
  private var tokens: [Token] = []

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  package static func tokens(of bytes: [UInt8]) -> [Token] {
    var lexer = Lexer(bytes)
    lexer.run(until: nil)
    lexer.add(.end, from: bytes.count, text: "")
    return lexer.tokens
  }

  private func byte(_ offset: Int = 0) -> UInt8 { place + offset < bytes.count ? bytes[place + offset] : 0 }

  private mutating func advance(_ count: Int = 1) {
    for _ in 0..<count where place < bytes.count {
      if bytes[place] == UInt8(ascii: "\n") {
        line += 1
        isFirstOnLine = true
      }
      place += 1
    }
  }

  /// - Parameter beginning: Where a token of several lines begins: its line, and whether it is the first there.
  private mutating func add(
    _ kind: Token.Kind, from start: Int, text: String? = nil,
    beginning: (line: Int, isFirst: Bool)? = nil
  ) {
    tokens.append(
      Token(
        kind: kind, text: text ?? String(decoding: bytes[start..<place], as: UTF8.self), range: start..<place,
        line: beginning?.line ?? line, isFirstOnLine: beginning?.isFirst ?? isFirstOnLine))
    isFirstOnLine = false
  }

  /// - Parameter closing: The depth of parentheses at which an interpolation ends; nil for a whole file.
  private mutating func run(until closing: Int?) {
    var depth = 0
    while place < bytes.count {
      let current = byte()
      switch current {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): advance()
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"): skipLine()
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"): skipComment()
      case UInt8(ascii: "\""): string(hashes: 0)
      case UInt8(ascii: "#"): hash()
      case UInt8(ascii: "`"): backticks()
      case UInt8(ascii: "/") where beginsRegex: regex()
      case _ where isIdentifierStart(current): word()
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number()
      default:
        if closing != nil {
          if current == UInt8(ascii: "(") { depth += 1 }
          if current == UInt8(ascii: ")") {
            if depth == 0 { return }
            depth -= 1
          }
        }
        let start = place
        // The arrow is one sign, so that its `>` closes nothing.
        advance(current == UInt8(ascii: "-") && byte(1) == UInt8(ascii: ">") ? 2 : 1)
        add(.punctuation, from: start)
      }
    }
  }

  private func isIdentifierStart(_ byte: UInt8) -> Bool {
    (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "$") || byte >= 0x80
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  private mutating func word() {
    let start = place
    while place < bytes.count, isIdentifierStart(byte()) || isDigit(byte()) { advance() }
    add(.word, from: start)
  }

  private mutating func number() {
    let start = place
    while isIdentifierStart(byte()) || isDigit(byte()) || byte() == UInt8(ascii: ".") && isDigit(byte(1)) {
      advance()
    }
    add(.number, from: start)
  }

  private mutating func backticks() {
    let start = place
    advance()
    while place < bytes.count, byte() != UInt8(ascii: "`"), byte() != UInt8(ascii: "\n") { advance() }
    advance()
    let name = bytes[start..<place].filter { $0 != UInt8(ascii: "`") }
    add(.word, from: start, text: String(decoding: name, as: UTF8.self))
  }

  private mutating func skipLine() { while place < bytes.count, byte() != UInt8(ascii: "\n") { advance() } }

  private mutating func skipComment() {
    var depth = 0
    repeat {
      if byte() == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
        depth += 1
        advance(2)
      } else if byte() == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
        depth -= 1
        advance(2)
      } else {
        advance()
      }
    } while depth > 0 && place < bytes.count
  }

  /// `#word`, a raw string or an extended regular expression.
  private mutating func hash() {
    var count = 0
    while byte(count) == UInt8(ascii: "#") { count += 1 }
    if byte(count) == UInt8(ascii: "\"") { return string(hashes: count) }
    if byte(count) == UInt8(ascii: "/") { return extendedRegex(hashes: count) }
    let start = place
    advance()
    while isIdentifierStart(byte()) { advance() }
    add(.word, from: start)
  }

  private func closes(_ quotes: Int, _ hashes: Int) -> Bool {
    for index in 0..<quotes where byte(index) != UInt8(ascii: "\"") { return false }
    for index in 0..<hashes where byte(quotes + index) != UInt8(ascii: "#") { return false }
    return true
  }

  private mutating func string(hashes: Int) {
    var (start, beginning) = (place, (line: line, isFirst: isFirstOnLine))
    advance(hashes)
    let quotes = byte(1) == UInt8(ascii: "\"") && byte(2) == UInt8(ascii: "\"") ? 3 : 1
    advance(quotes)
    while place < bytes.count {
      if closes(quotes, hashes) {
        advance(quotes + hashes)
        break
      }
      if byte() == UInt8(ascii: "\n"), quotes == 1 { break }
      guard byte() == UInt8(ascii: "\\"), (0..<hashes).allSatisfy({ byte(1 + $0) == UInt8(ascii: "#") })
      else {
        advance()
        continue
      }
      guard byte(1 + hashes) == UInt8(ascii: "(") else {
        advance(2 + hashes)
        continue
      }
      advance(2 + hashes)
      add(.string, from: start, beginning: beginning)
      run(until: 0)
      (start, beginning) = (place, (line, false))
      advance()
    }
    add(.string, from: start, beginning: beginning)
  }

  // MARK: Regular expressions

  /// Whether a slash is where an expression begins, and another one follows on the line.
  private var beginsRegex: Bool {
    guard byte(1) != UInt8(ascii: " "), byte(1) != UInt8(ascii: "\t"), byte(1) != UInt8(ascii: "="),
      byte(1) != UInt8(ascii: ")")
    else { return false }
    if let last = tokens.last {
      switch last.kind {
      case .number, .string, .regex: return false
      case .word:
        if !["return", "in", "case", "try", "await", "where", "if", "while", "else"].contains(last.text) {
          return false
        }
      default: if ["]", ")", "}", "?", "!", ">"].contains(last.text) { return false }
      }
    }
    var next = 1
    while place + next < bytes.count, byte(next) != UInt8(ascii: "\n") {
      if byte(next) == UInt8(ascii: "/") { return true }
      next += byte(next) == UInt8(ascii: "\\") ? 2 : 1
    }
    return false
  }

  private mutating func regex() {
    let start = place
    advance()
    while place < bytes.count, byte() != UInt8(ascii: "/"), byte() != UInt8(ascii: "\n") {
      advance(byte() == UInt8(ascii: "\\") ? 2 : 1)
    }
    advance()
    add(.regex, from: start)
  }

  private mutating func extendedRegex(hashes: Int) {
    let (start, beginning) = (place, (line, isFirstOnLine))
    advance(hashes + 1)
    while place < bytes.count {
      if byte() == UInt8(ascii: "/"), (0..<hashes).allSatisfy({ byte(1 + $0) == UInt8(ascii: "#") }) {
        advance(1 + hashes)
        break
      }
      advance()
    }
    add(.regex, from: start, beginning: beginning)
  }
}
