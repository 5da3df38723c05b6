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
    guard !cursor.isGenericOrOfMainActor(classAt: start),
      let places = cursor.initialisers(ofClassAt: start)?.places
    else { return false }
    return places.isEmpty
      || places.contains { place in
        let isPrivate = (place - 3..<place).contains { cursor[$0].is("private") }
        return cursor[place + 1].is("(") && cursor[place + 2].is(")") && !isPrivate
      }
  }
}
