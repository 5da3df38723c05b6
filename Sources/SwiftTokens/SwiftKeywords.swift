/// The words that cannot be names in Swift.
package enum SwiftKeywords {
  private static let keywords: Set<String> = [
    "Any", "Protocol", "Self", "Type", "_",
    // Words that are names elsewhere, and none of types.
    "any", "each", "nonisolated", "some",
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
    "else", "enum",
    "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init",
    "inout", "internal",
    "is", "let", "nil", "operator",
    "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self",
    "static", "struct",
    "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  /// A name as it is written in code.
  package static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }
}
