import Heartwood

extension ManagedObjectModel {
  /// The model with plain attributes in the place of derived ones whose expressions this library cannot keep up, such as the number of the
  /// destinations of a relationship without inverse. A file of Core Data has their values.
  ///
  /// - Returns: The model itself if it has none, or if it is wrong otherwise, too.
  var withUsableDerivations: ManagedObjectModel {
    guard (try? checkExpressions()) == nil else { return self }
    let derived = entities.flatMap { entity in
      entity.ownProperties.filter { $0 is DerivedAttributeDescription }.map {
        Place(entity: entity.name ?? "", property: $0.name)
      }
    }
    let unusable = derived.filter { place in
      variant(plain: Set(derived.filter { $0 != place })) == nil
    }
    return variant(plain: Set(unusable)) ?? self
  }

  /// The place of a property that an entity declares.
  private struct Place: Hashable {
    let entity: String
    let property: String
  }

  /// The model with plain attributes in the place of some derived ones; nil if it cannot be used so.
  private func variant(plain: Set<Place>) -> ManagedObjectModel? {
    guard let copy = try? ManagedObjectModel(changeablyMerging: [self]) else { return nil }
    for entity in copy.entities {
      entity.ownProperties = entity.ownProperties.map { property in
        guard let derived = property as? DerivedAttributeDescription,
          plain.contains(Place(entity: entity.name ?? "", property: property.name))
        else { return property }
        let attribute = AttributeDescription(
          name: derived.name, type: derived.type, isOptional: derived.isOptional)
        attribute.renamingIdentifier = derived.formerName
        return attribute
      }
    }
    do {
      try copy.checkExpressions()
      return copy
    } catch {
      return nil
    }
  }
}
