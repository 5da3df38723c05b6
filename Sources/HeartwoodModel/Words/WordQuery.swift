/// A query of `MATCHESWORDS` for a text: words, beginnings of words and phrases, with OR and NOT.
///
/// ```
/// query   = all { "OR" all }
/// all     = part { part }
/// part    = [ "NOT" | "-" ] ( "(" query ")" | """ words """ | words )
/// ```
///
/// Words without a space between them, as in `heart-wood`, are a phrase as if they were in quotation marks. A star at the end makes the last word
/// a beginning. A part without any word is left out; a query without any is true for no text.
struct WordQuery {
  /// Words that follow one another.
  struct Phrase: Equatable {
    var words: [[UInt8]]
    /// Whether the last word is the beginning of one.
    var isPrefix: Bool
  }

  indirect enum Node: Equatable {
    case phrase(Phrase)
    case not(Node)
    case all([Node])
    case any([Node])
  }

  /// Nil if nothing is looked for.
  let root: Node?

  /// - Throws: `.coreData` if the query is nested too deeply.
  init(_ text: String) throws(HeartwoodError) {
    var parser = WordQueryParser(text)
    root = try parser.parse()
  }

  func matches(_ words: TextWords) -> Bool { root.map { Self.holds($0, words) } ?? false }

  private static func holds(_ node: Node, _ words: TextWords) -> Bool {
    switch node {
    case .phrase(let phrase): phrase.isIn(words)
    case .not(let part): !holds(part, words)
    case .all(let parts): parts.allSatisfy { holds($0, words) }
    case .any(let parts): parts.contains { holds($0, words) }
    }
  }
}

extension WordQuery.Phrase {
  func isIn(_ text: TextWords) -> Bool {
    text.count >= words.count && (0...text.count - words.count).contains { isIn(text, at: $0) }
  }

  /// How often the phrase is in a text.
  func count(in text: TextWords) -> Int {
    guard text.count >= words.count else { return 0 }
    return (0...text.count - words.count).count { isIn(text, at: $0) }
  }

  private func isIn(_ text: TextWords, at place: Int) -> Bool {
    for (offset, word) in words.enumerated()
    where !text.isWord(word, at: place + offset, isPrefix: isPrefix && offset == words.count - 1) {
      return false
    }
    return true
  }
}

/// Reads a query. Every text is one.
private struct WordQueryParser {
  private enum Token: Equatable {
    case opening, closing, or, not
    case words(String)
  }

  private var tokens: [Token] = []
  private var position = 0
  private var depth = 0

  init(_ text: String) {
    var rest = text[...]
    while let character = rest.first {
      switch character {
      case "(": tokens.append(.opening)
      case ")": tokens.append(.closing)
      case "\"":
        let words = rest.dropFirst().prefix { $0 != "\"" }
        tokens.append(.words(String(words)))
        rest = rest[words.endIndex...].dropFirst()
        continue
      case _ where character.isWhitespace: break
      default:
        rest = rest.dropFirst(takeBare(rest))
        continue
      }
      rest = rest.dropFirst()
    }
  }

  /// - Returns: How many characters belong to the token.
  private mutating func takeBare(_ rest: Substring) -> Int {
    if rest.first == "-" {
      // A dash between words is none.
      if let next = rest.dropFirst().first, !next.isWhitespace { tokens.append(.not) }
      return 1
    }
    let bare = rest.prefix { !$0.isWhitespace && $0 != "(" && $0 != ")" && $0 != "\"" }
    switch bare {
    case "OR": tokens.append(.or)
    case "NOT": tokens.append(.not)
    case "AND": break
    default: tokens.append(.words(String(bare)))
    }
    return bare.count
  }

  mutating func parse() throws(HeartwoodError) -> WordQuery.Node? {
    var parts: [WordQuery.Node] = []
    while position < tokens.count {
      if let part = try parseQuery() { parts.append(part) }
      // A parenthesis that closes nothing.
      if position < tokens.count { position += 1 }
    }
    return Self.joined(parts) { .all($0) }
  }

  private mutating func parseQuery() throws(HeartwoodError) -> WordQuery.Node? {
    var parts: [WordQuery.Node] = []
    while true {
      if let part = try parseAll() { parts.append(part) }
      guard position < tokens.count, tokens[position] == .or else { break }
      position += 1
    }
    return Self.joined(parts) { .any($0) }
  }

  private mutating func parseAll() throws(HeartwoodError) -> WordQuery.Node? {
    var parts: [WordQuery.Node] = []
    while position < tokens.count, tokens[position] != .or, tokens[position] != .closing {
      if let part = try parsePart() { parts.append(part) }
    }
    return Self.joined(parts) { .all($0) }
  }

  private mutating func parsePart() throws(HeartwoodError) -> WordQuery.Node? {
    var isNegated = false
    while position < tokens.count, tokens[position] == .not {
      isNegated.toggle()
      position += 1
    }
    guard position < tokens.count else { return nil }
    let part: WordQuery.Node?
    switch tokens[position] {
    case .words(let text):
      position += 1
      part = Self.phrase(text)
    case .opening:
      position += 1
      depth += 1
      guard depth < 100 else {
        throw .predicate("the words of MATCHESWORDS are nested in more than 100 parentheses")
      }
      part = try parseQuery()
      depth -= 1
      if position < tokens.count { position += 1 }
    // Words are missing after NOT.
    case .closing, .or, .not: return nil
    }
    return isNegated ? part.map { .not($0) } : part
  }

  private static func phrase(_ text: String) -> WordQuery.Node? {
    let words = TextWords(text)
    guard words.count > 0 else { return nil }
    return .phrase(
      WordQuery.Phrase(words: (0..<words.count).map { Array(words[$0]) }, isPrefix: text.last == "*"))
  }

  private static func joined(_ parts: [WordQuery.Node], _ join: ([WordQuery.Node]) -> WordQuery.Node)
    -> WordQuery.Node?
  {
    parts.count > 1 ? join(parts) : parts.first
  }
}
