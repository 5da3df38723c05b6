import SwiftTokens

/// A class that makes a value transformer of the program, so that attributes of models find it by its name.
enum TransformerFactory {
  private static let superclasses: Set<String> = ["ValueTransformer", "NSSecureUnarchiveFromDataTransformer"]

  /// The class for a class of transformers; nil if the class is none, or is not made without arguments.
  ///
  /// - Parameters:
  ///   - given: The name that `@objc(Name)` gives the class.
  ///   - start: The place of the word `class`.
  static func text(
    of name: String, as given: String?, _ superclass: String, declaredAt start: Int, in cursor: TokenCursor
  ) -> String? {
    guard superclasses.contains(superclass), isMadeWithoutArguments(start, cursor) else { return nil }
    return
      "final class _TransformerNamed_\(given ?? name): CoreData._NamedTransformerClass { override class func make() -> CoreData.ValueTransformer? { \(name)() } }"
  }

  private static func isMadeWithoutArguments(_ start: Int, _ cursor: TokenCursor) -> Bool {
    if cursor[start + 2].is("<") || (start - 6..<start).contains(where: { cursor[$0].is("MainActor") }) {
      return false
    }
    var next = start
    while !cursor[next].is("{") {
      if cursor[next].kind == .end { return false }
      next += 1
    }
    let end = cursor.end(ofBracketsAt: next)
    var initialisers: [Bool] = []
    next += 1
    while next < end {
      if cursor[next].is("{") {
        next = cursor.end(ofBracketsAt: next)
        continue
      }
      if cursor[next].is("init"), !cursor[next - 1].is(".") {
        let isPrivate = (next - 3..<next).contains { cursor[$0].is("private") }
        initialisers.append(cursor[next + 1].is("(") && cursor[next + 2].is(")") && !isPrivate)
      }
      next += 1
    }
    return initialisers.isEmpty || initialisers.contains(true)
  }
}
