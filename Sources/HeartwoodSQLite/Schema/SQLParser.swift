/// Steps through the tokens of a statement.
struct SQLParser {
  private let tokens: [SQLTokens.Token]
  private var position = 0

  init(_ sql: String) { tokens = SQLTokens(sql).tokens }

  var current: SQLTokens.Token? { position < tokens.count ? tokens[position] : nil }

  mutating func skip() { position += 1 }

  /// Whether the word is next; words are compared without case.
  func isAt(_ word: String, ahead: Int = 0) -> Bool {
    guard position + ahead < tokens.count, case .word(let found) = tokens[position + ahead] else {
      return false
    }
    return found.isSameName(as: word)
  }

  func isAt(symbol: Character, ahead: Int = 0) -> Bool {
    position + ahead < tokens.count && tokens[position + ahead] == .symbol(symbol)
  }

  /// Passes the words if they are next.
  mutating func take(_ words: String...) -> Bool {
    for (index, word) in words.enumerated() where !isAt(word, ahead: index) { return false }
    position += words.count
    return true
  }

  mutating func take(symbol: Character) -> Bool {
    guard isAt(symbol: symbol) else { return false }
    position += 1
    return true
  }

  /// Passes a name, with or without quotation marks of any kind.
  mutating func name() -> String? {
    switch current {
    case .word(let name), .name(let name), .string(let name):
      position += 1
      return name
    default: return nil
    }
  }

  /// Passes one token, or everything in parentheses; returns what was in them.
  @discardableResult
  mutating func skipGroup() -> [SQLTokens.Token] {
    guard isAt(symbol: "(") else {
      position += 1
      return []
    }
    let start = position + 1
    var depth = 0
    while let token = current {
      position += 1
      if token == .symbol("(") { depth += 1 }
      if token == .symbol(")") { depth -= 1 }
      if depth == 0 { return Array(tokens[start..<position - 1]) }
    }
    return Array(tokens[min(start, tokens.count)...])
  }
}

extension String {
  /// Whether both are the same name to SQLite, which compares names without the case of ASCII letters.
  func isSameName(as other: String) -> Bool { lowercasedName == other.lowercasedName }

  /// The name with small ASCII letters.
  var lowercasedName: String {
    String(decoding: utf8.map { $0 >= 65 && $0 <= 90 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
