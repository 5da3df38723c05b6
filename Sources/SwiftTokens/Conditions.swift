/// Removes from tokens what `#if` leaves out on Linux.
package struct Conditions {
  /// The names that the compiler is given, such as `DEBUG`.
  private let names: Set<String>

  /// - Parameter names: The names that the compiler is given, such as `DEBUG`.
  package static func active(_ tokens: [Token], names: Set<String> = []) -> [Token] {
    Conditions(names: names).active(tokens)
  }

  private func active(_ tokens: [Token]) -> [Token] {
    var result: [Token] = []
    /// Of each open `#if`: whether this part is read, and whether a part was.
    var open: [(isActive: Bool, isDone: Bool)] = []
    var next = 0
    while next < tokens.count {
      let token = tokens[next]
      guard token.kind == .word, ["#if", "#elseif", "#else", "#endif"].contains(token.text) else {
        // The end stays, also where an `#if` is not closed.
        if open.allSatisfy(\.isActive) || token.kind == .end { result.append(token) }
        next += 1
        continue
      }
      var end = next + 1
      while end < tokens.count, !tokens[end].isFirstOnLine, tokens[end].kind != .end { end += 1 }
      let condition = Array(tokens[(next + 1)..<end])
      switch token.text {
      case "#if":
        let holds = holds(condition)
        open.append((holds, holds))
      case "#elseif":
        if let last = open.popLast() {
          let holds = !last.isDone && holds(condition)
          open.append((holds, last.isDone || holds))
        }
      case "#else": if let last = open.popLast() { open.append((!last.isDone, true)) }
      default: _ = open.popLast()
      }
      next = end
    }
    return result
  }

  private func holds(_ tokens: [Token]) -> Bool {
    var rest = tokens[...]
    return either(&rest)
  }

  private func either(_ rest: inout ArraySlice<Token>) -> Bool {
    var value = both(&rest)
    while rest.count >= 2, rest.first?.is("|") == true {
      rest = rest.dropFirst(2)
      let other = both(&rest)
      value = value || other
    }
    return value
  }

  private func both(_ rest: inout ArraySlice<Token>) -> Bool {
    var value = one(&rest)
    while rest.count >= 2, rest.first?.is("&") == true {
      rest = rest.dropFirst(2)
      let other = one(&rest)
      value = value && other
    }
    return value
  }

  private func one(_ rest: inout ArraySlice<Token>) -> Bool {
    guard let first = rest.popFirst() else { return false }
    if first.is("!") { return !one(&rest) }
    if first.is("(") {
      let value = either(&rest)
      if rest.first?.is(")") == true { rest.removeFirst() }
      return value
    }
    guard rest.first?.is("(") == true else {
      return first.is("true") || first.is("SWIFT_PACKAGE") || names.contains(first.text)
    }
    var depth = 0
    var argument: [String] = []
    while let token = rest.popFirst() {
      if token.is("(") { depth += 1 }
      if token.is(")") { depth -= 1 }
      if depth == 0 { break }
      argument.append(token.text)
    }
    let name = argument.count > 1 ? argument[1] : ""
    switch first.text {
    case "os": return name == "Linux"
    case "canImport":
      return [
        "Foundation", "CoreData", "SwiftData", "Observation", "Dispatch", "Glibc", "Swift",
        "FoundationNetworking", "XCTest", "Testing",
      ].contains(name)
    case "swift", "compiler": return !argument.contains("<")
    default: return false
    }
  }
}
