/// A function or a variable of an extension, which the body of its class declares in its place: in Objective-C members of extensions override
/// and are overridden, in Swift they don't.
struct ExtensionMember {
  /// Name and labels, by which overrides are found: `willSave()`.
  let key: String
  let isOverride: Bool
  /// The declaration for the class, which calls the extension's under its new name.
  let declaration: String
  /// The name in the extension.
  let newName: String
}

extension Translation {
  /// Notes a member of a class or of an extension; renames one that has to be in the class.
  ///
  /// - Parameter start: The place of `func` or `var`.
  mutating func member(at start: Int) {
    guard let scope = (scopes.last ?? nil), scope.isClass || scope.isExtension else { return }
    let isOverride = pending.modifiers.contains { cursor[$0].is("override") }
    if scope.isClass {
      guard isOverride, !isWriting, let key = key(at: start) else { return }
      return index.noteOverride(of: key, in: scope.name)
    }
    guard let member = extensionMember(at: start, of: scope.name, isOverride) else { return }
    guard isWriting else { return index.note(member, of: scope.name) }
    guard index.isMoved(member, of: scope.name) else {
      if isOverride {
        fail(
          cursor[start],
          "\(member.key) overrides a member in an extension, and the class \(scope.name) is not declared in this target: move it into the class"
        )
      }
      return
    }
    for place in pending.modifiers
    where ["override", "private", "fileprivate", "open", "final"].contains(cursor[place].text) {
      remove(place..<(place + 1))
    }
    replace((start + 1)..<(start + 2), member.newName)
  }

  /// Name and labels of a member; nil for what is neither a named function nor a variable.
  private func key(at start: Int) -> String? {
    let name = cursor[start + 1]
    guard name.kind == .word else { return nil }
    guard cursor[start].is("func") else { return name.text }
    guard let parameters = parameters(at: start + 2) else { return nil }
    return "\(name.text)(\(parameters.map { $0.label + ":" }.joined()))"
  }

  /// The labels of a function's parameters; nil if there is no bracket.
  func parameterLabels(at start: Int) -> [String]? { parameters(at: start)?.map(\.label) }

  private struct Parameter {
    let label: String
    let name: String
    let isInout: Bool
  }

  /// - Parameter start: The place of the bracket.
  private func parameters(at start: Int) -> [Parameter]? {
    guard cursor[start].is("(") else { return nil }
    let end = cursor.end(ofBracketsAt: start)
    var found: [Parameter] = []
    var next = start + 1
    while next < end - 1 {
      while cursor[next].is("@") { next = cursor.end(ofAttributeAt: next) }
      let label = cursor[next].text
      let hasName = cursor[next + 1].kind == .word
      let name = cursor[hasName ? next + 1 : next].text
      while next < end - 1, !cursor[next].is(":") { next += 1 }
      let type = next + 1
      next = cursor.end(ofTypeAt: type)
      while next < end - 1, !cursor[next].is(",") {
        let isOpening = ["(", "[", "{"].contains(cursor[next].text)
        next = isOpening ? cursor.end(ofBracketsAt: next) : next + 1
      }
      found.append(Parameter(label: label, name: name, isInout: cursor[type].is("inout")))
      next += 1
    }
    return found
  }

  private func extensionMember(at start: Int, of owner: String, _ isOverride: Bool) -> ExtensionMember? {
    guard let key = key(at: start), let body = body(at: start) else { return nil }
    let name = cursor[start + 1].text
    let newName = "_\(owner)_\(name)"
    let modifiers = pending.modifiers.map { cursor[$0].text }.filter {
      $0 != "private" && $0 != "fileprivate" && $0 != "final"
    }.joined(separator: " ")
    let signature = text(cursor[start].range.lowerBound..<cursor[body - 1].range.upperBound)
      .split(whereSeparator: \.isNewline).joined(separator: " ")
    let target = pending.isStatic ? "Self" : "self"
    var declaration = modifiers.isEmpty ? signature : "\(modifiers) \(signature)"
    if cursor[start].is("func") {
      let calls = (parameters(at: start + 2) ?? []).map { parameter in
        (parameter.label == "_" ? "" : "\(parameter.label): ") + (parameter.isInout ? "&" : "")
          + parameter.name
      }
      let words = cursor.tokens[cursor.end(ofBracketsAt: start + 2)..<body]
      let prefix =
        (words.contains { $0.is("throws") } ? "try " : "")
        + (words.contains { $0.is("async") } ? "await " : "")
      declaration += " { \(prefix)\(target).\(newName)(\(calls.joined(separator: ", "))) }"
    } else {
      let end = cursor.end(ofBracketsAt: body)
      let isSettable = cursor.tokens[body..<end].contains { $0.is("set") }
      declaration +=
        isSettable
        ? " { get { \(target).\(newName) } set { \(target).\(newName) = newValue } }"
        : " { \(target).\(newName) }"
    }
    return ExtensionMember(key: key, isOverride: isOverride, declaration: declaration, newName: newName)
  }

  /// The place of the brace that begins the body of a member; nil if it has none.
  private func body(at start: Int) -> Int? {
    var next = start + 2
    if cursor[next].is("<") { next = cursor.end(ofBracketsAt: next) }
    while cursor[next].kind != .end {
      if cursor[next].is("{") { return next }
      if cursor[next].is("}") || cursor[next].is("=") || cursor[next].is(";") { return nil }
      if next > start + 2, cursor[next].isFirstOnLine,
        ["func", "var", "let", "init", "class", "static"].contains(cursor[next].text)
      {
        return nil
      }
      next = cursor[next].is("(") || cursor[next].is("[") ? cursor.end(ofBracketsAt: next) : next + 1
    }
    return nil
  }
}
