import SwiftTokens

/// A piece of source as its tokens, without what `#if` leaves out.
struct SourceText {
  let bytes: [UInt8]
  let cursor: TokenCursor

  /// - Parameter conditions: The names of conditions that hold, such as `DEBUG`.
  init(_ source: String, conditions: Set<String> = []) {
    bytes = Array(source.utf8)
    cursor = TokenCursor(Conditions.active(Lexer.tokens(of: bytes), names: conditions))
  }

  subscript(index: Int) -> Token { cursor[index] }

  /// The text of a range of bytes.
  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The text of the tokens from one index to another, as it is written.
  func text(from start: Int, to end: Int) -> String {
    start < end ? text(range(from: start, to: end)) : ""
  }

  /// The range of bytes of tokens.
  func range(from start: Int, to end: Int) -> Range<Int> {
    self[start].range.lowerBound..<self[max(start, end - 1)].range.upperBound
  }

  /// The text inside the brackets that begin at `index`; up to the end of the source where they are not closed.
  func textInBrackets(at index: Int) -> String {
    let (start, end) = (self[index].range.upperBound, cursor.end(ofBracketsAt: index))
    let close = self[end].kind == .end && !closesBrackets(at: end - 1) ? self[end] : self[end - 1]
    return text(start..<max(start, close.range.lowerBound))
  }

  /// Whether a token closes brackets.
  func closesBrackets(at index: Int) -> Bool {
    self[index].kind == .punctuation && [")", "]", "}"].contains(self[index].text)
  }

  /// - Throws: `ExpansionError` at a bracket that is not closed, or closes nothing. What reads the tokens after this need not expect such.
  func checkBrackets() throws(ExpansionError) {
    var open: [Token] = []
    for index in cursor.tokens.indices {
      if opensBrackets(at: index) { open.append(self[index]) }
      guard closesBrackets(at: index) else { continue }
      let opening = [")": "(", "]": "[", "}": "{"][self[index].text]
      guard let last = open.popLast(), last.text == opening else {
        throw ExpansionError("'\(self[index].text)' closes no bracket", at: self[index].range)
      }
    }
    if let last = open.last { throw ExpansionError("'\(last.text)' is not closed", at: last.range) }
  }

  /// Whether a token opens brackets.
  func opensBrackets(at index: Int) -> Bool {
    self[index].kind == .punctuation && ["(", "[", "{"].contains(self[index].text)
  }

  /// The index after the brackets, the string, the generic arguments or the token at `index`.
  func end(ofPartAt index: Int) -> Int {
    if opensBrackets(at: index) { return cursor.end(ofBracketsAt: index) }
    if self[index].kind == .string { return cursor.end(ofStringAt: index) }
    return cursor.end(ofGenericArgumentsAt: index) ?? index + 1
  }

  /// The pieces between commas that are outside of brackets, each as a range of tokens.
  func listItems(from start: Int, to end: Int) -> [Range<Int>] {
    var items: [Range<Int>] = []
    var first = start
    var next = start
    while next < end {
      if self[next].is(",") {
        items.append(first..<next)
        first = next + 1
      }
      next = self.end(ofPartAt: next)
    }
    if first < end { items.append(first..<end) }
    return items
  }
}

/// An attribute such as `@Relationship(deleteRule: .cascade)`.
struct AttributeUse {
  /// The name without a module.
  let name: String
  /// The text between the parentheses; nil without them.
  let arguments: String?
  let range: Range<Int>

  /// Whether it has the option `.unique`.
  var isUnique: Bool {
    arguments?.split(separator: ",").contains { $0.filter { !$0.isWhitespace }.hasSuffix(".unique") } == true
  }
}

/// Attributes and modifiers before a declaration.
struct DeclarationPrefix {
  private(set) var attributes: [AttributeUse] = []
  private(set) var modifiers: [String] = []

  private static let words: Set<String> = [
    "public", "open", "package", "internal", "fileprivate", "private", "final", "static", "class", "override",
    "lazy", "weak", "unowned", "nonisolated", "dynamic", "required", "convenience", "mutating", "nonmutating",
    "indirect", "isolated", "distributed", "optional", "borrowing", "consuming", "sending",
  ]

  /// Reads the prefix that begins at `index`, and moves it to the declaration's keyword.
  init(_ source: SourceText, _ index: inout Int) {
    while true {
      if source[index].is("@") {
        attributes.append(Self.attribute(source, &index))
      } else if Self.isModifier(source, index) {
        let start = index
        index += 1
        // `private(set)`, `unowned(unsafe)`
        if source[index].is("("), !source[index].isFirstOnLine {
          index = source.cursor.end(ofBracketsAt: index)
        }
        modifiers.append(source.text(from: start, to: index))
      } else {
        return
      }
    }
  }

  private static func isModifier(_ source: SourceText, _ index: Int) -> Bool {
    let (token, next) = (source[index], source[index + 1])
    guard token.kind == .word, words.contains(token.text) else { return false }
    // `class` before a member is a modifier, before a name the keyword.
    return !token.is("class") || ["var", "let", "func", "subscript"].contains(next.text)
      || words.contains(next.text)
  }

  private static func attribute(_ source: SourceText, _ index: inout Int) -> AttributeUse {
    let start = index
    let end = source.cursor.end(ofAttributeAt: start)
    var name = start + 1
    while source[name + 1].is("."), name + 2 < end { name += 2 }
    index = end
    let bracket = source.cursor.end(ofGenericArgumentsAt: name + 1) ?? name + 1
    return AttributeUse(
      name: source[name].text,
      arguments: bracket < end && source[bracket].is("(") ? source.textInBrackets(at: bracket) : nil,
      range: source.range(from: start, to: end))
  }

  func attribute(_ name: String) -> AttributeUse? { attributes.first { $0.name == name } }

  /// Whether it is marked as deprecated: what names it is to be marked too, or the compiler warns of it.
  var isDeprecated: Bool {
    attributes.contains { $0.name == "available" && $0.arguments?.contains("deprecated") == true }
  }

  var isStatic: Bool { modifiers.contains("static") || modifiers.contains("class") }
}
