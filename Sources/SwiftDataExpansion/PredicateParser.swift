import SwiftTokens

/// Reads the closure of a predicate: its signature and its statements here, expressions in the extensions. A part that reads no
/// variable of the closure is kept as it is written.
struct PredicateParser {
  let source: SourceText
  /// The next token.
  var index: Int
  /// The end of the piece that is read.
  var end: Int
  /// The variables that are known here.
  var variables: Set<String> = []
  /// How many variables were made for optional chains.
  var madeCount = 0
  /// How many expressions the one that is read is inside of.
  var depth = 0

  typealias Parsed = (syntax: PredicateSyntax, start: Int)

  init(_ source: SourceText, from start: Int, to end: Int) {
    self.source = source
    (index, self.end) = (start, end)
  }

  var token: Token { index < end ? source[index] : source[source.cursor.tokens.count - 1] }
  var isAtEnd: Bool { index >= end || source[index].kind == .end }

  func refused(_ message: String, _ place: Int? = nil) -> ExpansionError {
    ExpansionError(message, at: source[min(place ?? index, end)].range)
  }

  mutating func expect(_ text: String) throws(ExpansionError) {
    guard token.is(text) else { throw refused("'\(text)' is expected here in a predicate") }
    index += 1
  }

  /// Notes that an expression inside of another one begins; the caller decreases `depth` at its end.
  ///
  /// - Throws: If there are too many around it for the stack, or for the compiler.
  mutating func beginNested() throws(ExpansionError) {
    depth += 1
    if depth > 200 {
      throw refused("this predicate is nested too deeply: keep a part of it in a predicate of its own")
    }
  }

  // MARK: Closures

  struct Signature {
    var variables: [String]
    /// As they are written; nil without one.
    var types: [String?]

    /// `$0`, `$1` and so on.
    init(implicit count: Int) { self.init((0..<count).map { "$\($0)" }) }

    init(_ variables: [String], types: [String?]? = nil) {
      self.variables = variables
      self.types = types ?? variables.map { _ in nil }
    }
  }

  /// Reads a closure, whose opening brace is the next token.
  mutating func closure(isOutermost: Bool = false) throws(ExpansionError) -> (Signature, PredicateSyntax) {
    let close = source.cursor.end(ofBracketsAt: index)
    try expect("{")
    let outer = (end: end, variables: variables)
    end = close - 1
    defer {
      (end, variables) = outer
      index = close
    }
    let signature = try signature()
    variables.formUnion(signature.variables)
    return (signature, try statements())
  }

  private mutating func signature() throws(ExpansionError) -> Signature {
    guard let keyword = inKeyword() else { return Signature(implicit: implicitCount()) }
    var first = index
    if source[first].is("[") { first = source.cursor.end(ofBracketsAt: first) }
    var last = keyword
    if source[first].is("(") {
      last = source.cursor.end(ofBracketsAt: first) - 1
      first += 1
    } else if let arrow = (first..<keyword).first(where: { source[$0].is("->") }) {
      last = arrow
    }
    let items = source.listItems(from: first, to: last)
    guard !items.isEmpty, items.allSatisfy({ source[$0.lowerBound].kind == .word }) else {
      throw refused("a closure of a predicate has at least one variable with a name", first)
    }
    index = keyword + 1
    return Signature(
      items.map { source[$0.lowerBound].text },
      types: items.map { item in
        source[item.lowerBound + 1].is(":") && item.count > 2
          ? source.text(from: item.lowerBound + 2, to: item.upperBound) : nil
      })
  }

  /// The place of `in` after a signature; nil without one.
  private func inKeyword() -> Int? {
    var place = index
    while place < end {
      // As a member it is a name like any other.
      if source[place].is("in"), !source[place - 1].is(".") { return place }
      if source[place].is("{") { return nil }
      place = source.opensBrackets(at: place) ? source.cursor.end(ofBracketsAt: place) : place + 1
    }
    return nil
  }

  /// How many variables without names a closure has: at least one.
  private func implicitCount() -> Int {
    (lastImplicit(in: index..<end) ?? 0) + 1
  }

  /// The greatest number of a variable without a name; nil for none. Those of closures inside are their own.
  private func lastImplicit(in range: Range<Int>) -> Int? {
    var numbers: [Int?] = []
    var place = range.lowerBound
    var isCondition = false
    while place < range.upperBound {
      let token = source[place]
      guard source.opensBrackets(at: place) else {
        if token.is("if") { isCondition = true }
        if token.kind == .word, token.text.hasPrefix("$") { numbers.append(Int(token.text.dropFirst())) }
        place += 1
        continue
      }
      let close = source.cursor.end(ofBracketsAt: place)
      let isClosure = token.is("{") && !isCondition && !source[place - 1].is("else")
      if token.is("{") { isCondition = false }
      if !isClosure { numbers.append(lastImplicit(in: (place + 1)..<max(place + 1, close - 1))) }
      place = close
    }
    return numbers.compactMap { $0 }.max()
  }

  /// The statements of a body: one expression, or `if` with a value in each branch.
  private mutating func statements() throws(ExpansionError) -> PredicateSyntax {
    while token.is(";") { index += 1 }
    if token.is("return") { index += 1 }
    if token.is("let") || token.is("var") || token.is("for") || token.is("while") || token.is("guard")
      || token.is("switch")
    {
      throw refused(
        "a predicate is one expression or 'if' with one in each branch: '\(token.text)' is not allowed in it")
    }
    guard !isAtEnd else { throw refused("a predicate needs an expression") }
    let value = token.is("if") ? try ifStatement() : try expression(0).syntax
    while token.is(";") { index += 1 }
    guard isAtEnd else {
      throw refused("a predicate is one expression: this is a second one, or is not understood")
    }
    return value
  }

  private mutating func ifStatement() throws(ExpansionError) -> PredicateSyntax {
    try beginNested()
    defer { depth -= 1 }
    try expect("if")
    var bindings: [(variable: String, value: PredicateSyntax)] = []
    var condition: PredicateSyntax?
    let outer = variables
    repeat {
      if token.is(",") { index += 1 }
      if token.is("let"), source[index + 1].kind == .word {
        guard condition == nil else {
          throw refused("in a predicate, 'if let' comes before other conditions")
        }
        index += 1
        let name = token.text
        index += 1
        let value: PredicateSyntax
        if token.is("=") {
          index += 1
          value = try expression(0, stopsAtBrace: true).syntax
        } else {
          value = try named(name)
        }
        bindings.append((name, value))
        variables.insert(name)
      } else {
        let next = try expression(0, stopsAtBrace: true).syntax
        condition = condition.map { .binary(.and, $0, next) } ?? next
      }
    } while token.is(",")
    let body = try block()
    variables = outer
    guard token.is("else") else { throw refused("'if' of a predicate needs an 'else' with a value") }
    index += 1
    let otherwise = token.is("if") ? try ifStatement() : try block()
    var value = condition.map { .conditional($0, body, otherwise) } ?? body
    for binding in bindings.reversed() {
      value = .binding(binding.value, variable: binding.variable, body: value, otherwise: otherwise)
    }
    return value
  }

  private mutating func block() throws(ExpansionError) -> PredicateSyntax {
    guard token.is("{") else { throw refused("'{' is expected here in a predicate") }
    let close = source.cursor.end(ofBracketsAt: index)
    index += 1
    let outer = end
    end = close - 1
    defer {
      end = outer
      index = close
    }
    return try statements()
  }

  func named(_ name: String) throws(ExpansionError) -> PredicateSyntax {
    variables.contains(name) ? .variable(name) : .constant(name)
  }
}
