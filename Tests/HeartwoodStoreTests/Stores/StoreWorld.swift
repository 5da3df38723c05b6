import Foundation
import GraphTestSupport
import HeartwoodEngine
import HeartwoodFiles

@testable import Heartwood

/// A model with every kind of property and relationship that a store keeps, and rows of it.
struct StoreWorld {
  let model: ManagedObjectModel
  let country, place, city, village, tour, leg: EntityDescription

  /// - Parameter extraIndex: Whether countries have one more index, which is not part of any version hash.
  init(extraIndex: Bool = false) {
    country = EntityDescription(
      name: "Country",
      properties: [
        attribute("name", .string), attribute("code", .string, preserved: true),
        attribute("population", .integer64, preserved: true), attribute("area", .double),
        attribute("motto", .string),
      ])
    place = EntityDescription(
      name: "Place", properties: [attribute("title", .string), attribute("height", .integer32)])
    place.isAbstract = true
    city = EntityDescription(
      name: "City", properties: [attribute("isCapital", .boolean), attribute("seal", .binaryData)])
    village = EntityDescription(name: "Village", properties: [attribute("founded", .date)])
    place.subentities = [city, village]
    tour = EntityDescription(
      name: "Tour", properties: [attribute("label", .string), attribute("year", .integer16)])
    leg = EntityDescription(name: "Leg", properties: [attribute("number", .integer32)])

    pair(country, "cities", many: true, city, "country", many: false)
    pair(city, "twins", many: true, city, "twins", many: true)
    pair(tour, "stops", many: true, ordered: true, city, "tours", many: true)
    pair(tour, "legs", many: true, ordered: true, leg, "tour", many: false)
    country.ownProperties.append(
      RelationshipDescription(name: "sights", destination: place, isToMany: true, deleteRule: .noAction))

    country.uniquenessConstraints = [["code"]]
    tour.uniquenessConstraints = [["label", "year"]]
    index(country, "byName", "name")
    index(country, "byPopulation", "population", "name")
    index(country, "byMotto", "motto")
    index(place, "byHeight", "height", "title")
    index(city, "byCountry", "country")
    if extraIndex { index(country, "byArea", "area") }
    model = ManagedObjectModel(entities: [country, place, city, village, tour, leg])
  }

  var roots: [EntityDescription] { [country, place, tour, leg] }
}

private func attribute(_ name: String, _ type: AttributeType, preserved: Bool = false) -> AttributeDescription
{
  let attribute = AttributeDescription(name: name, type: type)
  attribute.preservesValueInHistoryOnDeletion = preserved
  return attribute
}

private func pair(
  _ left: EntityDescription, _ leftName: String, many: Bool, ordered: Bool = false,
  _ right: EntityDescription, _ rightName: String, many rightMany: Bool
) {
  let first = RelationshipDescription(name: leftName, destination: right, isToMany: many, isOrdered: ordered)
  left.ownProperties.append(first)
  if left === right, leftName == rightName { return first.inverseRelationship = first }
  let second = RelationshipDescription(name: rightName, destination: left, isToMany: rightMany)
  right.ownProperties.append(second)
  first.inverseRelationship = second
  second.inverseRelationship = first
}

private func index(_ entity: EntityDescription, _ name: String, _ properties: String...) {
  let byName = entity.propertiesByName
  let elements = properties.compactMap { byName[$0] }.map { FetchIndexElementDescription(property: $0) }
  entity.indexes.append(FetchIndexDescription(name: name, elements: elements))
}

extension EntityDescription {
  func relationship(_ name: String) -> RelationshipDescription {
    guard let slot = slot(named: name) else { preconditionFailure("\(displayName) has no \(name)") }
    return relationship(at: slot)
  }

  func row(version: UInt32, _ values: [String: Value]) -> [UInt8] {
    var builder = RowBuilder(layout)
    for (name, value) in values {
      if let slot = slot(named: name) { builder.set(slot, value) }
    }
    return builder.finish(version: version)
  }

  /// All values except to-many relationships and nulls.
  func values(_ row: RowView, _ store: StoreIdentity) -> [String: Value] {
    var values: [String: Value] = [:]
    for slot in slots {
      let value = row.value(layout.columns[slot], layout: layout, store: store)
      if !value.isNull { values[property(at: slot).name] = value }
    }
    return values
  }
}

/// The location of a store under test.
enum StorePlace: CaseIterable {
  case memory, disk

  /// Runs the body with a temporary location, which is removed afterwards.
  func use<Result>(_ body: (URL) throws -> Result) throws -> Result {
    guard self == .disk else { return try body(URL(filePath: "/dev/null")) }
    let folder = FileManager.default.temporaryDirectory.appending(path: "heartwood-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}

extension LogStoreOptions {
  /// These tests do not test power cuts.
  static var quick: LogStoreOptions { LogStoreOptions(durability: .deferred) }
}

extension LogStore {
  @discardableResult
  func save<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    try save(TransactionInfo(author: "test", date: Date(timeIntervalSince1970: 1000)), body).0
  }
}

extension StoreTransaction {
  /// Inserts a row, without regard to derived values.
  func insert(_ entity: EntityDescription, _ key: UInt64, row: [UInt8]) throws {
    var row = row
    try insert(entity, key, row: &row)
  }

  /// Replaces a row, without regard to derived values.
  func update(
    _ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32, row: [UInt8]?,
    changedSlots: [Int], changedToMany: [Int]
  ) throws -> RowConflict? {
    var row = row
    return try update(
      entity, key, expectedVersion: expectedVersion, row: &row, changedSlots: changedSlots,
      changedToMany: changedToMany)
  }
}

extension StoreKind {
  /// The options for opening a store of this kind without syncs.
  var quick: LogStoreOptions {
    var options = LogStoreOptions.quick
    options.format = format
    return options
  }
}
