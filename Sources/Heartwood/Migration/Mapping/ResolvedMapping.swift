/// The mapping of each property of an entity, those included that the mapping does not name.
struct ResolvedMapping {
  enum Origin {
    /// By code, or an expression.
    case computed(PropertyMapping)
    /// The value of the source's property of a name.
    case property(String)
    /// Its default; a relationship is only set from its other side.
    case none
  }

  struct Property {
    let name: String
    let origin: Origin

    /// The links of the source that a relationship takes over; nil if it computes others, or none.
    var links: MappingExpression.Links? {
      switch origin {
      case .computed(let given): given.value == nil ? given.expression?.links : nil
      case .property(let name): MappingExpression.Links(mapping: nil, relationship: name)
      case .none: nil
      }
    }
  }

  /// In the order of the entity's slots, elements of composite attributes after the whole.
  private(set) var attributes: [Property] = []
  private(set) var relationships: [Property] = []
  /// Properties of the source that have the name of one of the destination, which cannot take their values, with the reason.
  private(set) var refused: [(name: String, reason: String)] = []
  /// The properties of the source that are in no property of the destination.
  private(set) var lost: [PropertyDescription] = []
  /// Whether code of the program gets the source's objects, and may keep what is lost.
  private(set) var hasCode = false
  /// Relationships that are only set from their other side.
  private var setFromInverse: Set<String> = []

  /// - Parameters:
  ///   - source: The mapping's entity of the source; nil if it has none.
  ///   - destination: Its entity of the destination.
  ///   - all: All mappings of the model.
  init(
    _ mapping: EntityMapping, _ source: EntityDescription?, _ destination: EntityDescription,
    among all: NamedMappings
  ) {
    hasCode = type(of: mapping.policy) != EntityMigrationPolicy.self
    let named = Dictionary(
      (mapping.attributeMappings + mapping.relationshipMappings).map { ($0.name, $0) },
      uniquingKeysWith: { first, _ in first })
    for slot in destination.slots {
      let property = destination.property(at: slot)
      let isRelationship = property is RelationshipDescription
      let origin: Origin
      if let given = named[property.name]?.givenOrigin(of: property, source) {
        // The store computes it.
        if property.derivation != nil, case .property = given { origin = .none } else { origin = given }
      } else if destination.isElement(slot),
        destination.compositeSlots(around: slot).contains(where: {
          named[destination.property(at: $0).name] != nil
        })
      {
        // The mapping of the whole says what becomes of it.
        continue
      } else {
        origin = former(
          of: property, named[property.name], in: destination, source, mapping, all)
      }
      let resolved = Property(name: property.name, origin: origin)
      if isRelationship { relationships.append(resolved) } else { attributes.append(resolved) }
    }
    noteLost(named.values, source)
  }

  /// The origin of a property of which the mapping says nothing: it has the value of the one of its name, or of its renaming identifier.
  ///
  /// - Parameter given: The mapping that names the property without a source, as Xcode does where it generates the value.
  private mutating func former(
    of property: PropertyDescription, _ given: PropertyMapping?, in destination: EntityDescription,
    _ source: EntityDescription?, _ mapping: EntityMapping, _ all: NamedMappings
  ) -> Origin {
    guard let source, !property.isTransient, property.derivation == nil,
      let slot = source.slot(named: Self.formerName(property.name, in: destination, source))
    else { return .none }
    let former = source.property(at: slot)
    // A transient property has no stored value to keep.
    guard !former.isTransient else { return .none }
    if let reason = property.reasonAgainst(former) {
      if given?.allowsDefault != true { refused.append((property.name, reason)) }
      return .none
    }
    guard let relationship = property as? RelationshipDescription,
      let inverse = relationship.inverseRelationship, inverse !== relationship
    else { return .property(former.name) }
    // The other side may say what becomes of the links.
    let back = (former as? RelationshipDescription)?.inverseRelationship
    for (other, owner) in all.relationships(named: inverse.name) where owner.maps(inverse) {
      if other.takesOver(back, for: mapping, among: all) { continue }
      // It says nothing itself, and the source has nothing else for it: the links come from this side.
      if given != nil ? other.isDefault || other.isUnset : other.isUnset,
        owner.formerRelationship(of: inverse, source.model).map({ $0 === back }) ?? true
      {
        continue
      }
      if relationship.isOrdered, relationship.isToMany, !other.isDefault {
        refused.append(
          (
            property.name,
            "it is ordered, and its inverse \(inverse.displayName) is mapped, which gives no order"
          ))
      }
      setFromInverse.insert(former.name)
      return .none
    }
    return .property(former.name)
  }

