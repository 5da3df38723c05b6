import Foundation
import Heartwood

/// The short name of a saved object within its store: `Country/p12`, the end of its URI.
enum ObjectName {
  static func text(_ identifier: ManagedObjectID) -> String {
    guard let entity = identifier.entity.name, !identifier.isTemporaryID else { return "(not saved)" }
    return text(entity, identifier.key)
  }

  static func text(_ entity: String, _ number: UInt64) -> String { "\(entity)/p\(number)" }

  /// Whether a word of the command line is a URI or a short name, not an entity name.
  static func isObject(_ word: String) -> Bool { word.contains("/") }

  /// The identifier that a URI or a short name denotes.
  ///
  /// - Throws: A usage failure if it denotes no object of this store.
  static func identifier(_ word: String, in store: CommandStore) throws(CommandFailure) -> ManagedObjectID {
    let isFull = word.hasPrefix("x-coredata:")
    let text = isFull ? word : "x-coredata://\(store.identifier)/\(word)"
    if !isFull, let name = word.split(separator: "/").first { _ = try store.entity(named: String(name)) }
    guard let uri = URL(string: text),
      let identifier = store.coordinator.managedObjectID(forURIRepresentation: uri)
    else {
      let reason = isFull ? "is no object of this store" : "is no object; write Entity/p1, or a whole URI"
      throw .usage("\"\(word)\" \(reason)")
    }
    return identifier
  }

  /// A label for an object: its name, title or label, otherwise its first text; nil if there is none.
  static func label(_ object: ManagedObject) -> String? {
    guard let attribute = labelAttribute(of: object.entity) else { return nil }
    return object.value(forKey: attribute) as? String
  }

  static func labelAttribute(of entity: EntityDescription) -> String? {
    let texts = entity.properties.compactMap { $0 as? AttributeDescription }.filter { $0.type == .string }
      .map(\.name)
    return ["name", "title", "label"].first(where: texts.contains) ?? texts.first
  }
}
