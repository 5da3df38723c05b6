import Heartwood

/// Where a model has other properties than the model that a file keeps: its columns and tables are those of the latter.
struct ModelDifferences {
  private let numbers: EntityNumbers
  private let kept: ManagedObjectModel
  private let names: [Int64: String]

  init(_ file: AppleStoreFile, _ numbers: EntityNumbers, _ kept: ManagedObjectModel) {
    (self.numbers, self.kept) = (numbers, kept)
    names = Dictionary(file.entities.map { ($0.number, $0.name) }) { first, _ in first }
  }

  /// The properties that the file does not have, or not so. An entity that the file does not have has none.
  func properties(of model: ManagedObjectModel) -> [String] {
    model.entities.flatMap { entity -> [String] in
      guard let stored = stored(entity) else { return [] }
      return entity.ownProperties.filter { !$0.isTransient }.compactMap { property in
        difference(property, stored).map { "\(entity.name ?? "").\(property.name)\($0)" }
      }.sorted()
    }
  }

  /// The entity of the kept model.
  private func stored(_ entity: EntityDescription) -> EntityDescription? {
    numbers.number(of: entity).flatMap { names[$0] }.flatMap { kept.entitiesByName[$0] }
  }

  /// The text behind the name of a property; nil if both models have the same one.
  private func difference(_ property: PropertyDescription, _ stored: EntityDescription) -> String? {
    if let attribute = property as? AttributeDescription {
      guard let other = stored.attributesByName[attribute.name], !other.isTransient else { return "" }
      return other.type == attribute.type ? nil : " as \(attribute.type), but as \(other.type)"
    }
    guard let relationship = property as? RelationshipDescription else { return nil }
    guard let other = stored.relationshipsByName[relationship.name] else { return "" }
    guard other.isToMany == relationship.isToMany else {
      return relationship.isToMany ? " as a to-many relationship" : " as a to-one relationship"
    }
    let destination = relationship.destinationEntity.flatMap { self.stored($0) }
    guard destination == nil || destination === other.destinationEntity else {
      return " to \(relationship.destinationEntity?.name ?? "")"
    }
    return other.inverseRelationship?.name == relationship.inverseRelationship?.name
      ? nil : " with the inverse \(relationship.inverseRelationship?.name ?? "none")"
  }
}
