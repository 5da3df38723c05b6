/// Checks of a mapping model before the first object, and errors that name the mapping and the object.
extension MigrationManager {
  /// - Throws: `.migration` if a mapping is about another version or names what a model does not have, or if two have one name.
  func check(_ mappings: [EntityMapping]) throws(HeartwoodError) {
    var names: Set<String> = []
    for mapping in mappings {
      guard names.insert(mapping.name).inserted else {
        throw HeartwoodError(
          .migration,
          "two mappings have the name \(mapping.name), by which others refer to them: give one another name")
      }
      try checkHashes(of: mapping)
      try checkMade(by: mapping)
      try checkPredicate(of: mapping)
      try checkOnce(mapping)
      // The meaning of names to other policies is not known.
      if mapping.hasKnownPolicy { try checkProperties(of: mapping) }
    }
    // After the entities of all of them are known to be there.
    let named = NamedMappings(mappings)
    for mapping in mappings where mapping.hasKnownPolicy { try checkExpressions(of: mapping, named) }
  }

  private func checkHashes(of mapping: EntityMapping) throws(HeartwoodError) {
    for (name, hash, model) in [
      (mapping.sourceEntityName, mapping.sourceEntityVersionHash, sourceModel),
      (mapping.destinationEntityName, mapping.destinationEntityVersionHash, destinationModel),
    ] {
      guard let name else { continue }
      guard let entity = model.entitiesByName[name] else {
        throw HeartwoodError(
          .migration, "the mapping \(mapping.name) is about the entity \(name), which its model does not have"
        )
      }
      guard hash.map(entity.hasVersionHash) ?? true else {
        throw HeartwoodError(
          .migration, "the mapping \(mapping.name) is about another version of the entity \(name)")
      }
    }
  }

  /// - Throws: The error of the predicate, with the mapping, if it is none of the source's entity.
  private func checkPredicate(of mapping: EntityMapping) throws(HeartwoodError) {
    guard let predicate = mapping.sourcePredicate, let source = sourceEntity(for: mapping) else { return }
    do {
      _ = try CompiledPredicate(predicate, entity: source, store: nil)
    } catch {
      throw HeartwoodError(
        error.code, "the mapping \(mapping.name) has a predicate that cannot be used: \(error.message)",
        underlying: error)
    }
  }

  /// - Throws: `.migration` if a mapping would make objects of an abstract entity, which has none.
  private func checkMade(by mapping: EntityMapping) throws(HeartwoodError) {
    guard mapping.hasKnownPolicy, mapping.mappingType != .remove,
      let source = sourceEntity(for: mapping), !source.isAbstract,
      let destination = destinationEntity(for: mapping), destination.isAbstract
    else { return }
    throw .abstract(destination, mapping)
  }

  /// - Throws: `.migration` if a property is mapped twice.
  private func checkOnce(_ mapping: EntityMapping) throws(HeartwoodError) {
    var names: Set<String> = []
    for property in mapping.attributeMappings + mapping.relationshipMappings {
      guard !names.insert(property.name).inserted else { continue }
      throw HeartwoodError(
        .migration,
        "the mapping \(mapping.name) maps \(mapping.destinationEntityName ?? "")"
          + ".\(property.name) twice, and which value is meant is not known: remove one of the two",
        property: property.name)
    }
  }

  private func checkProperties(of mapping: EntityMapping) throws(HeartwoodError) {
    guard let source = sourceEntity(for: mapping), let destination = destinationEntity(for: mapping) else {
      return
    }
    for (properties, isRelationship) in [
      (mapping.attributeMappings, false), (mapping.relationshipMappings, true),
    ] {
      for property in properties {
        try require(property.name, of: destination, isRelationship: isRelationship, mapping)
        if let name = property.usedSourceName {
          try require(name, of: source, isRelationship: isRelationship, mapping)
        }
      }
    }
    // Code may compute what is not taken over.
    guard type(of: mapping.policy) == EntityMigrationPolicy.self,
      let first = try resolved(mapping).refused.first
    else { return }
    throw HeartwoodError(
      .migration,
      "the mapping \(mapping.name) says nothing of \(destination.displayName).\(first.name), which cannot have the values of "
        + "\(source.displayName).\(first.name): \(first.reason); map it by an expression or code, or have it use its default",
      property: first.name)
  }

  private func checkExpressions(
    of mapping: EntityMapping, _ all: NamedMappings
  ) throws(HeartwoodError) {
    let destination = destinationEntity(for: mapping)
    for property in mapping.attributeMappings + mapping.relationshipMappings where property.value == nil {
      try MappingExpressionCheck(
        mapping: mapping, property: property, all: all, source: sourceEntity(for: mapping),
        destination: destination, relationship: destination?.relationshipsByName[property.name],
        destinationEntity: { self.destinationModel.entitiesByName[$0] }
      ).run()
    }
  }

  private func require(
    _ name: String, of entity: EntityDescription, isRelationship: Bool, _ mapping: EntityMapping
  ) throws(HeartwoodError) {
    let found = entity.slot(named: name).map { entity.property(at: $0) is RelationshipDescription }
    guard found != isRelationship else { return }
    let kind = isRelationship ? "relationship" : "attribute"
    throw HeartwoodError(
      .migration,
      "the mapping \(mapping.name) names \(entity.displayName).\(name), and there is no such \(kind)",
      property: name)
  }

  /// The value of a property of the source.
  func value(_ name: String, of source: ManagedObject, for property: String) throws(HeartwoodError) -> Any? {
    guard source.entity.slot(named: name) != nil else { throw missing(name, of: source, for: property) }
    return source.value(forKey: name)
  }

