/// The references to objects by relationships without an inverse, which the objects do not know.
struct ReferenceSearch {
  struct Reference {
    let source: ManagedObject
    let relationship: RelationshipDescription
    let destination: ManagedObjectID
  }

  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// The references that the context sees, with its unsaved changes.
  ///
  /// - Complexity: Linear in the rows of the entities with a relationship without an inverse that may lead to the objects.
  func references(to objects: [ManagedObject]) throws -> [Reference] {
    let wanted = Dictionary(
      objects.map { (RowAddress($0.entity, $0.objectID.key), $0) }, uniquingKeysWith: { first, _ in first })
    let entities = Set(objects.map(\.entity))
    var found: [Reference] = []
    for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] {
      for relationship in entity.relationshipsBySlot where relationship.entity === entity {
        let destination: EntityDescription = relationship.destinationEntity
        guard relationship.inverseRelationship == nil, !relationship.isTransient,
          entities.contains(where: { $0.isKindOf(entity: destination) })
        else { continue }
        for source in try sources(of: relationship, entity, wanted) {
          found += destinations(of: source, relationship).compactMap { key in
            wanted[RowAddress(destination, key)].map {
              Reference(source: source, relationship: relationship, destination: $0.objectID)
            }
          }
        }
      }
    }
    return found
  }

  /// The objects that refer to one of those wanted in the store, and those with unsaved changes.
  private func sources(
    of relationship: RelationshipDescription, _ entity: EntityDescription,
    _ wanted: [RowAddress: ManagedObject]
  ) throws -> [ManagedObject] {
    let (view, root) = (try context.readingView(), entity.rootEntity)
    let destination: EntityDescription = relationship.destinationEntity
    var keys: Set<UInt64> = []
    if relationship.isToMany {
      try view.links(relationship, from: 0, through: .max) { source, key in
        if wanted[RowAddress(destination, key)] != nil { keys.insert(source) }
        return true
      }
    } else {
      try view.scanRows(of: root, from: nil, reversed: false) { found in
        let own = try root.entity(numbered: found.row.entityNumber)
        guard own.isKindOf(entity: entity) else { return true }
        let column = own.layout.columns[relationship.slot]
        if !found.row.isNull(column), wanted[RowAddress(destination, found.row.key(column))] != nil {
          keys.insert(found.key)
        }
        return true
      }
    }
    let changes = context.listsOfChanges
    let changed = (changes.inserted + changes.updated).filter { $0.entity.isKindOf(entity: entity) }
    let stored = keys.sorted().map { context.object(entity, $0) }.filter { !$0.isDeleted }
    return stored + changed.filter { !keys.contains($0.objectID.key) }
  }

  /// The keys of the destinations that an object has in the context.
  func destinations(of source: ManagedObject, _ relationship: RelationshipDescription) -> [UInt64] {
    guard !relationship.isToMany else { return context.relatedKeys(source, relationship.slot) }
    guard case .object(let identifier) = source.value(at: relationship.slot) else { return [] }
    return [identifier.key]
  }
}
