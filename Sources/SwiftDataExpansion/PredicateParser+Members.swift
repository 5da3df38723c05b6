import SwiftTokens

/// The postfixes of a value: members, calls, subscripts and optional chains.
extension PredicateParser {
  mutating func postfixed(
    _ first: PredicateSyntax, _ start: Int, _ stopsAtBrace: Bool
  ) throws(ExpansionError) -> PredicateSyntax {
    var value = first
    // Whether a constant is the beginning of an optional chain.
    var isChain = false
    while !isAtEnd {
      if token.is("."), source[index + 1].kind == .word, index + 1 < end {
        let base = value
        let name = source.text(source[index + 1].range)
        index += 2
        value = try member(value, name, start, stopsAtBrace)
        guard isChain, base.isConstant, case .call(_, let method) = value else { continue }
        return try optionalChain(base) { parser, variable throws(ExpansionError) in
          try parser.chained(.call(variable, method: method), start, stopsAtBrace)
        }
      } else if token.is("?"), source[index + 1].is(".") || source[index + 1].is("["), !isSpaced(index) {
        index += 1
        isChain = true
        if value.isConstant { continue }
        return try optionalChain(value) { parser, variable throws(ExpansionError) in
          try parser.chained(variable, start, stopsAtBrace)
        }
      } else if token.is("!"), !source[index].isFirstOnLine,
        source[index - 1].range.upperBound == source[index].range.lowerBound, !isNotEqual(index)
      {
        index += 1
        value = value.isConstant ? constant(from: start) : .forced(value)
      } else if token.is("["), !token.isFirstOnLine {
        let base = value
        value = try subscripted(value, start)
        guard isChain, base.isConstant, case .item(_, let index, let standard) = value else { continue }
        return try optionalChain(base) { parser, variable throws(ExpansionError) in
          try parser.chained(.item(variable, index: index, default: standard), start, stopsAtBrace)
        }
      } else if token.is("("), !token.isFirstOnLine {
        guard value.isConstant else { throw refused("this call is not understood in a predicate") }
        try checkConstant(to: source.cursor.end(ofBracketsAt: index))
        value = constant(from: start)
      } else if token.is("<"), value.isConstant, let close = genericEnd() {
        index = close
        value = constant(from: start)
      } else if token.is("{"), !stopsAtBrace, value.isConstant {
        try checkConstant(to: source.cursor.end(ofBracketsAt: index))
        value = constant(from: start)
      } else {
        break
      }
    }
    return value
  }

  /// Whether a `!` begins `!=`; in `a! == b` it does not.
  private func isNotEqual(_ index: Int) -> Bool {
    source[index + 1].is("=") && source[index].range.upperBound == source[index + 1].range.lowerBound
  }

  /// A chain whose rest reads a variable that stands for the wrapped value.
  private mutating func optionalChain(
    _ value: PredicateSyntax,
    _ rest: (inout PredicateParser, PredicateSyntax) throws(ExpansionError) -> PredicateSyntax
  ) throws(ExpansionError) -> PredicateSyntax {
    madeCount += 1
    let variable = "_chained\(madeCount)"
    return .optionalChain(value, variable: variable, body: try rest(&self, .variable(variable)))
  }

  /// The rest of an optional chain.
  private mutating func chained(
    _ first: PredicateSyntax, _ start: Int, _ stopsAtBrace: Bool
  ) throws(ExpansionError) -> PredicateSyntax {
    try beginNested()
    defer { depth -= 1 }
    return try postfixed(first, start, stopsAtBrace)
  }

  /// The index after generic arguments that are followed by a call.
  private func genericEnd() -> Int? {
    let close = source.cursor.end(ofBracketsAt: index)
    guard close < end, source[close].is("("),
      source[index].range.lowerBound == source[index - 1].range.upperBound
    else {
      return nil
    }
    return close
  }

