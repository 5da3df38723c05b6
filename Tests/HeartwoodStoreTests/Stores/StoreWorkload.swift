import Foundation
import GraphTestSupport
import HeartwoodFaults

@testable import Heartwood

/// Random changes, made to a store and its mirror alike.
struct StoreWorkload {
  let world: StoreWorld
  var mirror = StoreModel()
  var random: SplitMix64
  private var code = 0

  init(_ world: StoreWorld, seed: UInt64) {
    self.world = world
    random = SplitMix64(seed: seed)
  }

  /// One save of several changes; the mirror changes only if the save is durable.
  mutating func save(to store: LogStore) throws {
    var after = self
    try store.save { transaction in
      for _ in 0..<Int.random(in: 1...12, using: &after.random) { try after.change(transaction) }
    }
    self = after
  }

  private mutating func change(_ transaction: any StoreTransaction) throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<7: try insert(transaction)
    case 7..<11: try update(transaction)
    case 11..<13: try delete(transaction)
    case 13..<16: try link(transaction)
    case 16: try unlink(transaction)
    default: try reorder(transaction)
    }
  }

  private mutating func insert(_ transaction: any StoreTransaction) throws {
    let entities = [world.country, world.city, world.city, world.village, world.tour, world.leg]
    let entity = entities.randomElement(using: &random) ?? world.city
    let key = try transaction.newKeys(entity.rootEntity, 1)
    let values = self.values(entity, transaction.identity)
    try transaction.insert(entity, key, row: entity.row(version: 1, values))
    mirror.rows[place(entity, key)] = StoreModel.Row(entity: entity.displayName, version: 1, values: values)
    try moveLeg(entity, key, from: nil, to: values["tour"]?.key, transaction)
  }

  private mutating func update(_ transaction: any StoreTransaction) throws {
    guard let (entity, key) = anyRow(), var row = mirror.rows[place(entity, key)] else { return }
    let before = row.values
    for (name, value) in values(entity, transaction.identity) where Bool.random(using: &random) {
      row.values[name] = value
    }
    if Int.random(in: 0..<4, using: &random) == 0,
      let name = row.values.keys.sorted().randomElement(using: &random)
    {
      row.values[name] = nil
    }
    let changed = entity.slots.filter { slot in
      let name = entity.property(at: slot).name
      return before[name] != row.values[name]
    }
    let conflict = try transaction.update(
      entity, key, expectedVersion: row.version, row: entity.row(version: row.version + 1, row.values),
      changedSlots: changed, changedToMany: [])
    precondition(conflict == nil)
    row.version += 1
    mirror.rows[place(entity, key)] = row
    try moveLeg(entity, key, from: before["tour"]?.key, to: row.values["tour"]?.key, transaction)
  }

  /// No row implies an order. A change of the other side has to change it too, as a context does.
  private mutating func moveLeg(
    _ entity: EntityDescription, _ key: UInt64, from old: UInt64?, to new: UInt64?,
    _ transaction: any StoreTransaction
  ) throws {
    guard entity === world.leg, old != new else { return }
    let legs = world.tour.relationship("legs")
    if let old {
      try setOrder(legs, old, mirror.destinations(legs, of: old).filter { $0 != key }, transaction)
    }
    if let new { try setOrder(legs, new, mirror.destinations(legs, of: new) + [key], transaction) }
  }

  private mutating func delete(_ transaction: any StoreTransaction) throws {
    guard let (entity, key) = anyRow(), let row = mirror.rows[place(entity, key)] else { return }
    for relationship in entity.relationshipsBySlot where relationship.isToMany {
      for target in mirror.destinations(relationship, of: key) {
        if relationship.ownsLinks, relationship.inverseRelationship != nil {
          try transaction.unlink(relationship, key, target)
          mirror.unlink(relationship, key, target)
        } else if let inverse = relationship.inverseRelationship, let owner = inverse.entity {
          try clear(inverse, owner, target, transaction)
        }
      }
      mirror.links[StoreModel.Source(relationship: relationship.displayName, key: key)] = nil
    }
    try moveLeg(entity, key, from: row.values["tour"]?.key, to: nil, transaction)
    let conflict = try transaction.delete(entity, key, expectedVersion: row.version)
    precondition(conflict == nil)
    mirror.rows[place(entity, key)] = nil
  }

  private mutating func clear(
    _ relationship: RelationshipDescription, _ entity: EntityDescription, _ key: UInt64,
    _ transaction: any StoreTransaction
  ) throws {
    guard var row = mirror.rows[place(entity, key)] else { return }
    row.values[relationship.name] = nil
    _ = try transaction.update(
      entity, key, expectedVersion: row.version, row: entity.row(version: row.version + 1, row.values),
      changedSlots: [relationship.slot], changedToMany: [])
    row.version += 1
    mirror.rows[place(entity, key)] = row
  }

  private mutating func link(_ transaction: any StoreTransaction) throws {
    guard let (relationship, source) = linkSource() else { return }
    let root = relationship.destinationEntity.rootEntity
    let targets = mirror.keys(
      root, relationship.destinationEntity === root ? nil : relationship.destinationEntity)
    guard let target = targets.randomElement(using: &random) else { return }
    try transaction.link(relationship, source, target)
    mirror.link(relationship, source, target)
    try noteLinks(relationship, source, transaction)
  }

  private mutating func unlink(_ transaction: any StoreTransaction) throws {
    guard let (relationship, source) = linkSource(),
      let target = mirror.destinations(relationship, of: source).randomElement(using: &random)
    else { return }
    try transaction.unlink(relationship, source, target)
    mirror.unlink(relationship, source, target)
    try noteLinks(relationship, source, transaction)
  }

  private mutating func reorder(_ transaction: any StoreTransaction) throws {
    guard let tour = mirror.keys(world.tour).randomElement(using: &random) else { return }
    let relationship = world.tour.relationship(Bool.random(using: &random) ? "stops" : "legs")
    var order = mirror.destinations(relationship, of: tour)
    guard !order.isEmpty else { return }
    let moved = order.remove(at: Int.random(in: 0..<order.count, using: &random))
    order.insert(moved, at: Int.random(in: 0...order.count, using: &random))
    try setOrder(relationship, tour, order, transaction)
    try noteLinks(relationship, tour, transaction)
  }

  private mutating func setOrder(
    _ relationship: RelationshipDescription, _ source: UInt64, _ order: [UInt64],
    _ transaction: any StoreTransaction
  ) throws {
    try transaction.setOrder(relationship, source, order)
    mirror.setOrder(relationship, source, order)
  }

  /// Marks the owner as changed in the save. Its row stays unchanged.
  private func noteLinks(
    _ relationship: RelationshipDescription, _ source: UInt64, _ transaction: any StoreTransaction
  ) throws {
    guard let owner = relationship.entity else { return }
    let conflict = try transaction.update(
      owner, source, expectedVersion: 0, row: nil, changedSlots: [], changedToMany: [relationship.slot])
    precondition(conflict == nil)
  }
}

