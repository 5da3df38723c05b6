import SwiftTokens

/// The expansion of `#Predicate<Trip> { $0.name == "x" }` and `#Expression`.
struct PredicateExpansion {
  private let generics: String
  private let signature: PredicateParser.Signature
  private let body: String

  /// - Throws: `ExpansionError` at what a store cannot evaluate.
  init(_ syntax: PluginRequest.Syntax) throws(ExpansionError) {
    let source = SourceText(syntax.source)
    try source.checkBrackets()
    var index = 1
    var generics: String?
    // A qualified name: `#SwiftData.Predicate`.
    while source[index].is(".") { index += 2 }
    if source[index].is("<") {
      let end = source.cursor.end(ofBracketsAt: index)
      generics = source.text(from: index, to: end)
      index = end
    }
    if source[index].is("(") { index += 1 }
    while source[index].kind != .end, !source[index].is("{") { index += 1 }
    guard source[index].is("{") else {
      throw ExpansionError("a predicate is written as a closure", at: source[0].range)
    }
    var parser = PredicateParser(source, from: index, to: source.cursor.tokens.count - 1)
    let (signature, condition) = try parser.closure()
    self.generics = generics ?? ""
    self.signature = signature
    body = PredicateWriter.body(of: condition, variables: signature.variables)
  }

  var predicate: String { expansion("Predicate") }
  var expression: String { expansion("Expression") }

  private func expansion(_ type: String) -> String {
    let names = signature.variables.indices.map { PredicateWriter.inputName($0) }
    let isTyped = generics.isEmpty && signature.types.allSatisfy { $0 != nil }
    let parameters = zip(names, signature.types).map { name, type in
      isTyped ? "\(name): Foundation.PredicateExpressions.Variable<\(type ?? "_")>" : name
    }
    let list = parameters.joined(separator: ", ")
    return "Foundation.\(type)\(generics)({ \(isTyped ? "(\(list))" : list) in\n\(body)\n})"
  }
}
