import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct `Objects without a context` {
  let model: ManagedObjectModel

  init() throws { model = try ManagedObjectModel(types: declaredTypes) }

  func make<Object: ManagedObject>(_ type: Object.Type) throws -> Object {
    let entity = try #require(model.entity(of: type))
    return try #require(ObjectMaking.make(type, entity) as? Object)
  }

  @Test func `a new object has the defaults of its class`() throws {
    let country = try make(Country.self)
    #expect(country.code == "")
    #expect(country.population == nil)
    #expect(country.continent == .europe)
    #expect(country.area == 0)
    #expect(country.rank == .low)
    #expect(country.cities.isEmpty)
    #expect(country.capital == nil)
    #expect(!country.hasChanges)
  }

  @Test func `values that were set are read back, in every type`() throws {
    let city = try make(City.self)
    city.title = "Łódź, a title of more than fifteen bytes"
    city.rank = .high
    city.small = -7
    city.medium = 70_000
    city.plain = Int.max
    city.share = 0.25
    city.price = Decimal(string: "-12.50")
    city.isCoastal = true
    city.founded = Date(timeIntervalSinceReferenceDate: 12.5)
    city.seal = Data([1, 2, 3])
    city.site = URL(string: "https://example.org/x")
    city.token = UUID(uuidString: "5F7C9F2E-4B8A-4C55-9F23-0D8F2B1F2A11")
    try check(city)

    // The same again, directly from the bytes of a row.
    let row = city.encodedRow(version: 3) { $0 }
    let twin = try make(City.self)
    twin.commit(row: row)
    try check(twin)
    #expect(twin.rowVersion == 3)
    #expect(twin._row != nil)
  }

  private func check(_ city: City) throws {
    #expect(city.title == "Łódź, a title of more than fifteen bytes")
    #expect(city.rank == .high)
    #expect(city.small == -7)
    #expect(city.medium == 70_000)
    #expect(city.plain == Int.max)
    #expect(city.share == 0.25)
    #expect(city.price == Decimal(string: "-12.5"))
    #expect(city.isCoastal)
    #expect(city.founded == Date(timeIntervalSinceReferenceDate: 12.5))
    #expect(city.seal == Data([1, 2, 3]))
    #expect(city.site?.absoluteString == "https://example.org/x")
    #expect(city.token?.uuidString == "5F7C9F2E-4B8A-4C55-9F23-0D8F2B1F2A11")
  }

  @Test func `a pending value takes precedence over the row, and equal values are no difference`() throws {
    let city = try make(City.self)
    city.commit(row: city.encodedRow(version: 1) { $0 })
    city.title = ""
    #expect(city.changedSlots().isEmpty)
    #expect(city.editedSlots.count == 1)
    city.title = "B"
    city.plain = 4
    #expect(city.title == "B")
    #expect(Set(city.changedValues().keys) == ["title", "plain"])
    #expect(city.committedValues(forKeys: ["title"])["title"] as? String == "")
    city.dropEdits()
    #expect(city.title == "")
    #expect(city._row != nil)
  }

  @Test func `properties are accessed by name, and unsuitable values are refused`() throws {
    let city = try make(City.self)
    city.setValue("Graz", forKey: "title")
    #expect(city.title == "Graz")
    #expect(city.value(forKey: "title") as? String == "Graz")
    try city.assign(12, forKey: "small")
    #expect(city.value(forKey: "small") as? Int16 == 12)
    try city.assign(nil, forKey: "title")
    #expect(city.value(forKey: "title") == nil)
    #expect(city.title == "")
    #expect(
      heartwoodMessage { try city.assign(1, forKey: "size") }?.contains(
        "City has no property called \"size\"") == true)
    #expect(
      heartwoodMessage { try city.assign("many", forKey: "small") }?
        .contains("City.small holds integer16, which String (many) does not fit") == true)
    #expect(
      heartwoodMessage { try city.assign(city, forKey: "country") }?.contains("City is not Country") == true)
  }

  @Test func `an object of a model without classes holds values by name`() throws {
    let firm = FirmModel()
    _ = try firm.frozen()
    let manager = firm.manager.makeObject()
    #expect(manager.value(forKey: "bonus") as? Decimal == Decimal(string: "12.5"))
    manager.setValue("Ada", forKey: "name")
    #expect(manager.value(forKey: "name") as? String == "Ada")
  }

  @Test func `a class that declares a property its entity does not have is refused`() throws {
    let entity = EntityDescription(name: "Remark", properties: [], managedObjectClass: Note.self)
    let message = heartwoodMessage { try ManagedObjectModel(entities: [entity]).freeze() }
    #expect(message?.contains("text is declared in the class, but Remark has no such property") == true)
    let other = EntityDescription(
      name: "Remark",
      properties: [
        AttributeDescription(name: "text", type: .integer64),
        AttributeDescription(name: "about", type: .string),
      ], managedObjectClass: Note.self)
    let second = heartwoodMessage { try ManagedObjectModel(entities: [other]).freeze() }
    #expect(second?.contains("text is string in the class, but integer64 in the model") == true)
  }

  @Test func `many threads can create the first objects of a class at once`() async throws {
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          guard let model = try? ManagedObjectModel(types: declaredTypes),
            let entity = model.entitiesByName["City"]
          else { return false }
          return (0..<50).allSatisfy { number in
            guard let city = entity.makeObject() as? City else { return false }
            city.plain = number
            return city.plain == number && city._mark == 0
          }
        }
      }
      for await sound in group { #expect(sound) }
    }
  }
}

extension City {
  /// The state that the wrapper of an ordinary object holds.
  fileprivate var _mark: UInt8 {
    Mirror(reflecting: self).children.compactMap { ($0.value as? any _DeclaredProperty)?._mark }.max() ?? 0
  }
}
