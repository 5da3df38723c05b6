/// The steps of a mapping model and the properties that it leaves out, in words.
extension MappingModel {
  /// The steps of the mappings, and the values that are lost, in sentences.
  func sentences(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
    let mapped = Set(entityMappings.compactMap(\.sourceEntityName))
    let named = NamedMappings(entityMappings)
    let removed = source.entities.filter { !$0.isAbstract && !mapped.contains($0.displayName) }
    return removed.map { "\($0.displayName) is removed, with its objects" }.sorted()
      + entityMappings.flatMap { $0.sentences(source, destination, named) }
      + lostProperties(from: source, to: destination).map { lost in
        let what = lost.property is RelationshipDescription ? "links" : "values"
        let name = "\(lost.entity.displayName).\(lost.property.name)"
        return lost.hasCode
          ? "\(name) is not taken over, and its \(what) are lost unless code keeps them"
          : "\(name) is not taken over: its \(what) are lost"
      }
  }

  struct LostProperty {
    let entity: EntityDescription
    let property: PropertyDescription
    /// Whether code of the program may keep it.
    let hasCode: Bool
  }

  /// The properties of the source's entities that are in no property that their mappings make.
  func lostProperties(
    from source: ManagedObjectModel, to destination: ManagedObjectModel
  ) -> [LostProperty] {
    var lost: [LostProperty] = []
    let named = NamedMappings(entityMappings)
    for entity in source.entities.sorted(by: { $0.number < $1.number }) where !entity.isAbstract {
      let made = named.makers(of: entity.displayName)
        .compactMap { $0.resolved(from: source, to: destination, among: named) }
      guard let first = made.first else { continue }
      let properties = first.lost.filter { property in
        made.allSatisfy { $0.lost.contains { $0 === property } }
          && !takesOverInverse(of: property, source, destination, named)
      }
      let hasCode = made.contains(where: \.hasCode)
      lost += properties.map { LostProperty(entity: entity, property: $0, hasCode: hasCode) }
    }
    return lost
  }

  /// Whether the links of a relationship of the source are taken over from their other side, by all that is made of its destinations.
  private func takesOverInverse(
    of property: PropertyDescription, _ source: ManagedObjectModel, _ destination: ManagedObjectModel,
    _ named: NamedMappings
  ) -> Bool {
    guard let relationship = property as? RelationshipDescription,
      let inverse = relationship.inverseRelationship, let owner = inverse.entity
    else { return false }
    let made = owner.selfAndBelow.filter { !$0.isAbstract }.flatMap { named.makers(of: $0.displayName) }
      .compactMap { $0.resolved(from: source, to: destination, among: named) }
    return !made.isEmpty
      && made.allSatisfy { $0.relationships.contains { $0.links?.relationship == inverse.name } }
  }

  /// Entities with objects that both models have, and of which no mapping says what becomes.
  func forgottenEntities(
    of source: ManagedObjectModel, in destination: ManagedObjectModel
  ) -> [EntityDescription] {
    let mapped = Set(
      entityMappings.filter { $0.mappingType == .remove || $0.destinationEntityName != nil }
        .compactMap(\.sourceEntityName))
    return source.entities.filter { entity in
      !entity.isAbstract && !mapped.contains(entity.displayName)
        && destination.entities.contains {
          $0.name == entity.name || $0.formerName == entity.displayName
        }
    }.sorted { $0.displayName < $1.displayName }
  }

  /// - Throws: `.migrationMissingMappingModel` if no mapping says what becomes of the objects of an entity that the new model has too.
  func requireEntities(
    of source: ManagedObjectModel, in destination: ManagedObjectModel, _ path: String
  ) throws(HeartwoodError) {
    let missing = forgottenEntities(of: source, in: destination)
    guard !missing.isEmpty else { return }
    throw HeartwoodError(
      .migrationMissingMappingModel,
      "the store at \(path) cannot be migrated by this mapping model: it says nothing about \(missing.map(\.displayName).joined(separator: ", ")), "
        + "whose objects would be deleted; add a mapping, of type remove to delete them")
  }
}

extension EntityMapping {
  /// The changes of objects of the source's entity, and of each property that does not keep its name, in sentences.
  fileprivate func sentences(
    _ source: ManagedObjectModel, _ destination: ManagedObjectModel, _ all: NamedMappings
  ) -> [String] {
    guard let sourceName = sourceEntityName else {
      return [
        "the mapping \(name) makes \(destinationEntityName ?? "") by code of \(Swift.type(of: policy))"
      ]
    }
    guard mappingType != .remove, let destinationName = destinationEntityName else {
      return ["the mapping \(name) deletes objects of \(sourceName)"]
    }
    let isPlain = Swift.type(of: policy) == EntityMigrationPolicy.self
    let code = isPlain ? "" : ", by code of \(Swift.type(of: policy))"
    var sentences = ["the mapping \(name) makes \(destinationName) of \(sourceName)\(code)"]
    guard let resolved = resolved(from: source, to: destination, among: all),
      let entity = destination.entitiesByName[destinationName]
    else { return sentences }
    for property in resolved.attributes + resolved.relationships {
      guard let slot = entity.slot(named: property.name), !entity.property(at: slot).isTransient,
        entity.property(at: slot).derivation == nil,
        let origin = property.text(of: sourceName, entity.property(at: slot))
      else { continue }
      sentences.append("\(destinationName).\(property.name) \(origin)")
    }
    return sentences
  }
}

extension ResolvedMapping.Property {
  /// Where the value comes from; nil if it is that of the source's property of the same name, or links are set from their other side.
  fileprivate func text(of source: String, _ property: PropertyDescription) -> String? {
    switch origin {
    case .computed(let mapping):
      return mapping.value == nil ? mapping.expressionText.map { "is \($0)" } : "is computed by code"
    case .property(let former): return former == name ? nil : "is \(source).\(former)"
    case .none: return property is RelationshipDescription ? nil : "has its default"
    }
  }
}