/// The choices of the script.
extension StoreWorkload {
  private mutating func anyRow() -> (EntityDescription, UInt64)? {
    let places = mirror.rows.keys.sorted { ($0.root, $0.key) < ($1.root, $1.key) }
    guard let place = places.randomElement(using: &random),
      let entity = mirror.rows[place].flatMap({ world.model.entitiesByName[$0.entity] })
    else { return nil }
    return (entity, place.key)
  }

  private mutating func linkSource() -> (RelationshipDescription, UInt64)? {
    let relationships = [
      world.city.relationship("twins"), world.tour.relationship("stops"), world.city.relationship("tours"),
      world.country.relationship("sights"),
    ]
    guard let relationship = relationships.randomElement(using: &random), let owner = relationship.entity,
      let source = mirror.keys(owner.rootEntity, owner).randomElement(using: &random)
    else { return nil }
    return (relationship, source)
  }

  private func place(_ entity: EntityDescription, _ key: UInt64) -> StoreModel.Place {
    StoreModel.Place(root: entity.rootEntity.displayName, key: key)
  }

  private mutating func values(_ entity: EntityDescription, _ store: StoreIdentity) -> [String: Value] {
    switch entity.displayName {
    case "Country":
      code += 1
      return [
        "name": .string(text()), "code": .string("C\(code)"), "area": .double(Double(number(1000)) / 8),
        "population": .int(Int64(number(50))), "motto": .string(motto()),
      ]
    case "City":
      return [
        "title": .string(text()), "height": .int(Int64(number(20))), "isCapital": .bool(number(2) == 0),
        "seal": .data(Data(repeating: UInt8(number(256)), count: number(40))),
        "country": target(world.country, store),
      ].filter { !$0.value.isNull }
    case "Village":
      return ["title": .string(text()), "founded": .date(Double(number(1_000_000)))]
    case "Tour":
      code += 1
      return ["label": .string("tour \(number(5))"), "year": .int(Int64(code))]
    default:
      return ["number": .int(Int64(number(100))), "tour": target(world.tour, store)]
        .filter { !$0.value.isNull }
    }
  }

  private mutating func target(_ entity: EntityDescription, _ store: StoreIdentity) -> Value {
    guard let key = mirror.keys(entity).randomElement(using: &random), number(4) > 0 else { return .null }
    return .object(ManagedObjectID(entity: entity, key: key, store: store))
  }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private mutating func text() -> String {
    let pieces = ["a", "b", "Z", "é", "e\u{301}", "ß", "\u{0}", "日", "-", "aa"]
    return (0..<number(6)).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
  }

  /// Often too long for an index, with long common prefixes.
  private mutating func motto() -> String {
    let length = [0, 5, 190, 196, 197, 198, 199, 200, 400][number(9)]
    return String(repeating: "m", count: length) + text()
  }
}