  /// Passes over source that is kept as it is.
  ///
  /// - Throws: If it reads a variable of the closure.
  private mutating func checkConstant(to close: Int) throws(ExpansionError) {
    if let place = variableRead(to: close) {
      throw refused(
        "'\(source[place].text)' cannot be passed to a function in a predicate, which a store cannot call",
        place)
    }
    index = close
  }

  /// Where source from the next token on reads a variable of the closure; nil if it does not. Variables without names in a closure inside are those
  /// of that closure.
  func variableRead(to close: Int) -> Int? {
    var closures = 0
    for place in index..<max(index, close) {
      if source[place].is("{") { closures += 1 }
      if source[place].is("}") { closures -= 1 }
      let (text, former) = (source[place].text, source[place - 1])
      let isLabel = source[place + 1].is(":") && (former.is("(") || former.is(","))
      let isRead = source[place].kind == .word && variables.contains(text) && !former.is(".") && !isLabel
      if isRead, closures == 0 || !text.hasPrefix("$") { return place }
    }
    return nil
  }

  private mutating func subscripted(_ value: PredicateSyntax, _ start: Int) throws(ExpansionError)
    -> PredicateSyntax
  {
    let (open, close) = (index, source.cursor.end(ofBracketsAt: index))
    if value.isConstant, variableRead(to: close) == nil {
      index = close
      return constant(from: start)
    }
    let outer = end
    var parts: [PredicateSyntax] = []
    for item in source.listItems(from: index + 1, to: close - 1) {
      (index, end) = (item.lowerBound, item.upperBound)
      if token.is("default"), source[index + 1].is(":") { index += 2 }
      parts.append(try expression(0).syntax)
    }
    (end, index) = (outer, close)
    guard let first = parts.first, parts.count <= 2 else {
      throw refused("this subscript is not understood in a predicate", open)
    }
    return .item(value, index: first, default: parts.count == 2 ? parts[1] : nil)
  }

  private mutating func member(
    _ value: PredicateSyntax, _ name: String, _ start: Int, _ stopsAtBrace: Bool
  ) throws(ExpansionError) -> PredicateSyntax {
    let isCall = !isAtEnd && (token.is("(") && !token.isFirstOnLine || token.is("{") && !stopsAtBrace)
    guard isCall else { return value.isConstant ? constant(from: start) : .member(value, name: name) }
    if value.isConstant, variableRead(to: endOfCall(stopsAtBrace)) == nil {
      index = endOfCall(stopsAtBrace)
      return constant(from: start)
    }
    var method = PredicateSyntax.MethodCall(name: name, arguments: [])
    let outer = end
    let place = index
    if token.is("(") {
      let close = source.cursor.end(ofBracketsAt: index)
      for item in source.listItems(from: index + 1, to: close - 1) {
        (index, end) = (item.lowerBound, item.upperBound)
        if source[index].kind == .word, source[index + 1].is(":") {
          method.label = source[index].text
          index += 2
        }
        if token.is("{") {
          let (signature, body) = try closure()
          method.closure = .init(variable: signature.variables[0], body: body)
        } else {
          method.arguments.append(try expression(0).syntax)
        }
      }
      (end, index) = (outer, close)
    }
    if token.is("{"), !stopsAtBrace, !isAtEnd, method.closure == nil {
      let (signature, body) = try closure()
      method.closure = .init(variable: signature.variables[0], body: body)
    }
    guard PredicateWriter.methods.contains(name) else {
      throw refused("a store cannot call '\(name)': a predicate has \(PredicateWriter.methodList)", place - 1)
    }
    return .call(value, method: method)
  }

  /// The index after the arguments of a call, which begin with the next token, and after its closure.
  private func endOfCall(_ stopsAtBrace: Bool) -> Int {
    var close = index
    if token.is("(") { close = source.cursor.end(ofBracketsAt: close) }
    if close < end, source[close].is("{"), !stopsAtBrace { close = source.cursor.end(ofBracketsAt: close) }
    return min(close, end)
  }
}
