import SwiftTokens

/// An extension that makes containers and contexts of a class of the program by a type, as in `T(name: name, managedObjectModel: model)`.
struct MadeByType {
  /// An extension of the class.
  let text: String
  /// The place of the brace that ends the class.
  let end: Int

  /// By the names of superclasses: a protocol, the parameters of the initialiser, and its arguments.
  private static let initialisers: [String: (String, String, String)] = [
    "NSPersistentContainer": (
      "_ContainerMadeByType", "name: String, managedObjectModel: CoreData.NSManagedObjectModel",
      "name: name, managedObjectModel: managedObjectModel"
    ),
    "NSManagedObjectContext": (
      "_ContextMadeByType", "concurrencyType: CoreData.NSManagedObjectContextConcurrencyType",
      "concurrencyType: concurrencyType"
    ),
  ]

  /// The extension for a class; nil if the class is another one, or has not the initialisers of its superclass.
  ///
  /// - Parameter start: The place of the word `class`.
  init?(_ name: String, _ superclass: String, declaredAt start: Int, in cursor: TokenCursor) {
    guard let (kind, parameters, arguments) = Self.initialisers[superclass], !cursor[start + 2].is("<"),
      !(max(start - 6, 0)..<start).contains(where: { cursor[$0].is("MainActor") }),
      let end = Self.end(ofClassAt: start, cursor)
    else { return nil }
    self.end = end
    text =
      "extension \(name): CoreData.\(kind) { public static func _made(\(parameters)) -> CoreData.\(superclass) { \(name)(\(arguments)) } }"
  }

  /// The last brace of a class that inherits the initialisers of its superclass: it overrides them, or has convenience ones only.
  private static func end(ofClassAt start: Int, _ cursor: TokenCursor) -> Int? {
    var next = start
    while !cursor[next].is("{") {
      if cursor[next].kind == .end { return nil }
      next += 1
    }
    let end = cursor.end(ofBracketsAt: next) - 1
    next += 1
    while next < end {
      if cursor[next].is("{") {
        next = cursor.end(ofBracketsAt: next)
        continue
      }
      if cursor[next].is("init"), !cursor[next - 1].is(".") {
        let words = (max(next - 4, start)..<next).map { cursor[$0].text }
        guard words.contains("override") || words.contains("convenience") else { return nil }
      }
      next += 1
    }
    return end
  }
}
