import SwiftTokens

/// Protocols of Objective-C: only classes conform to them, and members may be optional.
extension Translation {
  /// Says of a protocol what `@objc` says: that its types are classes.
  ///
  /// - Parameter next: The place after its name.
  mutating func requireClass(at next: Int) {
    guard cursor[next].is(":") else { return insert(": AnyObject", after: cursor[next - 1]) }
    var end = next
    while cursor[end].kind != .end, !cursor[end].is("{") { end += 1 }
    guard !cursor.tokens[next..<end].contains(where: { $0.is("AnyObject") || $0.is("class") }) else { return }
    insert(" AnyObject,", after: cursor[next])
  }

  /// Makes an optional function a requirement with a default, which does nothing and returns nil.
  ///
  /// - Parameter start: The place of `optional`.
  mutating func optionalMember(at start: Int, of scope: Scope) {
    guard let function = optionalFunction(at: start + 1) else {
      return fail(
        cursor[start],
        "optional members of protocols that are no functions, or whose results are not optional, need the Objective-C runtime: "
          + "give the protocol an extension with a default instead"
      )
    }
    guard isWriting else { return index.noteOptional(function.name, labels: function.labels) }
    remove(start..<(start + 1))
    append(
      "extension \(scope.name) { \(scope.access)\(function.signature) { \(function.hasResult ? "nil" : "") } }"
    )
  }

  /// Calls an optional function as the requirement that it has become: `delegate.changed?(1)`.
  ///
  /// - Parameter start: The place of its name.
  mutating func optionalCall(at start: Int) {
    guard cursor[start - 1].is("."), cursor[start + 1].is("?"), cursor[start + 2].is("("),
      cursor[start + 1].range.upperBound == cursor[start + 2].range.lowerBound
    else { return }
    let hasClosure = cursor[cursor.end(ofBracketsAt: start + 2)].is("{")
    guard
      index.isOptional(cursor[start].text, labels: argumentLabels(at: start + 2), hasClosure: hasClosure)
    else { return }
    remove((start + 1)..<(start + 2))
  }

  private struct OptionalFunction {
    let name: String
    let labels: [String]
    let signature: String
    let hasResult: Bool
  }

  /// - Parameter start: The place of `func`.
  private func optionalFunction(at start: Int) -> OptionalFunction? {
    guard cursor[start].is("func"), let labels = parameterLabels(at: start + 2) else { return nil }
    var end = cursor.end(ofBracketsAt: start + 2)
    while ["async", "throws"].contains(cursor[end].text), cursor[end].kind == .word { end += 1 }
    var hasResult = false
    if cursor[end].is("->") {
      let result = end + 1
      end = cursor.end(ofTypeAt: result)
      let isVoid = cursor[result].is("Void") || cursor[result].is("(") && cursor[result + 1].is(")")
      hasResult = !(isVoid && end <= result + 2)
      guard !hasResult || cursor[end - 1].is("?") || cursor[end - 1].is("!") else { return nil }
    }
    return OptionalFunction(
      name: cursor[start + 1].text, labels: labels, signature: spelled(start..<end), hasResult: hasResult)
  }

  /// The text of tokens in one line, without comments.
  private func spelled(_ range: Range<Int>) -> String {
    var text = ""
    for place in range {
      if place > range.lowerBound, cursor[place - 1].range.upperBound < cursor[place].range.lowerBound {
        text += " "
      }
      text += self.text(cursor[place].range)
    }
    return text
  }

  /// The labels of a call's arguments.
  ///
  /// - Parameter start: The place of the bracket.
  private func argumentLabels(at start: Int) -> [String] {
    let end = cursor.end(ofBracketsAt: start) - 1
    var labels: [String] = []
    var next = start + 1
    while next < end {
      labels.append(cursor[next].kind == .word && cursor[next + 1].is(":") ? cursor[next].text : "_")
      while next < end, !cursor[next].is(",") { next = self.end(ofPartAt: next) }
      next += 1
    }
    return labels
  }

  /// The place after a token, or after the brackets, the string or the generic arguments that begin there.
  private func end(ofPartAt place: Int) -> Int {
    let token = cursor[place]
    if ["(", "[", "{"].contains(token.text) { return cursor.end(ofBracketsAt: place) }
    if token.kind == .string { return cursor.end(ofStringAt: place) }
    return cursor.end(ofGenericArgumentsAt: place) ?? place + 1
  }
}
