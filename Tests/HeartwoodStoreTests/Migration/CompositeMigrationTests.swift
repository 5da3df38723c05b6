import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

private enum First {
  struct Place: CompositeValue {
    var lat = 0.0
    var lon = 0.0
    static let elements = [CompositeElement("lat", \Place.lat), CompositeElement("lon", \Place.lon)]
  }
  struct Home: CompositeValue {
    var street = ""
    var zip: Int?
    var geo = Place()
    static let elements = [
      CompositeElement("street", \Home.street), CompositeElement("zip", \Home.zip),
      CompositeElement("geo", \Home.geo),
    ]
  }
  final class Person: ManagedObject {
    @Attribute var name = ""
    @Attribute var home = Home()
    @Attribute var work: Home?
    override class var compoundIndexes: [[String]] { [["home.zip", "name"]] }
  }
}

/// The attribute, its elements and an element of an element are renamed.
private enum Second {
  struct Place: CompositeValue {
    var breadth = 0.0
    var lon = 0.0
    static let elements = [
      CompositeElement("breadth", \Place.breadth, renamed: "lat"), CompositeElement("lon", \Place.lon),
    ]
  }
  struct Address: CompositeValue {
    var road = ""
    var zip: Int?
    var place = Place()
    static let elements = [
      CompositeElement("road", \Address.road, renamed: "street"), CompositeElement("zip", \Address.zip),
      CompositeElement("place", \Address.place, renamed: "geo"),
    ]
  }
  final class Person: ManagedObject {
    @Attribute var name = ""
    @Attribute(renamed: "home") var address = Address()
    @Attribute var work: Address?
    override class var compoundIndexes: [[String]] { [["address.zip", "name"]] }
  }
}

/// The attribute is renamed again, and what was renamed still says so.
private enum Third {
  final class Person: ManagedObject {
    @Attribute var name = ""
    @Attribute(renamed: "address") var residence = Second.Address()
    @Attribute var work: Second.Address?
  }
}

