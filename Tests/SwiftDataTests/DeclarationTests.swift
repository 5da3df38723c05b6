import Foundation
import SwiftData
import Testing

struct DeclarationTests {
  /// Saves a model and reads it with another context.
  private func reread<Model: PersistentModel>(_ model: Model) throws -> Model {
    let context = try Library.context()
    context.insert(model)
    try context.save()
    return try #require(try ModelContext(context.container).fetch(FetchDescriptor<Model>()).first)
  }

  // SWD-01
  @Test func `properties of a condition of the compiler are stored where it holds`() throws {
    let context = try Library.context(of: Conditional.self)
    let model = Conditional()
    context.insert(model)
    #if DEBUG
      model.debugNote = "changed"
      let name = "debugNote"
    #else
      model.releaseNote = "changed"
      let name = "releaseNote"
    #endif
    try context.save()
    #expect(Conditional.schemaMetadata.map(\.name) == [name, "always"])
    let read = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Conditional>()).first)
    #if DEBUG
      #expect(read.debugNote == "changed")
    #else
      #expect(read.releaseNote == "changed")
    #endif
  }

  // SWD-01
  @Test func `values of all plain types are stored exactly`() throws {
    let model = Plain()
    model.bool = true
    model.int = .min
    model.int16 = .max
    model.int32 = .min
    model.int64 = .max
    model.float = 0.1
    model.double = .leastNonzeroMagnitude
    model.string = "ä\u{0}🌲"
    model.decimal = Decimal(string: "123456789012345678901234567890.12345678")!
    model.date = Date(timeIntervalSinceReferenceDate: 0.1)
    model.data = Data([0, 255])
    let found = try reread(model)
    #expect(
      found.bool && found.int == .min && found.int16 == .max && found.int32 == .min && found.int64 == .max)
    #expect(found.float == 0.1 && found.double == .leastNonzeroMagnitude && found.string == "ä\u{0}🌲")
    #expect(found.decimal == model.decimal && found.date == model.date && found.data == Data([0, 255]))
    #expect(found.uuid == model.uuid && found.url == URL(string: "https://example.org"))
  }

  // SWD-01
  @Test func `optional values are nil until they are set, and again`() throws {
    let model = Optionals()
    #expect(model.bool == nil && model.url == nil && model.mood == nil && model.list == nil)
    let context = try Library.context()
    context.insert(model)
    try context.save()
    let found = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Optionals>()).first)
    #expect(
      found.bool == nil && found.int == nil && found.date == nil && found.mood == nil && found.size == nil)
    found.mood = .bad
    found.size = .large
    found.list = [3, 1]
    found.default = "d"
    try found.modelContext?.save()
    let again = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Optionals>()).first)
    #expect(again.mood == .bad && again.size == .large && again.list == [3, 1] && again.default == "d")
    again.mood = nil
    again.list = nil
    try again.modelContext?.save()
    let last = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Optionals>()).first)
    #expect(last.mood == nil && last.list == nil && last.size == .large)
  }

  // SWD-02
  @Test func `enumerations, structures and lists are stored`() throws {
    let model = Values()
    model.mood = .bad
    model.size = .large
    model.weather = .storm(name: "Ciarán", force: 11)
    model.point = Point(x: 1.5, y: -2)
    model.address = Address(street: "Main", city: "Bern", zip: 3000)
    model.address?.place = Point(x: 7, y: 8)
    model.renamed = Renamed(first: 3, second: "three")
    model.tags = ["b", "a"]
    model.numbers = [3, 1, 2]
    model.table = ["one": 1]
    model.nested = [[1, 2], []]
    model.moods = [.good, .bad]
    model.points = [Point(x: 9, y: 9)]
    let found = try reread(model)
    #expect(found.mood == .bad && found.size == .large && found.weather == .storm(name: "Ciarán", force: 11))
    #expect(found.point == Point(x: 1.5, y: -2))
    #expect(
      found.address?.street == "Main" && found.address?.zip == 3000
        && found.address?.place == Point(x: 7, y: 8))
    #expect(found.renamed == Renamed(first: 3, second: "three"))
    #expect(found.tags == ["b", "a"] && found.numbers == [1, 2, 3] && found.table == ["one": 1])
    #expect(
      found.nested == [[1, 2], []] && found.moods == [.good, .bad] && found.points == [Point(x: 9, y: 9)])
    #expect(found.opaque == Point(x: 1, y: 2))
  }

  // SWD-26
  @Test func `changes inside of values are changes of the model`() throws {
    let found = try reread(Values())
    found.point.x = 4
    found.tags.append("new")
    found.address = Address(city: "Bern")
    found.address?.city += "e"
    #expect(found.hasChanges)
    try found.modelContext?.save()
    let container = try #require(found.modelContext?.container)
    let again = try #require(try ModelContext(container).fetch(FetchDescriptor<Values>()).first)
    #expect(again.point.x == 4 && again.tags == ["new"] && again.address?.city == "Berne")
  }

  // SWD-01, SWD-06
  @Test func `properties with inferred types, defaults and access are stored, others are not`() throws {
    let model = Inferred(secret: 9)
    #expect(model.count == 3 && model.text == "ab" && model.hidden == "hidden" && model.readSecret == 9)
    model.change("shown")
    model.settable = 5
    model.cache = [1: "one"]
    model.inner = Inferred.Inner(value: 6)
    model.innerMood = .wild
    let found = try reread(model)
    #expect(found.count == 10 && found.hidden == "shown" && found.readSecret == 9 && found.id == model.id)
    #expect(found.created == model.created && found.inner?.value == 6 && found.innerMood == .wild)
    #expect(found.cache.isEmpty && found.observer == nil && found.constant == 5 && found.late == "late")
    #expect(Inferred(text: "x").text == "x" && found.computed == "10 ab")
  }

  // SWD-01
  @Test func `a class in a namespace has the entity of its name`() throws {
    let found = try reread(Space.Deep.Nested(name: "n"))
    #expect(found.name == "n" && found.persistentModelID.entityName == "Nested")
  }

  // SWD-09
  @Test func `subclasses have the properties of their superclasses`() throws {
    let car = SportsCar(name: "Fast")
    #expect(car.describe() == "Fast with 4 wheels and 2 doors")
    car.wheels = 3
    car.topSpeed = 320
    let found = try reread(car)
    #expect(found.name == "Fast" && found.wheels == 3 && found.doors == 2 && found.topSpeed == 320)
    let container = try #require(found.modelContext?.container)
    let context = ModelContext(container)
    context.insert(Vehicle(name: "Bike"))
    context.insert(Car(name: "Family", doors: 5))
    try context.save()
    let vehicles = try context.fetch(FetchDescriptor<Vehicle>(sortBy: [SortDescriptor(\.name)]))
    #expect(vehicles.map(\.name) == ["Bike", "Family", "Fast"])
    #expect(vehicles.map { "\(type(of: $0))" } == ["Vehicle", "Car", "SportsCar"])
    let fast = FetchDescriptor<Car>(
      predicate: #Predicate { $0.wheels == 3 && $0.doors == 2 }, sortBy: [SortDescriptor(\.name)])
    #expect(try context.fetch(fast).map(\.name) == ["Fast"])
    let sports = #Predicate<Vehicle> { vehicle in
      if let car = vehicle as? SportsCar { return car.topSpeed > 310 } else { return false }
    }
    #expect(try context.fetch(FetchDescriptor(predicate: sports)).map(\.name) == ["Fast"])
  }

  // SWD-02
  @Test func `values of transformers, ephemeral ones and external data`() throws {
    ColourTransformer.register()
    let model = Palette()
    model.colour = Colour(red: 0.25)
    model.isSelected = true
    model.picture = Data(repeating: 1, count: 200_000)
    let context = try Library.context()
    context.insert(model)
    try context.save()
    #expect(model.isSelected)
    let found = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Palette>()).first)
    #expect(found.colour?.red == 0.25 && !found.isSelected && found.picture?.count == 200_000)
  }

  // SWD-23
  @Test func `a model may name the key paths of encoded predicates`() {
    #expect(Palette.predicateCodableKeyPaths == ["Palette.isSelected": \Palette.isSelected])
    #expect(Swatch.predicateCodableKeyPaths.map(\.key) == ["Swatch.name"])
  }
}

private struct Swatch: PredicateCodableKeyPathProviding {
  var name = ""
  static var predicateCodableKeyPaths: [String: any PartialKeyPath<Swatch> & Sendable] {
    ["Swatch.name": \.name]
  }
}

// As Foundation had it first.
extension Palette: PredicateCodableKeyPathProviding {
  static var predicateCodableKeyPaths: [String: PartialKeyPath<Palette>] {
    ["Palette.isSelected": \Palette.isSelected]
  }
}
