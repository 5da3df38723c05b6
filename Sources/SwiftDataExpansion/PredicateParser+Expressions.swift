import SwiftTokens

/// Expressions: operators, casts, literals, lists and what is in parentheses.
extension PredicateParser {
  /// An expression of operators that bind at least as tightly as `least`.
  mutating func expression(_ least: Int, stopsAtBrace: Bool = false) throws(ExpansionError) -> Parsed {
    try beginNested()
    defer { depth -= 1 }
    var left = try prefixed(stopsAtBrace)
    while !isAtEnd {
      if token.is("as") || token.is("is") {
        left = (try cast(left), left.start)
        continue
      }
      if least == 0, token.is("?"), isSpaced(index) {
        left = (try ternary(left, stopsAtBrace), left.start)
        continue
      }
      guard let (infix, length) = infixOperator(), infix.precedence >= max(least, 1) else { break }
      index += length
      let right = try expression(
        infix == .coalesce ? infix.precedence : infix.precedence + 1, stopsAtBrace: stopsAtBrace)
      left = (joined(infix, left, right), left.start)
    }
    return left
  }

  private func joined(_ infix: PredicateSyntax.BinaryOperator, _ left: Parsed, _ right: Parsed)
    -> PredicateSyntax
  {
    // An expression that reads no variable stays as it is written; except nil, which has no type by itself.
    if case .constant = left.syntax, case .constant = right.syntax { return constant(from: left.start) }
    return .binary(infix, left.syntax, right.syntax)
  }

  func constant(from start: Int) -> PredicateSyntax { .constant(source.text(from: start, to: index)) }

  private mutating func ternary(_ test: Parsed, _ stopsAtBrace: Bool) throws(ExpansionError)
    -> PredicateSyntax
  {
    index += 1
    let first = try expression(0, stopsAtBrace: stopsAtBrace)
    try expect(":")
    let second = try expression(0, stopsAtBrace: stopsAtBrace)
    if case .constant = test.syntax, first.syntax.isConstant, second.syntax.isConstant {
      return constant(from: test.start)
    }
    return .conditional(test.syntax, first.syntax, second.syntax)
  }

  private mutating func cast(_ value: Parsed) throws(ExpansionError) -> PredicateSyntax {
    var kind = PredicateSyntax.CastKind.check
    let isCast = token.is("as")
    let place = index
    index += 1
    if isCast {
      guard token.is("?") || token.is("!") else {
        // `as Type`
        index = source.cursor.end(ofTypeAt: index)
        guard value.syntax.isConstant else {
          throw refused("in a predicate, 'as' needs '?' or '!'", place)
        }
        return constant(from: value.start)
      }
      kind = token.is("?") ? .conditional : .forced
      index += 1
    }
    let start = index
    index = source.cursor.end(ofTypeAt: index)
    if value.syntax.isConstant { return constant(from: value.start) }
    return .cast(value.syntax, type: source.text(from: start, to: index), kind: kind)
  }

  /// Whether there is space on both sides of a token, as around the sign of a ternary expression.
  func isSpaced(_ index: Int) -> Bool {
    source[index - 1].range.upperBound < source[index].range.lowerBound
      && source[index].range.upperBound < source[index + 1].range.lowerBound
  }

  private func infixOperator() -> (PredicateSyntax.BinaryOperator, length: Int)? {
    guard token.kind == .punctuation else { return nil }
    var text = ""
    var length = 0
    while length < 3, index + length < end, source[index + length].kind == .punctuation,
      "|&=!<>?.+-*/%".contains(source[index + length].text),
      length == 0 || source[index + length].range.lowerBound == source[index + length - 1].range.upperBound
    {
      text += source[index + length].text
      length += 1
    }
    while length > 0 {
      if let found = PredicateSyntax.BinaryOperator(rawValue: text) { return (found, length) }
      text.removeLast()
      length -= 1
    }
    return nil
  }