  func missing(_ name: String, of source: ManagedObject, for property: String) -> HeartwoodError {
    HeartwoodError(
      .migration,
      "\(property) has its value from \(source.entity.displayName).\(name), which does not exist",
      property: property)
  }

  /// Assigns the value of an attribute of the source, with what an inferred migration would make of it: a value of the other type where
  /// nothing is lost, and the default where a mandatory attribute has none.
  func assignAttribute(
    _ name: String, of destination: ManagedObject, from source: ManagedObject, _ formerName: String
  ) throws {
    let value = try value(formerName, of: source, for: name)
    let (entity, sourceEntity) = (destination.entity, source.entity)
    guard let slot = entity.slot(named: name), let attribute = entity.attribute(at: slot),
      let formerSlot = sourceEntity.slot(named: formerName),
      let former = sourceEntity.attribute(at: formerSlot)
    else { return try destination.assign(value, forKey: name) }
    if let elements = entity.compiled.composites[slot],
      let formerElements = sourceEntity.compiled.composites[formerSlot]
    {
      return try assignComposite(
        name, elements.map(\.name), of: destination, from: source, formerName, Set(formerElements.map(\.name))
      )
    }
    guard let value else {
      // It has its default.
      if !attribute.isOptional, !entity.defaultValue(at: slot).isNull { return }
      return try destination.assign(nil, forKey: name)
    }
    let (kind, formerKind) = (attribute.columnKind, former.columnKind)
    guard kind != formerKind, formerKind.mayWiden(to: kind),
      let stored = try sourceEntity.columnValues(ofAny: value, at: formerSlot).first?.value
    else { return try destination.assign(value, forKey: name) }
    guard stored.isExact(as: kind) else {
      throw HeartwoodError(
        .migration,
        "\(value) in \(former.displayName) is no exact value of the type \(attribute.type) of \(attribute.displayName): compute it by an expression or in code",
        objectIDs: [source.objectID], property: name)
    }
    let converted = stored.converted(through: [formerKind, kind])
    try destination.assign(converted.anyValue(attribute.type), forKey: name)
  }

  /// Assigns the elements that both composite attributes have; others have their defaults.
  private func assignComposite(
    _ name: String, _ elements: [String], of destination: ManagedObject, from source: ManagedObject,
    _ formerName: String, _ formerElements: Set<String>
  ) throws {
    guard source.value(forKey: formerName) != nil else {
      if destination.entity.propertiesByName[name]?.isOptional == false { return }
      return try destination.assign(nil, forKey: name)
    }
    try destination.assign([:] as [String: Any], forKey: name)
    for element in elements {
      let path = "\(name).\(element)"
      if formerElements.contains(element) {
        try assignAttribute(path, of: destination, from: source, "\(formerName).\(element)")
      } else if let slot = destination.entity.slot(named: path),
        let attribute = destination.entity.attribute(at: slot),
        attribute.type != .composite
      {
        try destination.assign(
          destination.entity.defaultValue(at: slot).anyValue(attribute.type), forKey: path)
      }
    }
  }

  /// Runs the work on one object; an error of it names the mapping and the object of the source.
  func explaining(_ mapping: EntityMapping, _ object: ManagedObject, _ body: () throws -> Void) throws {
    rehearsal?.made = []
    do {
      try body()
    } catch let error as HeartwoodError
      where error.code != .migrationCancelled && error.code != .entityMigrationPolicy
    {
      let id = sourceID(of: object, mapping)
      if let rehearsal { return rehearsal.note(error, id, mapping, self) }
      throw HeartwoodError(
        error.code,
        "the mapping \(mapping.name) cannot migrate \(id.uriRepresentation().absoluteString): \(error.message)",
        objectIDs: [id], property: error.property, details: error.details, underlying: error)
    } catch let error where !(error is HeartwoodError) {
      let id = sourceID(of: object, mapping)
      if let rehearsal {
        let error = HeartwoodError(.entityMigrationPolicy, "\(error)", underlying: error)
        return rehearsal.note(error, id, mapping, self)
      }
      throw HeartwoodError(
        .entityMigrationPolicy,
        "the code of the mapping \(mapping.name) failed at \(id.uriRepresentation().absoluteString): \(error)",
        objectIDs: [id], underlying: error)
    }
  }

  /// The identifier of an object of the source, or of the one of which an object of the destination was made; that of the object itself if
  /// it was made of none.
  func sourceID(of object: ManagedObject, _ mapping: EntityMapping) -> ManagedObjectID {
    if object.managedObjectContext === sourceContext { return object.objectID }
    let sources = sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [object])
    return sources.first?.objectID ?? object.objectID
  }
}

extension HeartwoodError {
  static func abstract(_ entity: EntityDescription, _ mapping: EntityMapping) -> HeartwoodError {
    HeartwoodError(
      .migration,
      "the mapping \(mapping.name) makes objects of \(entity.displayName), which is abstract: name a subentity as its destination, or make its "
        + "type remove")
  }
}

extension PropertyMapping {
  /// The name of the source's property, if that is where the value comes from.
  fileprivate var usedSourceName: String? { value == nil && expression == nil ? sourceName : nil }
}

extension HeartwoodError {
  /// The error of a save of objects that a mapping made.
  func ofMigration(_ mapping: EntityMapping?) -> HeartwoodError {
    guard let conflict = constraintConflicts.first else { return self }
    let values = conflict.shownValues
    return HeartwoodError(
      .migrationConstraintViolation,
      "the mapping \(mapping?.name ?? "") makes several objects with \(values.joined(separator: ", ")), which must be unique: change what it "
        + "makes of them, or leave objects out by its sourcePredicate",
      property: conflict.constraint.first, constraintConflicts: constraintConflicts, underlying: self)
  }
}
