import SwiftTokens

/// A property as its source declares it.
struct VariableDeclaration {
  let prefix: DeclarationPrefix
  /// The place of `let` or `var`.
  let keyword: Range<Int>
  let isConstant: Bool
  let name: String
  /// As it is written, with backticks.
  let writtenName: String
  private(set) var nameRange = 0..<0
  /// The annotation; nil without one.
  private(set) var type: String?
  private(set) var initialValue: String?
  /// Whether it has a body or `get`.
  private(set) var isComputed = false
  /// The place of `didSet` or `willSet`; nil without observers.
  private(set) var observer: Range<Int>?
  /// Whether more variables follow after a comma, or the pattern is a tuple.
  private(set) var isOneOfSeveral = false

  /// Reads the declaration whose prefix begins at `index`, and moves it behind the declaration. Nil if it is no variable; the index is
  /// then at the keyword of another declaration.
  init?(_ source: SourceText, _ index: inout Int) {
    prefix = DeclarationPrefix(source, &index)
    guard source[index].is("var") || source[index].is("let") else { return nil }
    keyword = source[index].range
    isConstant = source[index].is("let")
    index += 1
    guard source[index].kind == .word else {
      (name, writtenName, isOneOfSeveral) = ("", "", true)
      index = source.opensBrackets(at: index) ? source.cursor.end(ofBracketsAt: index) : index + 1
      return
    }
    name = source[index].text
    writtenName = source.text(source[index].range)
    nameRange = source[index].range
    index += 1
    if source[index].is(":") {
      let end = source.cursor.end(ofTypeAt: index + 1)
      type = source.text(from: index + 1, to: end)
      index = end
    }
    if source[index].is("="), !source[index + 1].is("=") {
      let end = Self.end(ofExpressionAt: index + 1, source)
      initialValue = source.text(from: index + 1, to: end)
      index = end
    }
    isOneOfSeveral = source[index].is(",")
    guard source[index].is("{") else { return }
    let first = Self.firstAccessor(source, index)
    if Self.isObserver(source, first) { observer = source[first].range } else { isComputed = true }
    index = source.cursor.end(ofBracketsAt: index)
  }

  private static func firstAccessor(_ source: SourceText, _ brace: Int) -> Int {
    var first = brace + 1
    while source[first].is("@") { first = source.cursor.end(ofAttributeAt: first) }
    return first
  }

  private static func isObserver(_ source: SourceText, _ index: Int) -> Bool {
    ["didSet", "willSet"].contains(source[index].text)
      && (source[index + 1].is("{") || source[index + 1].is("("))
  }

  /// The index after the expression that begins at `start`: at a comma, the observers, or what comes after the declaration.
  private static func end(ofExpressionAt start: Int, _ source: SourceText) -> Int {
    var next = start
    while source[next].kind != .end {
      let token = source[next]
      if token.is(",") || token.is("}") || token.is(";") { return next }
      if next > start {
        if token.is("{"), isObserver(source, firstAccessor(source, next)) { return next }
        if token.isFirstOnLine, !isContinued(source, next) { return next }
      }
      next = source.end(ofPartAt: next)
    }
    return next
  }

  /// Whether a token that begins a line goes on with the expression of the line before it.
  private static func isContinued(_ source: SourceText, _ index: Int) -> Bool {
    let operators: Set<String> = [
      "+", "-", "*", "/", "%", "&", "|", "<", ">", "=", "!", "^", "~", "?", ":", ".",
    ]
    let (token, before, last) = (source[index], source[index - 1], source[index - 2])
    // A closure after a call may be on a line of its own.
    if token.kind == .punctuation, operators.contains(token.text) || token.is("{") { return true }
    if token.kind == .word, ["as", "is", "in", "else"].contains(token.text) { return true }
    let isPostfix = before.range.lowerBound == last.range.upperBound
    if before.kind == .punctuation {
      // `T?`, `value!` and `List<T>` end an expression; `a ?`, `a >`, `as?` and `try!` do not.
      return ["?", "!", ">"].contains(before.text) && isPostfix
        ? last.is("as") || last.is("try") || last.is("?") : operators.contains(before.text)
    }
    return before.kind == .word
      && ["try", "await", "as", "is", "else", "if", "switch", "copy", "consume"].contains(before.text)
  }

  /// The name of the placeholder that `@_PersistedProperty` makes beside the variable, as it is written.
  var placeholderName: String { isInBackticks ? "`_\(name)`" : "_\(name)" }

  /// Whether its name is written in backticks.
  var isInBackticks: Bool { writtenName.hasPrefix("`") }

  /// Whether initialisers have to give it a value, which that of `@Model` cannot: it has an annotation that is not optional, and no value.
  var needsValue: Bool {
    guard initialValue == nil, let type, let last = type.last else { return false }
    // A wrapper, whose name begins with a capital letter, may have a value of its own; a tuple may have optional parts.
    return !["?", "!", ")"].contains(last) && !prefix.modifiers.contains("lazy")
      && prefix.attributes.allSatisfy { $0.name == "Transient" || $0.name.first?.isLowercase == true }
  }

  /// Whether its annotation is that of a list.
  var isList: Bool {
    guard let type else { return false }
    return type.hasPrefix("[") && !type.contains(":") || type.hasPrefix("Array<") || type.hasPrefix("Set<")
  }

  /// Whether each object has a value of its own.
  var isStored: Bool { !isComputed && !prefix.isStatic }

  /// Whether a model stores the property.
  ///
  /// - Parameter constants: Whether it stores constants.
  func isPersisted(constants: Bool) -> Bool {
    isStored && !isOneOfSeveral && (constants || !isConstant)
      && !prefix.modifiers.contains("lazy")
      && prefix.attribute("Transient") == nil
      && !name.hasPrefix("_$") && type != ModelExpansion.placeholder
  }
}
