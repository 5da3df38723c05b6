import Heartwood

/// The objects selected by a command line: one by its URI, or those of an entity that match a predicate.
struct Selection {
  let entity: EntityDescription
  let objects: [ManagedObject]

  /// Finds the objects.
  ///
  /// - Throws: A usage failure for an invalid word or predicate; `.noInput` if the single object does not
  ///   exist.
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
