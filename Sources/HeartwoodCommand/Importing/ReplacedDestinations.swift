import Heartwood

/// The destinations that the objects which an import updates lose: those of relationships to many which the file gives for them and which
/// it does not name.
///
/// A relationship that the file gives only on its other side keeps what it has.
struct ReplacedDestinations {
  private let prepared: PreparedImport
  /// The objects of the store that the file names.
  private let named: Set<ManagedObjectID>

  init(_ prepared: PreparedImport) {
    self.prepared = prepared
    named = Set(prepared.objects.lazy.compactMap(\.existing))
  }

  /// Removes the destinations of an object that the file does not name: they are deleted if the relationship deletes its destinations, and
  /// the file names them nowhere.
  func remove(from object: ManagedObject, _ given: [String: [Int]], in context: ManagedObjectContext) throws {
    for (name, destinations) in given {
      guard let relationship = object.entity.relationshipsByName[name] else { continue }
      let wanted = Set(destinations.compactMap { prepared.objects[$0].existing })
      let present = object.objectIDs(forRelationshipNamed: name)
      let kept = present.filter(wanted.contains)
      guard kept.count < present.count else { continue }
      if relationship.deleteRule == .cascade {
        for former in present where !named.contains(former) { context.delete(context.object(with: former)) }
      }
      try object.assign(kept.map { context.object(with: $0) }, forKey: name)
    }
  }
}
