import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// How texts are split into words, and what queries of words say.
@Suite struct `Words and queries of words` {
  private func words(_ text: String) -> [String] {
    let words = TextWords(text)
    return (0..<words.count).map { String(decoding: words[$0], as: UTF8.self) }
  }

  private func matches(_ query: String, _ text: String) throws -> Bool {
    try WordQuery(query).matches(TextWords(text))
  }

  @Test(arguments: [
    ("", []), (" -- !", []), ("Heart of oak", ["heart", "of", "oak"]), ("Don't stop", ["don", "t", "stop"]),
    ("a1 B2c", ["a1", "b2c"]), ("under_score", ["under", "score"]),
    ("\u{C9}lan e\u{301}lan", ["elan", "elan"]), ("r\u{E9}sum\u{E9}, RESUME", ["resume", "resume"]),
    ("\u{6771}\u{4EAC} Tokyo", ["\u{6771}", "\u{4EAC}", "tokyo"]),
    ("x\u{6771}y", ["x", "\u{6771}", "y"]),
    ("\u{410}\u{411} \u{430}\u{431}1", ["\u{430}\u{431}", "\u{430}\u{431}1"]),
    ("end\u{2014}\u{1F600}begin", ["end", "begin"]),
  ])
  func `a text is split at what is no letter and no digit, and folded`(text: String, expected: [String]) {
    #expect(words(text) == expected)
  }

  @Test func `an index has each word once, in order, and the first bytes of long ones`() {
    let long = String(repeating: "\u{416}", count: 60)
    var indexed: [String] = []
    TextWords("b a B \(long) A").forEachIndexed { indexed.append(String(decoding: $0, as: UTF8.self)) }
    #expect(indexed == ["a", "b", String(repeating: "\u{436}", count: 48)])
    let odd = TextWords("x" + long)
    #expect(
      String(decoding: TextWords.cut(odd[0]), as: UTF8.self) == "x" + String(repeating: "\u{436}", count: 47))
  }

  @Test func `all words must occur, in any order`() throws {
    #expect(try matches("oak heart", "Heart of Oak"))
    #expect(try !matches("oak elm", "heart of oak"))
    #expect(try !matches("hear", "heart"))
    #expect(try matches("AND oak AND heart", "heart, oak"))
  }

  @Test func `a star makes a beginning, and quotation marks or signs within a word a phrase`() throws {
    #expect(try matches("hea* oa*", "heart of oak"))
    #expect(try !matches("hea*", "ahead"))
    #expect(try matches("\"of oak\"", "heart of oak"))
    #expect(try !matches("\"oak of\"", "heart of oak"))
    #expect(try matches("\"heart o*\"", "heart of oak"))
    #expect(try matches("heart-of", "heart of oak"))
    #expect(try !matches("heart-oak", "heart of oak"))
    #expect(try matches("\"a a b\"", "a a a b"))
  }

  @Test func `OR, NOT and parentheses combine`() throws {
    #expect(try matches("elm OR oak", "oak"))
    #expect(try matches("elm OR heart oak", "oak heart"))
    #expect(try !matches("elm OR heart oak", "oak"))
    #expect(try matches("(elm OR oak) heart", "heart oak"))
    #expect(try !matches("heart -oak", "heart oak"))
    #expect(try matches("heart NOT oak", "heart"))
    #expect(try matches("-(oak elm)", "oak"))
    #expect(try matches("or not", "or not"))
    #expect(try matches("heart - oak", "heart oak"))
  }

  @Test(arguments: [
    "", "  ", "\"\"", "\"", "*", "-", "(", ")", "()", "OR", "NOT", "OR OR", "! ?", "NOT )", ")(",
  ])
  func `a query without words is true for no text`(query: String) throws {
    #expect(try WordQuery(query).root == nil)
    #expect(try !matches(query, "text") && !matches(query, ""))
  }

  @Test func `what is incomplete is read as far as it goes`() throws {
    #expect(try matches("\"heart of", "heart of oak"))
    #expect(try matches("(heart", "heart"))
    #expect(try matches("heart)", "heart"))
    #expect(try !matches("heart) oak", "heart"))
    #expect(try matches("OR heart OR", "heart"))
    #expect(try WordQuery(String(repeating: "(", count: 90) + "a").matches(TextWords("a")))
    #expect(throws: HeartwoodError.self) { try WordQuery(String(repeating: "(", count: 200) + "a") }
  }

  @Test func `phrases are counted`() throws {
    guard case .phrase(let phrase)? = try WordQuery("\"a a\"").root else { return #expect(Bool(false)) }
    #expect(phrase.count(in: TextWords("a a a b a a")) == 3)
    #expect(phrase.count(in: TextWords("a")) == 0)
  }
}
