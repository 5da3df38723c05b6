import SwiftTokens

/// A declaration of a class, an actor or another type, with what its body declares at its top.
struct TypeDeclaration {
  let prefix: DeclarationPrefix
  /// `class`, `struct`, `enum` or `actor`.
  let kind: Token
  let name: Token
  let writtenName: String
  /// The first type that the type inherits from, as it is written; nil for none.
  private(set) var firstInherited: String?
  private(set) var variables: [VariableDeclaration] = []
  /// Uses of macros in the body: `#Unique<Trip>([\.name])`.
  private(set) var macros: [MacroUse] = []
  /// Whether the body declares a function `==`.
  private(set) var declaresEquality = false

  struct MacroUse {
    let name: String
    /// The text between the angle brackets; nil without them.
    let generic: String?
    let arguments: String
    let range: Range<Int>
  }

  init?(_ source: SourceText) {
    var index = 0
    prefix = DeclarationPrefix(source, &index)
    guard ["class", "struct", "enum", "actor", "extension", "protocol"].contains(source[index].text) else {
      return nil
    }
    kind = source[index]
    name = source[index + 1]
    writtenName = source.text(name.range)
    index += 2
    if source[index].is("<") { index = source.cursor.end(ofBracketsAt: index) }
    if source[index].is(":") {
      var start = index + 1
      while source[start].is("@") { start = source.cursor.end(ofAttributeAt: start) }
      let end = source.cursor.end(ofTypeAt: start)
      if end > start { firstInherited = source.text(from: start, to: end) }
    }
    while source[index].kind != .end, !source[index].is("{") {
      index =
        source[index].is("<") || source[index].is("(") ? source.cursor.end(ofBracketsAt: index) : index + 1
    }
    index += 1
    while source[index].kind != .end, !source[index].is("}") { readMember(source, &index) }
  }

  /// False for a declaration of a type that is no class: `@Model` says so as it makes members, and its other roles say nothing. Reads what
  /// is before the body, as it is asked for each member of a class.
  static func mayBeClass(_ syntax: PluginRequest.Syntax?) -> Bool {
    guard let syntax, let head = syntax.source.split(separator: "{", maxSplits: 1).first else { return true }
    let source = SourceText(String(head))
    var index = 0
    _ = DeclarationPrefix(source, &index)
    return !["struct", "enum", "actor", "extension", "protocol"].contains(source[index].text)
  }

  private mutating func readMember(_ source: SourceText, _ index: inout Int) {
    if source[index].is(";") {
      index += 1
      return
    }
    if source[index].kind == .word, source[index].text.hasPrefix("#") { return readMacro(source, &index) }
    if let variable = VariableDeclaration(source, &index) {
      variables.append(variable)
      guard variable.isOneOfSeveral else { return }
    }
    if source[index].is("func"), source.text(from: index + 1, to: index + 3) == "==",
      !source[index + 3].is("=")
    {
      declaresEquality = true
    }
    skipMember(source, &index)
  }

  private mutating func readMacro(_ source: SourceText, _ index: inout Int) {
    let start = index
    let name = String(source[index].text.dropFirst())
    index += 1
    var generic: String?
    if source[index].is("<") {
      let end = source.cursor.end(ofBracketsAt: index)
      generic = source.text(from: index + 1, to: end - 1)
      index = end
    }
    guard source[index].is("("), !source[index].isFirstOnLine else { return }
    let arguments = source.textInBrackets(at: index)
    index = source.cursor.end(ofBracketsAt: index)
    macros.append(
      MacroUse(
        name: name, generic: generic, arguments: arguments, range: source.range(from: start, to: index)))
  }

  /// Moves behind a member that is no variable: to the next one, or to the end of the body.
  private func skipMember(_ source: SourceText, _ index: inout Int) {
    index = source.end(ofPartAt: index)
    while source[index].kind != .end, !source[index].is("}") {
      if source[index].is(";") || source[index].isFirstOnLine && beginsMember(source[index]) { return }
      index = source.end(ofPartAt: index)
    }
  }

  private static let memberWords: Set<String> = [
    "var", "let", "func", "init", "deinit", "subscript", "class", "struct", "enum", "actor", "typealias",
    "case",
    "protocol", "public", "open", "package", "internal", "fileprivate", "private", "final", "static",
    "override",
    "lazy", "weak", "unowned", "nonisolated", "required", "convenience", "indirect", "dynamic", "isolated",
  ]

  private func beginsMember(_ token: Token) -> Bool {
    token.is("@")
      || token.kind == .word && (token.text.hasPrefix("#") || Self.memberWords.contains(token.text))
  }

  /// The access of members that code elsewhere needs, with a blank behind it; empty for internal ones.
  var memberAccess: String {
    if prefix.modifiers.contains("public") || prefix.modifiers.contains("open") { return "public " }
    return prefix.modifiers.contains("package") ? "package " : ""
  }
}
