import SwiftTokens

/// A method that Core Data finds by its name to validate a property: `validateAge(_:)`.
struct Validator {
  let name: String
  let line: Int
  let isPrivate: Bool

  /// The method of a declaration; nil if it is no such method.
  ///
  /// - Parameter start: The place of `func`.
  init?(_ cursor: TokenCursor, at start: Int, isPrivate: Bool) {
    let word = cursor[start + 1]
    guard word.kind == .word, word.text.hasPrefix("validate"),
      word.text.dropFirst(8).first?.isUppercase == true,
      cursor[start + 2].is("("), cursor[start + 3].is("_")
    else { return nil }
    let end = cursor.end(ofBracketsAt: start + 2)
    let parameters = cursor.tokens[(start + 3)..<(end - 1)]
    guard parameters.contains(where: { $0.text == "AutoreleasingUnsafeMutablePointer" }),
      cursor[end].is("throws")
    else { return nil }
    name = word.text
    line = word.line
    self.isPrivate = isPrivate
  }

  /// The names of the property: Core Data capitalises its first letter.
  var keys: [String] {
    let rest = name.dropFirst(8)
    return [rest.prefix(1).lowercased() + rest.dropFirst(), String(rest)]
  }

  /// Why the class cannot call it; nil if it can.
  func problem(in index: ClassIndex, of owner: String, isInClass: Bool) -> String? {
    if !index.hasBody(owner) {
      return
        "\(name)(_:) is not called, as the class \(owner) is not declared in this target: override validateValue(_:forKey:) in a class of your own"
    }
    if isPrivate, !isInClass {
      return "\(name)(_:) is not called, as it is private in an extension: move it into the class \(owner)"
    }
    return nil
  }
}
