/// The entities of a store: those of a configuration of the model.
package struct StoreConfiguration: Sendable {
  /// The name of the configuration; nil for all entities.
  package let name: String?
  /// The names of the entities whose objects the store may have; nil for all.
  let entityNames: Set<String>?
  /// The names of the entities that the store knows: besides, superentities of those, and destinations of their relationships. Nil for
  /// all.
  package let storedNames: Set<String>?

  /// All entities.
  package static let all = StoreConfiguration(name: nil, entityNames: nil, storedNames: nil)

  private init(name: String?, entityNames: Set<String>?, storedNames: Set<String>?) {
    (self.name, self.entityNames, self.storedNames) = (name, entityNames, storedNames)
  }

  /// - Throws: `.coreData` if the model has no such configuration, or if a relationship of its entities leads to an entity that is in no
  ///   configuration with them.
  package init(_ name: String?, of model: ManagedObjectModel) throws(HeartwoodError) {
    self.name = name
    guard let name else {
      (entityNames, storedNames) = (nil, nil)
      return
    }
    guard let names = model.entityNamesByConfiguration[name] else {
      let known = model.entityNamesByConfiguration.keys.sorted().joined(separator: ", ")
      throw .model(
        "the model has no configuration called \(name)"
          + (known.isEmpty ? "; it has none at all" : "; those are \(known)"))
    }
    let byName = model.entitiesByName
    if let unknown = names.first(where: { byName[$0] == nil }) {
      throw .model("the configuration \(name) has the entity \(unknown), which the model does not have")
    }
    entityNames = Set(names)
    let entities = names.compactMap { byName[$0] }
    try Self.check(entities, model)
    storedNames = Self.known(by: entities)
  }

  /// A configuration that a model does not name.
  ///
  /// - Parameters:
  ///   - name: The name that the store has it under.
  ///   - names: The names of the entities. Those that the model does not have are left out.
  package init(_ name: String, with names: Set<String>, of model: ManagedObjectModel) {
    let entities = model.entities.filter { names.contains($0.displayName) }
    self.init(
      name: name, entityNames: Set(entities.map(\.displayName)), storedNames: Self.known(by: entities))
  }

  /// Whether the store may have objects of an entity.
  package func has(_ entity: EntityDescription) -> Bool { entityNames?.contains(entity.displayName) ?? true }

  /// The entities, their superentities, and the destinations of all their relationships.
  private static func known(by entities: [EntityDescription]) -> Set<String> {
    var names: Set<String> = []
    var waiting = entities
    while let entity = waiting.popLast() {
      guard names.insert(entity.displayName).inserted else { continue }
      if let superentity = entity.superentity { waiting.append(superentity) }
      for case let relationship as RelationshipDescription in entity.ownProperties {
        if let destination = relationship.destinationEntity { waiting.append(destination) }
      }
    }
    return names
  }

  private static func check(_ entities: [EntityDescription], _ model: ManagedObjectModel)
    throws(HeartwoodError)
  {
    let byName = model.entitiesByName
    let configurations = model.entityNamesByConfiguration.values.map { $0.compactMap { byName[$0] } }
    for entity in entities {
      for case let relationship as RelationshipDescription in entity.properties {
        guard let destination = relationship.destinationEntity, !relationship.isTransient else { continue }
        let isPossible = configurations.contains { members in
          members.contains { $0.isKindOf(entity: entity) }
            && members.contains { $0.isKindOf(entity: destination) }
        }
        guard !isPossible else { continue }
        throw .model(
          "the relationship \(relationship.displayName) leads from \(entity.displayName) to \(destination.displayName), and no "
            + "configuration has both: objects of different stores cannot be related; add one of them to a configuration of the other, "
            + "or use a fetched property")
      }
    }
  }
}

extension ManagedObjectModel {
  /// A model of some of the entities, as a store has it; this one if `names` is nil. Its objects are plain `ManagedObject`s.
  package func part(_ names: Set<String>?) throws(HeartwoodError) -> ManagedObjectModel {
    guard let names else { return self }
    let bytes = try encoded(names)
    do {
      return try bytes.withUnsafeBytes { try ManagedObjectModel(decoding: $0) }
    } catch {
      throw error as? HeartwoodError ?? .model("\(error)")
    }
  }
}
