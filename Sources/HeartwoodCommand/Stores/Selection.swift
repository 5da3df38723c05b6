import Heartwood

/// The objects that a command line means: one by its URI, or an entity's by a predicate.
struct Selection {
  let entity: EntityDescription
  let objects: [ManagedObject]

  /// Finds the objects.
  ///
  /// - Throws: a usage failure for a word or predicate that is wrong; `.noInput` if the one object isn't there.
  init(_ word: String, where predicate: String?, in store: CommandStore) throws {
    guard ObjectName.isObject(word) else {
      entity = try store.entity(named: word)
      objects = try store.context.fetch(store.request(entity, where: predicate))
      return
    }
    guard predicate == nil else {
      throw CommandFailure.usage("--where goes with an entity, and \"\(word)\" is one object")
    }
    let identifier = try ObjectName.identifier(word, in: store)
    entity = identifier.entity
    objects = [try Selection.object(identifier, word, in: store)]
  }

  private static func object(
    _ identifier: ManagedObjectID, _ word: String, in store: CommandStore
  ) throws -> ManagedObject {
    do {
      return try store.context.existingObject(with: identifier)
    } catch let error as HeartwoodError where error.code == .managedObjectReferentialIntegrity {
      throw CommandFailure(.noInput, "\(store.path): there is no object \(word)")
    }
  }
}
