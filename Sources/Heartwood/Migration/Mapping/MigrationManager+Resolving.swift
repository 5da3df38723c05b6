/// The mappings of a migration with their names resolved, as long as no code has changed them.
struct MappingResolutions {
  fileprivate var named: NamedMappings?
  fileprivate var mappings: [ObjectIdentifier: ResolvedMapping] = [:]
  /// By property mapping, the names of the mappings whose objects a relationship gets.
  fileprivate var makers: [ObjectIdentifier: [String]] = [:]
}

extension MigrationManager {
  /// The mappings of the model, by name.
  var namedMappings: NamedMappings {
    if let known = resolutions.named { return known }
    let named = NamedMappings(usedMappingModel?.entityMappings ?? [])
    resolutions.named = named
    return named
  }

  /// The origin of each property by a mapping of the model.
  func resolved(_ mapping: EntityMapping) throws(HeartwoodError) -> ResolvedMapping {
    if let known = resolutions.mappings[ObjectIdentifier(mapping)] { return known }
    let all = usedMappingModel == nil ? NamedMappings([mapping]) : namedMappings
    guard let made = mapping.resolved(from: sourceModel, to: destinationModel, among: all) else {
      throw HeartwoodError(
        .entityMigrationPolicy,
        "the mapping \(mapping.name) makes objects, and has no entity of the destination")
    }
    resolutions.mappings[ObjectIdentifier(mapping)] = made
    return made
  }

  /// The destinations that an expression gives a relationship to many. If it takes over the links to what one mapping makes, those to what others
  /// make are added where these take them over from their side, so that the order of the mappings decides nothing. All are in the order of
  /// the source.
  func destinations(
    _ value: Any?, of property: PropertyMapping, _ source: ManagedObject, _ destination: ManagedObject,
    _ mapping: EntityMapping
  ) throws -> Any? {
    guard let links = property.expression?.links, links.mapping != nil,
      let relationship = destination.entity.relationshipsByName[property.name], relationship.isToMany,
      source.entity.relationshipsByName[links.relationship] != nil
    else { return value }
    let makers = try makers(property, relationship, links, mapping)
    guard makers.count > 1 else { return value }
    let found = source.objectIDs(forRelationshipNamed: links.relationship).flatMap { id in
      makers.flatMap { self.destinations(of: id, $0) }
    }
    return fitting(found, property.name, destination)
  }

  private func makers(
    _ property: PropertyMapping, _ relationship: RelationshipDescription, _ links: MappingExpression.Links,
    _ mapping: EntityMapping
  ) throws(HeartwoodError) -> [String] {
    if let known = resolutions.makers[ObjectIdentifier(property)] { return known }
    var makers: [String] = []
    for other in usedMappingModel?.entityMappings ?? [] {
      var isMaker = other.name == links.mapping
      if !isMaker { isMaker = try takesOver(links, of: mapping, relationship, other) }
      if isMaker { makers.append(other.name) }
    }
    resolutions.makers[ObjectIdentifier(property)] = makers
    return makers
  }

  /// Whether a mapping takes over the links of a relationship from their other side.
  private func takesOver(
    _ links: MappingExpression.Links, of mapping: EntityMapping, _ relationship: RelationshipDescription,
    _ other: EntityMapping
  ) throws(HeartwoodError) -> Bool {
    guard let inverse = relationship.inverseRelationship, other.mappingType != .remove,
      let entity = destinationEntity(for: other), let owner = inverse.entity, entity.isKindOf(entity: owner),
      let former = sourceEntity(for: mapping)?.relationshipsByName[links.relationship],
      let back = former.inverseRelationship
    else { return false }
    let links = try resolved(other).relationships.first { $0.name == inverse.name }?.links
    return links?.relationship == back.name && links?.isOf(mapping.name) == true
  }
}
