/// Finds the ends of types and brackets in tokens.
package struct TokenCursor {
  package let tokens: [Token]

  package init(_ tokens: [Token]) { self.tokens = tokens }

  package subscript(index: Int) -> Token { tokens[min(max(index, 0), tokens.count - 1)] }

  /// The index after the bracket that closes the one at `index`.
  package func end(ofBracketsAt index: Int) -> Int {
    let pairs = ["(": ")", "[": "]", "{": "}", "<": ">"]
    guard let closing = pairs[self[index].text] else { return index + 1 }
    let opening = self[index].text
    var depth = 0
    var next = index
    while self[next].kind != .end {
      if self[next].is(opening) { depth += 1 }
      if self[next].is(closing) {
        depth -= 1
        if depth == 0 { return next + 1 }
      }
      next += 1
    }
    return next
  }

  /// The index after the string that begins at `index`, with its interpolations.
  package func end(ofStringAt index: Int) -> Int {
    var depth = 0
    var next = index
    while self[next].kind != .end {
      let token = self[next]
      next += 1
      guard token.kind == .string else { continue }
      if token.text.hasPrefix(")") { depth -= 1 }
      if token.text.hasSuffix("(") { depth += 1 }
      if depth <= 0 { break }
    }
    return next
  }

  /// The index after the generic arguments that begin at `index`; nil if it is the sign of a comparison.
  package func end(ofGenericArgumentsAt index: Int) -> Int? {
    guard self[index].is("<"), self[index - 1].kind == .word,
      self[index].range.lowerBound == self[index - 1].range.upperBound
    else { return nil }
    var next = index
    repeat {
      let end = end(ofTypeAt: next + 1)
      if end == next + 1 { return nil }
      next = end
    } while self[next].is(",")
    return self[next].is(">") ? next + 1 : nil
  }

  /// The index after an attribute such as `@available(iOS 17, *)`.
  package func end(ofAttributeAt index: Int) -> Int {
    var next = index + 2
    while self[next].is("."), self[next + 1].kind == .word { next += 2 }
    next = end(ofGenericArgumentsAt: next) ?? next
    // Arguments follow at once; `@escaping (Int) -> Void` has none.
    if self[next].is("("), self[next].range.lowerBound == self[next - 1].range.upperBound {
      next = end(ofBracketsAt: next)
    }
    return next
  }

  /// Whether a token follows the one before it without a space.
  private func isAdjacent(_ index: Int) -> Bool {
    self[index].range.lowerBound == self[index - 1].range.upperBound
  }

  /// The index after the type that begins at `index`.
  package func end(ofTypeAt index: Int) -> Int {
    var next = index
    while true {
      while self[next].is("@") { next = end(ofAttributeAt: next) }
      while [
        "any", "some", "inout", "borrowing", "consuming", "sending", "__owned", "repeat", "each", "isolated",
      ].contains(self[next].text),
        self[next].kind == .word, self[next + 1].kind == .word || self[next + 1].is("(")
      { next += 1 }
      if self[next].is("(") || self[next].is("[") {
        next = end(ofBracketsAt: next)
      } else if self[next].kind == .word {
        next += 1
        if self[next].is("<") { next = end(ofBracketsAt: next) }
      } else {
        return next
      }
      while true {
        // `T?` is an optional type, `T ?? other` is not.
        if self[next].is("?") || self[next].is("!"),
          isAdjacent(next)
        {
          next += 1
        } else if self[next].is("."), self[next + 1].kind == .word {
          next += 2
          if self[next].is("<") { next = end(ofBracketsAt: next) }
        } else {
          break
        }
      }
      var following = next
      while self[following].is("async") || self[following].is("throws") || self[following].is("rethrows") {
        following += 1
        if self[following].is("(") { following = end(ofBracketsAt: following) }
      }
      // `A & B` is a type, `A && other` is not.
      if self[following].is("->")
        || self[following].is("&") && !(self[following + 1].is("&") && isAdjacent(following + 1))
      {
        next = following + 1
        continue
      }
      return next
    }
  }
}