  private mutating func prefixed(_ stopsAtBrace: Bool) throws(ExpansionError) -> Parsed {
    try beginNested()
    defer { depth -= 1 }
    let start = index
    if token.is("!") {
      index += 1
      let operand = try prefixed(stopsAtBrace)
      return (operand.syntax.isConstant ? constant(from: start) : .negation(operand.syntax), start)
    }
    if token.is("-") {
      index += 1
      let operand = try prefixed(stopsAtBrace)
      return (operand.syntax.isConstant ? constant(from: start) : .minus(operand.syntax), start)
    }
    for word in ["try", "await"] where token.is(word) {
      throw refused("'\(word)' is not allowed in a predicate")
    }
    return (try postfixed(try primary(), start, stopsAtBrace), start)
  }

  private mutating func primary() throws(ExpansionError) -> PredicateSyntax {
    let start = index
    switch token.kind {
    case .number, .regex:
      index += 1
      return constant(from: start)
    case .string: return try string()
    case .word:
      if token.is("nil") {
        index += 1
        return .nilLiteral
      }
      let isPredicate = token.is("#Predicate") || token.is("#Expression")
      if isPredicate || token.text.hasPrefix("#") && (source[index + 1].is("(") || source[index + 1].is("<"))
      {
        throw refused("a macro is not allowed in a predicate: keep its result in a constant before")
      }
      let name = token.text
      index += 1
      return try named(name)
    case .punctuation:
      if token.is("(") { return try parenthesised() }
      if token.is("[") { return try list() }
      // An implicit member, `.active`; or a key path.
      if token.is("."), source[index + 1].kind == .word {
        index += 2
        return constant(from: start)
      }
      if token.is("\\") {
        index += 1
        while !isAtEnd, token.kind == .word || token.is(".") || token.is("?") || token.is("!") { index += 1 }
        return constant(from: start)
      }
    case .end: break
    }
    throw refused("this is not understood in a predicate")
  }

  private mutating func parenthesised() throws(ExpansionError) -> PredicateSyntax {
    let start = index
    let close = source.cursor.end(ofBracketsAt: index)
    if source.listItems(from: index + 1, to: close - 1).count > 1 {
      throw refused("a tuple is not allowed in a predicate")
    }
    if variableRead(to: close) == nil {
      index = close
      return constant(from: start)
    }
    index += 1
    let outer = end
    end = close - 1
    defer { end = outer }
    let value = try expression(0)
    guard isAtEnd else { throw refused("this is not understood in a predicate") }
    index = close
    if case .constant = value.syntax { return constant(from: start) }
    return value.syntax
  }

  private mutating func list() throws(ExpansionError) -> PredicateSyntax {
    let start = index
    let close = source.cursor.end(ofBracketsAt: index)
    let outer = end
    var isConstant = true
    defer {
      end = outer
      index = close
    }
    for item in source.listItems(from: index + 1, to: close - 1) {
      (index, end) = (item.lowerBound, item.upperBound)
      // A dictionary, `[:]`, or a type.
      guard !source[index].is(":") else { continue }
      let value = try expression(0)
      if token.is(":") {
        index += 1
        let element = try expression(0).syntax
        isConstant = isConstant && element.isConstant
      }
      isConstant = isConstant && value.syntax.isConstant
    }
    index = close
    guard isConstant else {
      throw refused("a list in a predicate may have no values of the model: compare with each of them", start)
    }
    return constant(from: start)
  }

  /// A string; one with interpolations must not read a variable.
  private mutating func string() throws(ExpansionError) -> PredicateSyntax {
    let start = index
    let close = min(end, source.cursor.end(ofStringAt: index))
    while index < close {
      if token.kind == .word, variables.contains(token.text) {
        throw refused(
          "a string of a predicate cannot contain '\(token.text)': compare parts, or keep the text in a constant"
        )
      }
      index += 1
    }
    return constant(from: start)
  }
}
