import Foundation
import GraphTestSupport

@testable import Heartwood

/// Entities with every kind of property, and rows of them, without a store.
final class PredicateWorld {
  let model: ManagedObjectModel
  let city: EntityDescription
  let capital: EntityDescription
  let country: EntityDescription
  /// Values by property name, by key, by the name of the root entity. To-many values are lists of keys.
  private(set) var objects: [String: [UInt64: PredicateObject]] = ["City": [:], "Country": [:]]
  private var rows: [String: [UInt64: UnsafeMutableRawBufferPointer]] = ["City": [:], "Country": [:]]
  private(set) var rowReads = 0

  init() throws {
    city = EntityDescription(
      name: "City",
      properties: [
        AttributeDescription(name: "small", type: .integer16),
        AttributeDescription(name: "medium", type: .integer32),
        AttributeDescription(name: "population", type: .integer64),
        AttributeDescription(name: "area", type: .double),
        AttributeDescription(name: "height", type: .float),
        AttributeDescription(name: "budget", type: .decimal),
        AttributeDescription(name: "name", type: .string),
        AttributeDescription(name: "isOld", type: .boolean),
        AttributeDescription(name: "founded", type: .date),
        AttributeDescription(name: "arms", type: .binaryData),
        AttributeDescription(name: "tag", type: .uuid), AttributeDescription(name: "page", type: .uri),
      ])
    capital = EntityDescription(
      name: "Capital", properties: [AttributeDescription(name: "since", type: .integer64)])
    country = EntityDescription(
      name: "Country",
      properties: [
        AttributeDescription(name: "code", type: .string), AttributeDescription(name: "area", type: .double),
        AttributeDescription(name: "any", type: .integer64),
      ])
    city.subentities = [capital]
    let owner = RelationshipDescription(name: "country", destination: country, isToMany: false)
    let cities = RelationshipDescription(name: "cities", destination: city, isToMany: true)
    owner.inverseRelationship = cities
    cities.inverseRelationship = owner
    let neighbours = RelationshipDescription(name: "neighbours", destination: country, isToMany: true)
    neighbours.inverseRelationship = neighbours
    let seat = RelationshipDescription(name: "seat", destination: capital, isToMany: false)
    city.ownProperties.append(owner)
    let ranking = RelationshipDescription(name: "ranking", destination: city, isToMany: true)
    ranking.isOrdered = true
    country.ownProperties += [cities, neighbours, seat, ranking]
    model = ManagedObjectModel(entities: [city, capital, country])
    try model.freeze()
  }

  deinit {
    for row in rows.values.flatMap(\.values) { row.deallocate() }
  }

  /// Adds an object; to-one values are keys.
  func add(
    _ entity: EntityDescription, _ key: UInt64, _ values: [String: Value], many: [String: [UInt64]] = [:]
  ) {
    let root = entity.rootEntity.displayName
    objects[root]?[key] = PredicateObject(entity: entity, key: key, values: values, many: many)
    var builder = RowBuilder(entity.layout)
    for (name, value) in values {
      guard let slot = entity.slot(named: name) else { continue }
      builder.set(slot, value)
    }
    let bytes = builder.finish(version: 1)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    copy.copyBytes(from: bytes)
    rows[root]?[key] = copy
  }

  func identifier(_ entity: EntityDescription, _ key: UInt64) -> ManagedObjectID {
    ManagedObjectID(entity: entity, key: key, store: StoreIdentity(uuid: Self.storeUUID))
  }

  static let storeUUID = UUID(uuidString: "7D3B8E0A-1111-4222-8333-944455556666") ?? UUID()

  /// The keys of the objects of an entity for which a predicate holds, ascending.
  func keys(_ entity: EntityDescription, _ predicate: any FetchPredicate) throws -> [UInt64] {
    let compiled = try CompiledPredicate(predicate, entity: entity)
    return try keys(entity).filter { key in
      guard let row = try row(entity.rootEntity, key) else { return false }
      return try compiled.matches(row, key: key, in: self)
    }
  }

  func keys(_ entity: EntityDescription) -> [UInt64] {
    (objects[entity.rootEntity.displayName] ?? [:]).values
      .filter { $0.entity.isKindOf(entity: entity) }.map(\.key).sorted()
  }
}

struct PredicateObject {
  let entity: EntityDescription
  let key: UInt64
  let values: [String: Value]
  let many: [String: [UInt64]]
}

extension PredicateWorld: RowSource {
  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    rowReads += 1
    guard let bytes = rows[root.displayName]?[key] else { return nil }
    return try RowView(validating: UnsafeRawBufferPointer(bytes), below: root)
  }

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    let owner = relationship.entity?.rootEntity.displayName ?? ""
    for destination in objects[owner]?[key]?.many[relationship.name] ?? [] {
      guard try body(destination) else { return }
    }
  }
}

extension PredicateWorld {
  /// A few cities and countries with known values.
  static func sample() throws -> PredicateWorld {
    let world = try PredicateWorld()
    let france = world.identifier(world.country, 1)
    let germany = world.identifier(world.country, 2)
    world.add(
      world.country, 1, ["code": .string("FR"), "area": .double(551_695), "any": .int(7)],
      many: ["cities": [1, 2], "neighbours": [2], "ranking": [2, 1]])
    world.add(
      world.country, 2, ["code": .string("DE"), "area": .double(357_022)],
      many: ["cities": [3], "neighbours": [1, 3], "ranking": [3, 4]])
    world.add(world.country, 3, ["code": .string("AQ")], many: ["neighbours": [2]])
    world.add(
      world.capital, 1,
      [
        "name": .string("Paris"), "population": .int(2_102_650), "area": .double(105.4), "isOld": .bool(true),
        "since": .int(987), "country": .object(france), "budget": .decimal(12.34),
        "height": .double(Double(Float(35.1))),
        "founded": .date(-1000), "page": .url("https://www.paris.fr/"), "small": .int(75), "medium": .int(-1),
      ])
    world.add(
      world.city, 2,
      [
        "name": .string("Orl\u{E9}ans"), "population": .int(116_269), "country": .object(france),
        "isOld": .bool(false),
        "tag": .uuid(Self.storeUUID), "arms": .data(Data([1, 2, 3])),
      ])
    world.add(
      world.city, 3,
      ["name": .string("K\u{F6}ln"), "population": .int(1_073_096), "country": .object(germany)])
    world.add(world.city, 4, [:])
    return world
  }
}
