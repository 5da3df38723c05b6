/// The values and destinations that mappings give.
extension MigrationManager {
  func assignRelationship(
    _ name: String, of destination: ManagedObject, from source: ManagedObject, _ formerName: String
  ) throws {
    guard source.entity.relationshipsByName[formerName] != nil else {
      throw missing(formerName, of: source, for: name)
    }
    // Without the objects of the source, which may be many.
    let destinations = source.objectIDs(forRelationshipNamed: formerName).flatMap {
      self.destinations(of: $0, nil)
    }
    try assign(fitting(destinations, name, destination), to: name, of: destination)
  }

  /// The value of a property that code or an expression computes.
  func value(
    of property: PropertyMapping, _ source: ManagedObject, _ destination: ManagedObject,
    _ mapping: EntityMapping
  ) throws -> Any? {
    if let value = property.value { return try value(source, self) }
    let scope = MappingScope(
      source: source, destination: destination, manager: self, mapping: mapping, property: property)
    return try property.expression?.value(in: scope)
  }

  /// Those of several objects to which a relationship can lead: mappings may have made objects of several entities of one object.
  func fitting(
    _ objects: [ManagedObject], _ relationship: String, _ owner: ManagedObject
  ) -> [ManagedObject] {
    guard let entity = owner.entity.relationshipsByName[relationship]?.destinationEntity else {
      return objects
    }
    return objects.filter { $0.entity.isKindOf(entity: entity) }
  }

  /// Assigns one object or several, whichever the relationship has.
  ///
  /// - Throws: `.migration` if a to-one relationship would have several.
  func assign(_ value: Any?, to name: String, of destination: ManagedObject) throws {
    let parts = value.map { MappingExpression.objects(in: $0) ?? [$0] } ?? []
    let found = parts.compactMap { $0 as? ManagedObject }
    guard found.count == parts.count, let relationship = destination.entity.relationshipsByName[name] else {
      return try destination.assign(value, forKey: name)
    }
    guard relationship.isToMany else {
      guard Set(found).count <= 1 else {
        throw HeartwoodError(
          .migration,
          "\(relationship.displayName) is to-one, and there are \(Set(found).count) objects for it: map it by code that says which one is meant",
          property: name)
      }
      return try destination.assign(found.first, forKey: name)
    }
    let value: Any = relationship.isOrdered ? found : Set(found)
    try destination.assign(value, forKey: name)
  }
}
