/// The plan of deriving the attributes of a model, computed once.
final class DerivationPlan: Sendable {
  /// The derived attributes of an entity.
  struct OfEntity: Sendable {
    /// Those that depend on the object's own row only.
    var ofOwnRow: [Derivation] = []
    /// Those that read other rows.
    var ofOthers: [Derivation] = []
    /// The slots of its own row that those of `ofOthers` read.
    var ownSlots: Set<Int> = []
    /// The attributes of other objects that read rows of the entity.
    var readers: [Reader] = []
  }

  /// Derived attributes of other objects that read the rows of an entity over one route.
  struct Reader: Sendable {
    /// The number of the route.
    let route: Int
    /// The slots that they read.
    var slots: Set<Int> = []
    /// The to-one relationship back, by its column in the entity's rows; nil if the way back is a to-many relationship.
    let back: Column?
  }

  /// The relationships from an object with derived attributes to those that it reads.
  let routes: [[RelationshipDescription]]
  private let entities: [UInt16: OfEntity]
  /// The numbers of the routes that end in a relationship with entries of its own.
  private let routesByLinks: [ObjectIdentifier: [Int]]

  /// - Returns: Nil if the model has no derived attributes.
  /// - Throws: `.coreData` if an expression is wrong.
  init?(_ model: ManagedObjectModel) throws(HeartwoodError) {
    var entities: [UInt16: OfEntity] = [:]
    var routes: [[RelationshipDescription]] = []
    var numbers: [[ObjectIdentifier]: Int] = [:]
    var slotsByRoute: [Set<Int>] = []
    for entity in model.entities {
      for slot in entity.slots where entity.property(at: slot).derivation != nil {
        guard let attribute = entity.attribute(at: slot) else { continue }
        let derivation = try Derivation(attribute, of: entity)
        if derivation.isOfOwnRow {
          entities[entity.number, default: OfEntity()].ofOwnRow.append(derivation)
          continue
        }
        entities[entity.number, default: OfEntity()].ofOthers.append(derivation)
        for source in derivation.sources {
          guard !source.route.isEmpty else {
            if let slot = source.slot { entities[entity.number, default: OfEntity()].ownSlots.insert(slot) }
            continue
          }
          let known = source.route.map { ObjectIdentifier($0) }
          let number = numbers[known] ?? routes.count
          if numbers.updateValue(number, forKey: known) == nil {
            routes.append(source.route)
            slotsByRoute.append([])
          }
          if let slot = source.slot { slotsByRoute[number].insert(slot) }
        }
      }
    }
    guard !entities.isEmpty else { return nil }
    var routesByLinks: [ObjectIdentifier: [Int]] = [:]
    for (number, route) in routes.enumerated() {
      guard let last = route.last, let inverse = last.inverseRelationship else { continue }
      routesByLinks[ObjectIdentifier(last), default: []].append(number)
      for entity in last.destinationEntity.selfAndBelow {
        let back = inverse.isToMany ? nil : entity.layout.columns[inverse.slot]
        entities[entity.number, default: OfEntity()].readers.append(
          Reader(route: number, slots: slotsByRoute[number], back: back))
      }
    }
    (self.routes, self.entities, self.routesByLinks) = (routes, entities, routesByLinks)
  }

  /// Nil if neither the entity has derived attributes nor its rows are read for others.
  func of(_ entity: EntityDescription) -> OfEntity? { entities[entity.number] }

  /// The routes whose last relationship this is.
  func routes(over relationship: RelationshipDescription) -> [Int] {
    routesByLinks[ObjectIdentifier(relationship)] ?? []
  }
}
