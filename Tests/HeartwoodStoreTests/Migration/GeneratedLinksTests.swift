import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Links where the mapping leaves both sides to their names, as Xcode does for each relationship of the new model.
@Suite struct `Generated mappings of relationships` {
  /// A relationship and its inverse between two of the entities, by the names that they have in each version.
  private struct Pair {
    struct Side {
      var entity: String
      var former: String
      var name: String
      var isToMany: Bool
      var isOrdered: Bool
      /// Whether the new model has it to-many, where it was to-one.
      var becomesToMany: Bool
      var isKept: Bool { former == name }
    }
    var sides: (Side, Side)
  }

  private static let entities = ["A", "B", "C"]

  private static func pair(_ number: Int, _ random: inout Randomness) -> Pair {
    func side(_ name: String) -> Pair.Side {
      let isToMany = random.chance(2)
      return Pair.Side(
        entity: entities[random.below(3)], former: name, name: random.below(5) < 3 ? name : name + "n",
        isToMany: isToMany, isOrdered: isToMany && random.chance(3), becomesToMany: random.chance(3))
    }
    return Pair(sides: (side("p\(number)"), side("q\(number)")))
  }

  private static func model(_ pairs: [Pair], isFormer: Bool, hasSubentity: Bool) -> ManagedObjectModel {
    let made = entities.map { EntityDescription(name: $0, properties: []) }
    let byName = Dictionary(uniqueKeysWithValues: zip(entities, made))
    for (place, entity) in made.enumerated() where !(hasSubentity && place == 2) {
      entity.ownProperties.append(AttributeDescription(name: "key", type: .string))
      if !isFormer {
        entity.ownProperties.append(AttributeDescription(name: "note", type: .string, isOptional: true))
      }
    }
    if hasSubentity { made[0].subentities = [made[2]] }
    for pair in pairs {
      func relationship(_ side: Pair.Side, to other: Pair.Side) -> RelationshipDescription? {
        byName[other.entity].map {
          RelationshipDescription(
            name: isFormer ? side.former : side.name, destination: $0,
            isToMany: side.isToMany || !isFormer && side.becomesToMany, isOrdered: side.isOrdered)
        }
      }
      guard let first = relationship(pair.sides.0, to: pair.sides.1),
        let second = relationship(pair.sides.1, to: pair.sides.0)
      else { continue }
      (first.inverseRelationship, second.inverseRelationship) = (second, first)
      byName[pair.sides.0.entity]?.ownProperties.append(first)
      byName[pair.sides.1.entity]?.ownProperties.append(second)
    }
    return ManagedObjectModel(entities: made)
  }

  /// Each relationship of the new model is named without a source; where its inverse has kept its name, it may also be said to have its default.
  private static func mapping(
    _ model: ManagedObjectModel, _ pairs: [Pair], _ random: inout Randomness
  ) -> MappingModel {
    var left = entities
    var mappings: [EntityMapping] = []
    while !left.isEmpty {
      let name = left.remove(at: random.below(left.count))
      let mapping = EntityMapping(from: name, to: name, type: random.chance(2) ? .transform : .undefined)
      let names = model.entitiesByName[name]?.relationshipsByName.keys.sorted() ?? []
      mapping.relationshipMappings = names.map { name in
        let isNew = pairs.contains {
          !$0.sides.0.isKept && $0.sides.0.name == name && $0.sides.1.isKept
            || !$0.sides.1.isKept && $0.sides.1.name == name && $0.sides.0.isKept
        }
        return isNew && random.chance(3)
          ? PropertyMapping(name: name, usesDefault: true) : PropertyMapping(name: name)
      }
      mappings.append(mapping)
    }
    return MappingModel(entityMappings: mappings)
  }

  private func open(
    _ model: ManagedObjectModel, at url: URL, _ mapping: MappingModel? = nil
  ) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    let description = PersistentStoreDescription(url: url)
    description.mappingModel = mapping
    try coordinator.addPersistentStore(with: description)
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  /// Inserts three objects of each entity, and links some of them.
  private func fill(_ context: ManagedObjectContext, _ pairs: [Pair], _ random: inout Randomness) throws {
    var objects: [ManagedObject] = []
    for name in Self.entities {
      for number in 0..<3 {
        let object = try ManagedObject(entity: context.entity(name), insertInto: context)
        object.setValue("\(name)\(number)", forKey: "key")
        objects.append(object)
      }
    }
    for pair in pairs {
      func some(_ side: Pair.Side) throws -> ManagedObject? {
        let entity = try context.entity(side.entity)
        let fitting = objects.filter { $0.entity.isKindOf(entity: entity) }
        return fitting[random.below(fitting.count)]
      }
      for _ in 0..<2 + random.below(4) {
        guard let source = try some(pair.sides.0), let target = try some(pair.sides.1) else { continue }
        let name = pair.sides.0.former
        if pair.sides.0.isToMany {
          let all = source.objectIDs(forRelationshipNamed: name)
          let others = objects.filter { all.contains($0.objectID) && $0 !== target }
          try source.assign(others + [target], forKey: name)
        } else {
          try source.assign(target, forKey: name)
        }
      }
    }
    try context.save()
  }

  /// The links of each pair, by the keys of both objects; those of ordered sides in their order.
  private func links(_ context: ManagedObjectContext, _ pairs: [Pair], isFormer: Bool) throws -> [[String]] {
    try pairs.flatMap { pair in
      try [pair.sides.0, pair.sides.1].map { side in
        let name = isFormer ? side.former : side.name
        let objects = try context.fetch(FetchRequest<ManagedObject>(entityName: side.entity))
        return objects.map { object in
          let keys = object.objectIDs(forRelationshipNamed: name).map {
            context.object(with: $0).value(forKey: "key") as? String ?? "-"
          }
          return
            "\(object.value(forKey: "key") ?? "-"): \((side.isOrdered ? keys : keys.sorted()).joined(separator: " "))"
        }.sorted()
      }
    }
  }

  // MIG-09
  @Test(arguments: 0..<24)
  func `links stay where one of their sides keeps its name`(seed: UInt64) throws {
    var random = Randomness(seed: seed)
    let pairs = (0..<1 + random.below(3)).map { Self.pair($0, &random) }
    let hasSubentity = random.chance(2)
    let former = Self.model(pairs, isFormer: true, hasSubentity: hasSubentity)
    let folder = try TemporaryFolder()
    let context = try open(former, at: folder.store)
    try fill(context, pairs, &random)
    let before = try links(context, pairs, isFormer: true)
    try context.persistentStoreCoordinator?.close()
    let present = Self.model(pairs, isFormer: false, hasSubentity: hasSubentity)
    let mapped = try open(present, at: folder.store, Self.mapping(present, pairs, &random))
    let after = try links(mapped, pairs, isFormer: false)
    for (number, pair) in pairs.enumerated() {
      let stays = pair.sides.0.isKept || pair.sides.1.isKept
      for (place, side) in [pair.sides.0, pair.sides.1].enumerated() {
        let wanted = before[2 * number + place]
        let found = after[2 * number + place]
        if !stays {
          #expect(found == wanted.map { "\($0.prefix(3)) " })
        } else if side.isOrdered, !side.isKept {
          // A side of another name gets the links from the one that is kept, and no order.
          #expect(found.map { $0.sorted() } == wanted.map { $0.sorted() })
        } else {
          #expect(found == wanted)
        }
      }
    }
    try mapped.persistentStoreCoordinator?.close()
  }
}
