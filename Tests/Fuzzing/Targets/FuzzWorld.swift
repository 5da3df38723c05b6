import Foundation

@testable import Heartwood

/// Entities with every kind of property and a few of their rows, without a store.
final class FuzzWorld: @unchecked Sendable {
  let city: EntityDescription
  let capital: EntityDescription
  let country: EntityDescription
  let schema: StoreSchema
  let record: SchemaRecord
  private var rows: [String: [UInt64: UnsafeMutableRawBufferPointer]] = [:]

  /// Exists as long as the process, like every frozen model.
  static let shared = Result { try FuzzWorld() }

  private init() throws {
    city = EntityDescription(
      name: "City",
      properties: [
        AttributeDescription(name: "small", type: .integer16),
        AttributeDescription(name: "medium", type: .integer32),
        AttributeDescription(name: "population", type: .integer64),
        AttributeDescription(name: "area", type: .double), AttributeDescription(name: "height", type: .float),
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
      ])
    city.subentities = [capital]
    let owner = RelationshipDescription(name: "country", destination: country, isToMany: false)
    let cities = RelationshipDescription(name: "cities", destination: city, isToMany: true)
    owner.inverseRelationship = cities
    cities.inverseRelationship = owner
    let seat = RelationshipDescription(name: "seat", destination: capital, isToMany: false)
    city.ownProperties.append(owner)
    country.ownProperties += [cities, seat]
    let model = ManagedObjectModel(entities: [city, capital, country])
    try model.freeze()
    record = try SchemaRecord(numbering: model)
    schema = try StoreSchema(model, record)
    addRows()
  }

  private func addRows() {
    let france = ManagedObjectID(entity: country, key: 1, store: .none)
    add(country, 1, ["code": .string("FR"), "area": .double(551_695)])
    add(country, 2, ["code": .string("DE")])
    add(
      capital, 1,
      [
        "name": .string("Paris"), "population": .int(2_102_650), "area": .double(105.4), "isOld": .bool(true),
        "since": .int(987), "country": .object(france), "budget": .decimal(12.34), "height": .double(35),
        "founded": .date(-1000), "page": .url("https://www.paris.fr/"), "small": .int(75), "medium": .int(-1),
      ])
    add(
      city, 2,
      [
        "name": .string("Orl\u{E9}ans"), "population": .int(116_269), "country": .object(france),
        "tag": .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
        "arms": .data(Data([1, 2, 3])),
      ])
    add(city, 3, [:])
  }

  private func add(_ entity: EntityDescription, _ key: UInt64, _ values: [String: Value]) {
    var builder = RowBuilder(entity.layout)
    for (name, value) in values {
      if let slot = entity.slot(named: name) { builder.set(slot, value) }
    }
    let bytes = builder.finish(version: 1)
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    copy.copyBytes(from: bytes)
    rows[entity.rootEntity.displayName, default: [:]][key] = copy
  }

  /// The bytes of all rows.
  var rowBytes: [[UInt8]] { rows.values.flatMap { $0.values.map { Array($0) } } }

  func keys(_ root: EntityDescription) -> [UInt64] { (rows[root.displayName] ?? [:]).keys.sorted() }
}

extension FuzzWorld: RowSource {
  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    guard let bytes = rows[root.displayName]?[key] else { return nil }
    return try RowView(validating: UnsafeRawBufferPointer(bytes), below: root)
  }

  /// All cities belong to the first country.
  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    guard relationship.name == "cities", key == 1 else { return }
    for city in [1, 2] as [UInt64] where try !body(city) { return }
  }
}
