/// Placeholders with their arguments, and variables.
extension FormatParser {
  mutating func parsePlaceholder(_ name: String) throws(HeartwoodError) -> Part {
    if name == "K" { return .expression(try parsePath()) }
    let column = next.column
    let argument = try takeArgument()
    guard argument.keyPath == nil else {
      throw .predicate(
        "argument \(usedArguments) is a key path, which stands for %K, not for %\(name)", column: column)
    }
    if name != "@" { try check(argument, name, column) }
    return .expression(argument.expression)
  }

  mutating func takeArgument() throws(HeartwoodError) -> PredicateConstant {
    guard usedArguments < arguments.count else {
      throw .predicate(
        "there is no argument for \(next.quoted): only \(arguments.count) \(arguments.count == 1 ? "is" : "are") given",
        column: next.column)
    }
    advance()
    usedArguments += 1
    return arguments[usedArguments - 1]
  }

  private func check(_ argument: PredicateConstant, _ name: String, _ column: Int) throws(HeartwoodError) {
    let takesFraction = name.last.map { "fFeEgGaA".contains($0) } ?? false
    let takesText = name.hasSuffix("s") || name == "S"
    switch argument.value {
    case .string where takesText: return
    case .int where !takesText, .bool where !takesText: return
    case .double where takesFraction, .decimal where takesFraction: return
    case let value:
      throw .predicate(
        "argument \(usedArguments) is \(value?.kindName ?? "an object"); %\(name) takes "
          + (takesText ? "a text" : takesFraction ? "a number" : "an integer"), column: column)
    }
  }

  mutating func withVariable<Result>(
    _ name: String, _ scope: Scope, _ body: (inout FormatParser) throws(HeartwoodError) -> Result
  ) throws(HeartwoodError) -> Result {
    let shadowed = variables[name]
    variables[name] = scope
    let result = try body(&self)
    variables[name] = shadowed
    return result
  }
}