/// Composite attributes in migrations.
@Suite struct CompositeMigrationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(_ type: ManagedObject.Type) throws -> ManagedObjectContext {
    try PersistentContainer(name: "People", types: [type], at: folder.store).newBackgroundContext()
  }

  private func close(_ context: ManagedObjectContext) throws {
    #expect(try context.persistentStoreCoordinator?.verify().findings == [])
    try context.persistentStoreCoordinator?.close()
  }

  private func fill() throws {
    let context = try open(First.Person.self)
    for number in 0..<40 {
      let person = First.Person(context: context)
      person.name = "p\(number)"
      person.home = First.Home(
        street: "s\(number)", zip: number, geo: First.Place(lat: Double(number), lon: 1))
      if number % 2 == 0 { person.work = First.Home(street: "w\(number)", zip: nil) }
    }
    try context.save()
    try close(context)
  }

  // MIG-04, MOD-49
  @Test
  func `a composite attribute that is renamed keeps its values, and elements that are renamed keep theirs`()
    throws
  {
    try fill()
    func check(_ address: Second.Address, _ work: Second.Address?, _ number: Int) {
      let place = Second.Place(breadth: Double(number), lon: 1)
      #expect(address == Second.Address(road: "s\(number)", zip: number, place: place))
      #expect(work == (number % 2 == 0 ? Second.Address(road: "w\(number)") : nil))
    }
    let second = try open(Second.Person.self)
    for person in try second.fetch(Second.Person.self) {
      check(person.address, person.work, try #require(Int(person.name.dropFirst())))
    }
    #expect(try second.fetch(Second.Person.self, where: { $0.address.zip == 7 }).map(\.name) == ["p7"])
    #expect(try second.fetch(Second.Person.self, where: { $0.address.road == "s9" }).map(\.name) == ["p9"])
    #expect(
      try second.fetch(Second.Person.self, where: { $0.address.place.breadth == 11 }).map(\.name) == ["p11"])
    let changed = try #require(try second.fetch(Second.Person.self, where: { $0.name == "p2" }).first)
    changed.address.zip = 1000
    try second.save()
    changed.address.zip = 2
    try second.save()
    try close(second)
    let third = try open(Third.Person.self)
    let people = try third.fetch(Third.Person.self)
    #expect(people.count == 40)
    for person in people { check(person.residence, person.work, try #require(Int(person.name.dropFirst()))) }
    try third.persistentStoreCoordinator?.finishDeferredLightweightMigration()
    #expect(try third.fetch(Third.Person.self, where: { $0.residence.zip == 7 }).map(\.name) == ["p7"])
    try close(third)
  }

  /// A model with a composite attribute `home`.
  private func model(
    isOptional: Bool = true, name: String = "home", renamed: String? = nil,
    _ elements: [(name: String, default: String?)]
  ) -> ManagedObjectModel {
    let home = CompositeAttributeDescription(
      name: name,
      elements: elements.map {
        AttributeDescription(
          name: $0.name, type: .string, isOptional: $0.default == nil, defaultValue: $0.default)
      }, isOptional: isOptional)
    home.renamingIdentifier = renamed
    return ManagedObjectModel(
      entities: [
        EntityDescription(
          name: "P", properties: [AttributeDescription(name: "tag", type: .integer64), home])
      ])
  }

  private func open(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
    let coordinator = try PersistentStoreCoordinator(checking: model)
    try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
    return ManagedObjectContext(.privateQueue, coordinator: coordinator)
  }

  private func homes(_ context: ManagedObjectContext) throws -> [[String: String]?] {
    let request = FetchRequest<ManagedObject>(entityName: "P")
    request.sortDescriptors = [NamedSort("tag")]
    return try context.fetch(request).map { $0.value(forKey: "home") as? [String: String] }
  }

  // MIG-04, MOD-49
  @Test
  func `where a composite attribute has no value, no element of it gets one, until the whole must have one`()
    throws
  {
    let first = model([("street", nil)])
    let context = try open(first)
    let homes: [[String: String]?] = [nil, [:], ["street": "A"]]
    for (tag, home) in homes.enumerated() {
      let object = ManagedObject(entity: try #require(first.entitiesByName["P"]), insertInto: context)
      object.setValue(tag, forKey: "tag")
      object.setValue(home, forKey: "home")
    }
    try context.save()
    try close(context)
    // An element becomes mandatory, and another one is new.
    let second = model([("street", "none"), ("country", "DE")])
    let migrated = try open(second)
    #expect(
      try self.homes(migrated) == [
        nil, ["street": "none", "country": "DE"], ["street": "A", "country": "DE"],
      ])
    for name in ["street", "country"] {
      let request = FetchRequest<ManagedObject>(entityName: "P")
      request.predicate = try FormatPredicate("home.\(name) == nil")
      #expect(try migrated.count(for: request) == 1)
    }
    try close(migrated)
    let third = try open(model(isOptional: false, [("street", "none"), ("country", "DE")]))
    #expect(
      try self.homes(third) == [
        ["street": "none", "country": "DE"], ["street": "none", "country": "DE"],
        ["street": "A", "country": "DE"],
      ])
    try close(third)
  }

  // MIG-04, MIG-17, MOD-49
  @Test func `a new mandatory element without a default is refused where there is a value, and only there`()
    throws
  {
    let first = model([("street", nil)])
    let context = try open(first)
    let object = ManagedObject(entity: try #require(first.entitiesByName["P"]), insertInto: context)
    object.setValue(1, forKey: "tag")
    try context.save()
    try close(context)
    func newer() -> ManagedObjectModel {
      let model = model([("street", nil), ("country", "")])
      let home = model.entitiesByName["P"]?.ownProperties.last as? CompositeAttributeDescription
      home?.elements.last?.defaultValue = nil
      return model
    }
    let second = try open(newer())
    #expect(try self.homes(second) == [nil])
    try close(second)
    let back = try PersistentStoreCoordinator.migrateStore(at: folder.store, to: model([("street", nil)]))
    #expect(back?.changes == ["P.home.country is removed, with its values"])
    let third = try open(model([("street", nil)]))
    let found = try #require(try third.fetch(FetchRequest<ManagedObject>(entityName: "P")).first)
    found.setValue(["street": "A"], forKey: "home")
    try third.save()
    try close(third)
    let error = heartwoodError {
      try PersistentStoreCoordinator.migrateStore(at: folder.store, to: newer())
    }
    #expect(error?.code == .migration && error?.message.contains("P.home.country") == true)
  }

  // MIG-07, MOD-49
  @Test func `the changes of a composite attribute are said once, not for each of its elements`() throws {
    let former = model([("street", nil), ("zip", nil)])
    func differences(_ newer: ManagedObjectModel) throws -> [String] {
      try MappingModel.differences(from: former, to: newer)
    }
    let renamed = model(name: "address", renamed: "home", [("street", nil), ("zip", nil)])
    #expect(try differences(renamed) == ["P.address is renamed from home"])
    #expect(
      try differences(model(name: "address", [("street", nil)])) == [
        "P.address is new, and empty in objects that exist", "P.home is removed, with its values",
      ])
    #expect(
      try differences(model(isOptional: false, name: "address", [("street", "")])) == [
        "P.address is new, with the defaults of its elements in objects that exist",
        "P.home is removed, with its values",
      ])
    #expect(
      try differences(model(isOptional: false, [("street", nil), ("zip", nil)])) == [
        "P.home becomes mandatory, with the defaults of its elements where there is no value"
      ])
    let element = model([("road", nil), ("zip", nil)])
    let home = element.entitiesByName["P"]?.ownProperties.last as? CompositeAttributeDescription
    home?.elements.first?.renamingIdentifier = "street"
    #expect(try differences(element) == ["P.home.road is renamed from street"])
  }

  // MIG-04, MOD-49
  @Test func `elements that exchange their names without another version hash are refused`() throws {
    func model(_ first: String?, _ second: String?) -> ManagedObjectModel {
      let elements = ["a", "b"].map { AttributeDescription(name: $0, type: .string) }
      (elements[0].renamingIdentifier, elements[1].renamingIdentifier) = (first, second)
      let composite = CompositeAttributeDescription()
      composite.name = "pair"
      composite.elements = elements
      return ManagedObjectModel(entities: [EntityDescription(name: "P", properties: [composite])])
    }
    func open(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
      let coordinator = try PersistentStoreCoordinator(checking: model)
      try coordinator.addPersistentStore(with: PersistentStoreDescription(url: folder.store))
      return ManagedObjectContext(.privateQueue, coordinator: coordinator)
    }
    let context = try open(model(nil, nil))
    let entity = try #require(context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["P"])
    ManagedObject(entity: entity, insertInto: context).setValue(["a": "1", "b": "2"], forKey: "pair")
    try context.save()
    try context.persistentStoreCoordinator?.close()
    let error = heartwoodError { _ = try open(model("b", "a")) }
    #expect(error?.code == .inferredMappingModel)
    #expect(error?.message.contains("versionHashModifier") == true, "\(String(describing: error))")
  }
}
