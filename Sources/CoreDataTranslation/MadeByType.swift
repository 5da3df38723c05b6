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
    guard let (kind, parameters, arguments) = Self.initialisers[superclass],
      !cursor.isGenericOrOfMainActor(classAt: start),
      let (places, end) = cursor.initialisers(ofClassAt: start),
      places.allSatisfy({ Self.inherits(at: $0, after: start, cursor) })
    else { return nil }
    self.end = end
    text =
      "extension \(name): CoreData.\(kind) { public static func _made(\(parameters)) -> CoreData.\(superclass) { \(name)(\(arguments)) } }"
  }

  /// Whether an initialiser leaves a class those of its superclass: it overrides one, or is a convenience.
  private static func inherits(at place: Int, after start: Int, _ cursor: TokenCursor) -> Bool {
    (max(place - 4, start)..<place).contains { cursor[$0].is("override") || cursor[$0].is("convenience") }
  }
}
