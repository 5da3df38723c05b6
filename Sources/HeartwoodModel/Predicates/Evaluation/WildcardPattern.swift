/// A pattern with `*` for any number of characters and `?` for one.
struct WildcardPattern {
  private enum Token {
    case byte(UInt8)
    case one
    case any
  }

  private var tokens: [Token] = []

  /// - Parameter pattern: a backslash makes the next character literal.
  init(_ pattern: String) {
    var isEscaped = false
    for byte in pattern.utf8 {
      switch byte {
      case UInt8(ascii: "\\") where !isEscaped:
        isEscaped = true
        continue
      case UInt8(ascii: "*") where !isEscaped: tokens.append(.any)
      case UInt8(ascii: "?") where !isEscaped: tokens.append(.one)
      default: tokens.append(.byte(byte))
      }
      isEscaped = false
    }
  }

  /// Backtracks to the last star only, because earlier ones never need to match more. At most pattern × text
  /// steps.
  func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    var token = 0
    var resume: (token: Int, position: Int)?
    while position < text.count {
      if token < tokens.count, let next = step(tokens[token], text, position) {
        if case .any = tokens[token] { resume = (token + 1, position) }
        token += 1
        position = next
      } else if let last = resume {
        position = text.endOfScalar(at: last.position)
        token = last.token
        resume = (last.token, position)
      } else {
        return false
      }
    }
    return tokens[token...].allSatisfy { if case .any = $0 { true } else { false } }
  }

  private func step(_ token: Token, _ text: UnsafeRawBufferPointer, _ position: Int) -> Int? {
    switch token {
    case .any: position
    case .one: text.endOfScalar(at: position)
    case .byte(let byte): text[position] == byte ? position + 1 : nil
    }
  }
}