  /// The name that a property has in the source. What another property of the destination is called is that one's.
  fileprivate static func formerName(
    _ name: String, in destination: EntityDescription, _ source: EntityDescription
  ) -> String {
    // Elements of composite attributes are below the former name of the whole.
    let point = name.lastIndex(of: ".")
    let path = point.map { formerName(String(name[..<$0]), in: destination, source) + "." } ?? ""
    let newPath = point.map { name[...$0] } ?? ""
    let last = name.dropFirst(newPath.count)
    let renamed = destination.slot(named: name).flatMap { destination.property(at: $0).formerName }
    guard let renamed, source.slot(named: path + renamed) != nil,
      destination.slot(named: newPath + renamed) == nil
    else { return path + last }
    return path + renamed
  }

  private mutating func noteLost(
    _ given: Dictionary<String, PropertyMapping>.Values, _ source: EntityDescription?
  ) {
    guard let source else { return }
    var used = setFromInverse
    for property in attributes + relationships {
      if case .property(let name) = property.origin { used.insert(name) }
    }
    for mapping in given {
      let names = mapping.expression?.sourceNames
      used.formUnion(names ?? [])
      if mapping.value != nil || mapping.expression != nil && names == nil { hasCode = true }
    }
    for slot in source.slots where !source.isElement(slot) {
      let property = source.property(at: slot)
      guard !property.isTransient, property.derivation == nil, !used.contains(property.name),
        !used.contains(where: { $0.hasPrefix(property.name + ".") })
      else { continue }
      lost.append(property)
    }
  }
}

extension PropertyMapping {
  /// Whether a relationship takes over the links of one of the source to what a mapping makes, or only those to what is made of other
  /// entities.
  fileprivate func takesOver(
    _ former: RelationshipDescription?, for mapping: EntityMapping, among all: NamedMappings
  ) -> Bool {
    guard value == nil, let former else { return false }
    guard let expression else { return !usesDefault && sourceName ?? name == former.name }
    guard let links = expression.links, links.relationship == former.name else { return false }
    if links.isOf(mapping.name) { return true }
    return links.mapping.flatMap { all[$0] }.map { $0.sourceEntityName != mapping.sourceEntityName } ?? false
  }

  private var hasNoSource: Bool { value == nil && expression == nil && sourceName == nil }
  fileprivate var isDefault: Bool { hasNoSource && usesDefault }
  /// Whether all is left to the names.
  fileprivate var isUnset: Bool { hasNoSource && !usesDefault }

  /// The origin that the mapping itself states for a property; nil if it leaves that to the names.
  fileprivate func givenOrigin(
    of property: PropertyDescription, _ source: EntityDescription?
  ) -> ResolvedMapping.Origin? {
    if value == nil, property is AttributeDescription, let name = expression?.sourceProperty,
      source?.slot(named: name).flatMap({ source?.attribute(at: $0) })?.isTransient == false
    {
      return .property(name)
    }
    if value != nil || expression != nil { return .computed(self) }
    if let sourceName { return .property(sourceName) }
    return usesDefault ? ResolvedMapping.Origin.none : nil
  }
}

extension EntityMapping {
  /// Whether a relationship is one of the mapping's entity of the destination.
  fileprivate func maps(_ relationship: RelationshipDescription) -> Bool {
    guard let name = destinationEntityName, let owner = relationship.entity else { return false }
    return owner.selfAndBelow.contains { $0.name == name }
  }

  /// The relationship of the mapping's entity of the source that has the name of one of the destination, or its renaming identifier.
  fileprivate func formerRelationship(
    of relationship: RelationshipDescription, _ source: ManagedObjectModel?
  ) -> RelationshipDescription? {
    guard let entity = sourceEntityName.flatMap({ source?.entitiesByName[$0] }),
      let owner = relationship.entity
    else { return nil }
    return entity.relationshipsByName[ResolvedMapping.formerName(relationship.name, in: owner, entity)]
  }

  /// The origin of each property.
  ///
  /// - Returns: Nil if there is no such entity in the destination.
  func resolved(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, among all: NamedMappings
  ) -> ResolvedMapping? {
    guard let entity = destinationEntityName.flatMap({ destination.entitiesByName[$0] }) else { return nil }
    return ResolvedMapping(self, sourceEntityName.flatMap { source.entitiesByName[$0] }, entity, among: all)
  }
}

extension PropertyDescription {
  /// Why the property cannot have the values of one of another model; nil if it can, with all of them.
  func reasonAgainst(_ former: PropertyDescription) -> String? {
    switch (self, former) {
    case (let new as AttributeDescription, let old as AttributeDescription):
      return new.canHaveValues(of: old) ? nil : "it is of type \(new.type), and was of type \(old.type)"
    case (let new as RelationshipDescription, let old as RelationshipDescription):
      return old.isToMany && !new.isToMany ? "it is to-one, and was to-many" : nil
    default: return "it is \(kindText), and was \(former.kindText)"
    }
  }
}
