import Heartwood

/// Makes the entities of model classes.
struct SchemaAssembly {
  private(set) var types: [String: any PersistentModel.Type] = [:]
  private var classes: [ModelClass] = []
  private var made: [String: Schema.Entity] = [:]

  var entities: [Schema.Entity] { classes.compactMap { made[$0.name] } }

  /// - Parameter given: The classes; those that they inherit from and lead to are added.
  init(_ given: [any PersistentModel.Type]) {
    var waiting = given.map { ModelClass.of($0) }
    while let next = waiting.popLast() {
      guard types[next.name] == nil else { continue }
      types[next.name] = next.type
      classes.append(next)
      if let superclass = next.superclass { waiting.append(superclass) }
      waiting += next.ownProperties.compactMap(\.destination).map { ModelClass.of($0) }
    }
    classes.sort { $0.name < $1.name }
    for modelClass in classes { made[modelClass.name] = entity(of: modelClass) }
    resolveInverses()
  }

  private func entity(of modelClass: ModelClass) -> Schema.Entity {
    let entity = Schema.Entity(modelClass.name, properties: modelClass.ownProperties.map { property(of: $0) })
    entity.superentityName = modelClass.superclass?.name
    for trait in modelClass.traits { trait.apply(to: entity) }
    return entity
  }

  private func property(of property: ModelProperty) -> any SchemaProperty {
    switch property.kind {
    case .toOne(let type, let isOptional): return relationship(property, to: type, isOptional, isToOne: true)
    case .toMany(let type, let isOptional):
      return relationship(property, to: type, isOptional, isToOne: false)
    case .attribute(let coding):
      let attribute = attribute(property)
      guard let elements = coding.elements else { return attribute }
      return Schema.CompositeAttribute(attribute, properties: elements.map(Self.part))
    case .unknown: return attribute(property)
    }
  }

  private static func part(_ element: CompositeElementCoding) -> Schema.Attribute {
    let attribute = Schema.Attribute(name: element.name, valueType: element.valueType)
    guard let elements = element.coding.elements else { return attribute }
    return Schema.CompositeAttribute(attribute, properties: elements.map(part))
  }

  private func attribute(_ property: ModelProperty) -> Schema.Attribute {
    let declared = property.metadata as? Schema.Attribute
    let former = declared?.originalName ?? ""
    return Schema.Attribute(
      name: property.name, originalName: former.isEmpty ? nil : former, options: declared?.options ?? [],
      valueType: property.valueType, defaultValue: property.defaultValue, hashModifier: declared?.hashModifier
    )
  }

  private func relationship(
    _ property: ModelProperty, to type: any PersistentModel.Type, _ isOptional: Bool, isToOne: Bool
  ) -> Schema.Relationship {
    let declared = property.metadata as? Schema.Relationship
    let isUnique = (property.metadata as? Schema.Attribute)?.isUnique == true
    let former = declared?.originalName ?? ""
    let made = Schema.Relationship(
      name: property.name, options: (declared?.options ?? []) + (isUnique ? [.unique] : []),
      deleteRule: declared?.deleteRule ?? .nullify, minimumModelCount: declared?.minimumModelCount ?? 0,
      maximumModelCount: isToOne ? 1 : declared?.maximumModelCount ?? 0,
      originalName: former.isEmpty ? nil : former, inverse: declared?.inverseKeyPath,
      hashModifier: declared?.hashModifier)
    made.valueType = property.valueType
    made.destination = ModelClass.of(type).name
    let needsModels = !isToOne && (declared?.minimumModelCount ?? 0) > 0
    made.isOptional = isOptional || !isToOne && !needsModels
    made.isToOneRelationship = isToOne
    made.keypath = property.keyPath
    return made
  }

  // MARK: Inverses

  private func resolveInverses() {
    let pairs = classes.flatMap { modelClass in
      (made[modelClass.name]?.storedProperties ?? []).compactMap { $0 as? Schema.Relationship }.map {
        (owner: modelClass, relationship: $0)
      }
    }
    // Those that are named, from either side.
    var oneWay: Set<ObjectIdentifier> = []
    for (_, relationship) in pairs {
      guard let keyPath = relationship.inverseKeyPath, let destination = types[relationship.destination],
        let name = ModelClass.of(destination).property(at: keyPath)?.name,
        let inverse = find(name, in: ModelClass.of(destination))
      else { continue }
      // Of several that name the same inverse, it leads back to the first.
      if inverse.inverseKeyPath == nil, let taken = inverse.inverseName, taken != relationship.name {
        oneWay.insert(ObjectIdentifier(relationship))
        continue
      }
      relationship.inverseName = name
      inverse.inverseName = inverse.inverseName ?? relationship.name
    }
    // Those that are the only ones that fit each other.
    for (owner, relationship) in pairs
    where relationship.inverseName == nil && !oneWay.contains(ObjectIdentifier(relationship)) {
      let candidates = pairs.filter {
        fits($0, owner, relationship) && !oneWay.contains(ObjectIdentifier($0.relationship))
      }
      guard candidates.count == 1, let candidate = candidates.first else { continue }
      let back = pairs.filter { fits($0, candidate.owner, candidate.relationship) }
      guard back.count == 1, candidate.relationship !== relationship else { continue }
      relationship.inverseName = candidate.relationship.name
      candidate.relationship.inverseName = relationship.name
    }
  }

  private typealias Pair = (owner: ModelClass, relationship: Schema.Relationship)

  /// Whether one leads from the class that the other leads to, back to the other's class.
  private func fits(_ pair: Pair, _ owner: ModelClass, _ relationship: Schema.Relationship) -> Bool {
    pair.relationship.inverseName == nil && pair.relationship !== relationship
      && pair.owner.name == relationship.destination && pair.relationship.destination == owner.name
  }

  private func find(_ name: String, in modelClass: ModelClass) -> Schema.Relationship? {
    for next in sequence(first: modelClass, next: \.superclass) {
      if let found = made[next.name]?.storedPropertiesByName[name] as? Schema.Relationship { return found }
    }
    return nil
  }
}
