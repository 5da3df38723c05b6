import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

/// Conditions on two numbers, which have the same result with a range index and without.
@Suite struct `Range indexes` {
  // MOD-27
  @Test(arguments: [true, false], [1, 2] as [UInt64])
  func `boxes have the same places with and without an index, whatever the numbers are`(
    isOnDisk: Bool, seed: UInt64
  ) throws {
    var places = try PlaceStores(seed: seed, isOnDisk: isOnDisk)
    var foundCount = 0
    for round in 1...16 {
      for _ in 0..<15 { try places.change() }
      if round % 2 == 0 { try places.save() }
      if round % 5 == 0 { try places.changeBatch() }
      if round % 8 == 0 { try places.reopen() }
      for _ in 0..<12 {
        let query = places.query()
        let expected = places.expected(query)
        foundCount += expected.count
        for context in places.contexts {
          let request = try places.request(query)
          let found = try context.fetch(request).compactMap { $0.value(forKey: "number") as? Int64 }
          #expect(found == expected, "\(query.text)")
          #expect(try context.count(for: request) == expected.count, "\(query.text)")
        }
      }
    }
    #expect(foundCount > 500)
    #expect(try places.verify() == [])
  }

  @Test func `an index that a model adds is built when the store is opened, and dropped without it`() throws {
    var places = try PlaceStores(seed: 3, isOnDisk: true)
    try places.reopen(isIndexed: false)
    for _ in 0..<200 { try places.change() }
    try places.save()
    for isIndexed in [true, false, true] {
      try places.reopen(isIndexed: isIndexed)
      #expect(try places.verify() == [])
      for _ in 0..<20 {
        let query = places.query()
        let found = try places.contexts[0].fetch(places.request(query))
        #expect(
          found.compactMap { $0.value(forKey: "number") as? Int64 } == places.expected(query), "\(query.text)"
        )
      }
    }
  }

  private func fill(_ context: ManagedObjectContext) throws {
    for number in 0..<4000 {
      let spot = Spot(context: context)
      (spot.x, spot.y) = (Double(number % 63) - 30, Int64(number / 63))
      spot.label = number % 2 == 0 ? "even" : "odd"
    }
    try context.save()
  }

  @Test func `a small box is read by parts of the index, and a large one by a scan`() throws {
    let context = try PersistentContainer(
      name: "Spots", types: [Spot.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    try fill(context)
    let plan = try context.plan(for: Spot.self, where: { 1.0...3 ~= $0.x && $0.y >= 4 && $0.y < 7 })
    #expect(plan.steps.count == 1)
    #expect(
      plan.steps[0].wholeMatch(
        of: /ranges: Spot\.x >= 1\.0 AND x <= 3\.0 AND y >= 4 AND y <= 6 in \d+ parts of the index/) != nil,
      "\(plan)")
    #expect(try context.count(Spot.self, where: { 1.0...3 ~= $0.x && $0.y >= 4 && $0.y < 7 }) == 9)
    let analyzed = try context.analyze(
      FetchRequest<Spot>(where: { 1.0...3 ~= $0.x && $0.y >= 4 && $0.y < 7 && $0.label == "even" }))
    #expect((analyzed.details[0].rows ?? .max) == 9, "\(analyzed)")
    #expect(analyzed.steps.contains { $0.hasPrefix("filter: ") })
    #expect(try context.plan(for: Spot.self, where: { $0.x > -100 && $0.y > -100 }).steps[0] == "scan: Spot")
    #expect(try context.plan(for: Spot.self, where: { $0.x > 3 }).steps[0] == "scan: Spot")
    let nothing = try context.plan(for: Spot.self, where: { $0.x > 3 && $0.x < 3 && $0.y == 1 })
    #expect(nothing.steps[0] == "ranges: Spot.never in 0 parts of the index")
    #expect(try context.count(Spot.self, where: { $0.x > 3 && $0.x < 3 && $0.y == 1 }) == 0)
  }

  @Test func `a range index is combined with others, and gives no order`() throws {
    let context = try PersistentContainer(
      name: "Spots", types: [Spot.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    try fill(context)
    let request = FetchRequest<Spot>(
      where: { $0.x >= 1 && $0.x <= 3 && $0.y == 5 || $0.x == 7 && $0.y.between(2, 4) },
      sort: [.descending(\.x), .ascending(\.y)])
    let plan = try context.plan(for: request)
    #expect(plan.steps[0].hasPrefix("union: (ranges: "), "\(plan)")
    #expect(
      try context.fetch(request).map { [Int64($0.x), $0.y] } == [
        [7, 2], [7, 3], [7, 4], [3, 5], [2, 5], [1, 5],
      ])
    let ordered = try context.plan(for: Spot.self, where: { $0.x > 1 && $0.y > 1 }, sort: [.ascending(\.x)])
    #expect(ordered.steps.contains { $0.hasPrefix("sort: ") })
  }

  @Test func `a fetch of a box without an index says which would help`() throws {
    let container = try PersistentContainer(
      name: "Spots", types: [PlainSpot.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    for number in 0..<1000 {
      let spot = PlainSpot(context: context)
      (spot.x, spot.y) = (Double(number), Int64(number))
    }
    try context.save()
    let request = FetchRequest<PlainSpot>(where: { 5...6 ~= $0.x && 4...7 ~= $0.y })
    let plan = try context.analyze(request)
    #expect("\(plan)".contains("an index on the ranges of PlainSpot.(x, y) would spare"))
  }

  @Test func `a range index is of two different numbers or dates`() throws {
    for names in [["x"], ["x", "x"], ["x", "name"], ["x", "y", "f"]] {
      let model = PlaceStores.model(isIndexed: false)
      let place = try #require(model.entitiesByName["Place"])
      place.indexes = [
        FetchIndexDescription(
          name: "ranges",
          elements: names.map {
            FetchIndexElementDescription(property: place.propertiesByName[$0]!, collationType: .rTree)
          })
      ]
      #expect(throws: HeartwoodError.self) { try PersistentStoreCoordinator(checking: model) }
    }
  }
}

private final class PlainSpot: ManagedObject {
  @Attribute var x = 0.0
  @Attribute var y: Int64 = 0
}

private final class Spot: ManagedObject {
  @Attribute var x = 0.0
  @Attribute var y: Int64 = 0
  @Attribute var label = ""
  override class var rangeIndexes: [[String]] { [["x", "y"]] }
}

/// The same places in a store with range indexes and in one without, and as a plain table.
private struct PlaceStores {
  typealias Numbers = (x: Double?, y: Int64?, f: Float?, t: Double?)

  private(set) var containers: [PersistentContainer] = []
  private(set) var contexts: [ManagedObjectContext] = []
  private let urls: [URL]
  private let folder: TemporaryFolder?
  private var random: SplitMix64
  private var table: [Int64: Numbers] = [:]
  private var next: Int64 = 0

  init(seed: UInt64, isOnDisk: Bool) throws {
    random = SplitMix64(seed: seed)
    folder = isOnDisk ? try TemporaryFolder() : nil
    let memory = URL(fileURLWithPath: "/dev/null")
    urls = [folder?.url.appending(path: "places") ?? memory, memory]
    containers = try zip(urls, [true, false]).map { try Self.container($0, isIndexed: $1) }
    contexts = containers.map { $0.newBackgroundContext() }
  }

  static func model(isIndexed: Bool) -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
      AttributeDescription(name: name, type: type, isOptional: true)
    }
    let (x, y) = (attribute("x", .double), attribute("y", .integer64))
    let (f, t) = (attribute("f", .float), attribute("t", .date))
    let place = EntityDescription(
      name: "Place",
      properties: [
        x, y, f, t, attribute("name", .string), AttributeDescription(name: "number", type: .integer64),
      ])
    place.subentities = [EntityDescription(name: "Town")]
    if isIndexed {
      place.indexes = [[x, y], [f, t]].map { pair in
        FetchIndexDescription(
          name: "ranges of \(pair[0].name)",
          elements: pair.map { FetchIndexElementDescription(property: $0, collationType: .rTree) })
      }
    }
    return ManagedObjectModel(entities: [place] + place.subentities)
  }

  private static func container(_ url: URL, isIndexed: Bool) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Places", managedObjectModel: model(isIndexed: isIndexed))
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
    try container.loadPersistentStores()
    return container
  }

  mutating func reopen(isIndexed: Bool = true) throws {
    guard folder != nil else { return }
    try save()
    try containers[0].persistentStoreCoordinator.close()
    containers[0] = try Self.container(urls[0], isIndexed: isIndexed)
    contexts[0] = containers[0].newBackgroundContext()
  }

  func save() throws { for context in contexts { try context.save() } }

  func verify() throws -> [String] {
    try containers.flatMap { try $0.persistentStoreCoordinator.verify().findings }
  }

  // MARK: Numbers

  private mutating func one<Element>(_ values: [Element]) -> Element {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  private mutating func double() -> Double? {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      return one([
        nil, .nan, .infinity, -.infinity, -0.0, 0, .greatestFiniteMagnitude, .leastNonzeroMagnitude, -1e300,
      ])
    case 1: return Double(Int.random(in: -4...4, using: &random))
    default: return Double.random(in: -10...10, using: &random)
    }
  }

  private mutating func integer() -> Int64? {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return one([nil, .min, .max, .min + 1, .max - 1, 0, -1])
    default: return Int64.random(in: -8...8, using: &random)
    }
  }

  // MARK: Changes

  mutating func change() throws {
    let values: Numbers = (x: double(), y: integer(), f: double().map { Float($0) }, t: double())
    let existing = table.keys.sorted()
    switch Int.random(in: 0..<10, using: &random) {
    case 6..<9 where !existing.isEmpty:
      let number = one(existing)
      for context in contexts { if let place = try place(number, context) { set(values, place) } }
      table[number] = values
    case 9 where !existing.isEmpty:
      let number = one(existing)
      for context in contexts { try place(number, context).map(context.delete) }
      table[number] = nil
    default:
      let entity = one(["Place", "Town"])
      for context in contexts {
        let place = try ManagedObject(entity: context.entity(entity), insertInto: context)
        place.setValue(next, forKey: "number")
        set(values, place)
      }
      table[next] = values
      next += 1
    }
  }

  private func set(_ values: Numbers, _ place: ManagedObject) {
    place.setValue(values.x, forKey: "x")
    place.setValue(values.y, forKey: "y")
    place.setValue(values.f, forKey: "f")
    place.setValue(values.t.map { Date(timeIntervalSinceReferenceDate: $0) }, forKey: "t")
  }

  private func place(_ number: Int64, _ context: ManagedObjectContext) throws -> ManagedObject? {
    let request = FetchRequest<ManagedObject>(entityName: "Place")
    request.predicate = try FormatPredicate("number == %@", number)
    return try context.fetch(request).first
  }

  mutating func changeBatch() throws {
    try save()
    let y = integer()
    for context in contexts {
      let request = BatchUpdateRequest(entityName: "Place")
      request.predicate = try FormatPredicate("modulus(number, 3) == 0")
      request.propertiesToUpdate = ["y": y ?? NSNull()]
      try context.execute(request)
      context.reset()
    }
    for number in table.keys where number % 3 == 0 { table[number]?.y = y }
  }

  // MARK: Boxes

  struct Query {
    var text = ""
    var arguments: [(any PredicateArgument)?] = []
    var tests: [(Numbers) -> Bool] = []
  }

  /// How a number of a place is ordered relative to a lower and an upper bound; nil if it has none.
  private typealias Orders = (Numbers) -> (low: Int, high: Int)?

  mutating func query() -> Query {
    var query = Query()
    for name in one([["x", "y"], ["y", "x"], ["f", "t"]]) {
      let (low, high, orders) = bounds(of: name)
      var parts: [String] = []
      func bound(_ sign: String, _ value: any PredicateArgument, _ test: @escaping (Int, Int) -> Bool) {
        parts.append("\(name) \(sign) %@")
        query.arguments.append(value)
        query.tests.append { orders($0).map(test) ?? false }
      }
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bound("==", low) { low, _ in low == 0 }
      case 1: bound(">=", low) { low, _ in low >= 0 }
      case 2: bound("<", low) { low, _ in low < 0 }
      case 3:
        parts.append("\(name) BETWEEN {%@, %@}")
        query.arguments += [low, high]
        query.tests.append { orders($0).map { $0 >= 0 && $1 <= 0 } ?? false }
      case 4, 5:
        bound(">=", low) { low, _ in low >= 0 }
        bound("<=", high) { _, high in high <= 0 }
      default:
        bound(">", low) { low, _ in low > 0 }
        bound("<", high) { _, high in high < 0 }
      }
      query.text += (query.text.isEmpty ? "" : " AND ") + parts.joined(separator: " AND ")
    }
    return query
  }

  private mutating func bounds(
    of name: String
  ) -> (low: any PredicateArgument, high: any PredicateArgument, orders: Orders) {
    guard name != "y" else {
      let (first, second) = (integer() ?? 3, integer() ?? 5)
      let (low, high) = (min(first, second), max(first, second))
      return (
        low, high,
        { $0.y.map { (($0 > low ? 1 : 0) - ($0 < low ? 1 : 0), ($0 > high ? 1 : 0) - ($0 < high ? 1 : 0)) } }
      )
    }
    var (low, high) = (double() ?? 1, double() ?? 2)
    if name == "f" { (low, high) = (Double(Float(low)), Double(Float(high))) }
    if Self.order(low, high) > 0 { swap(&low, &high) }
    let (least, greatest) = (low, high)
    let orders: Orders = { place in
      (name == "x" ? place.x : name == "t" ? place.t : place.f.map { Double($0) }).map {
        (Self.order($0, least), Self.order($0, greatest))
      }
    }
    guard name == "t" else { return (low, high, orders) }
    return (Date(timeIntervalSinceReferenceDate: low), Date(timeIntervalSinceReferenceDate: high), orders)
  }

  /// A total order with NaN at the end.
  private static func order(_ left: Double, _ right: Double) -> Int {
    if left.isNaN || right.isNaN { return (left.isNaN ? 1 : 0) - (right.isNaN ? 1 : 0) }
    return left < right ? -1 : left > right ? 1 : 0
  }

  func request(_ query: Query) throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Place")
    request.predicate = try FormatPredicate(query.text, argumentArray: query.arguments)
    request.sortDescriptors = [NamedSort("number")]
    return request
  }

  func expected(_ query: Query) -> [Int64] {
    table.filter { _, place in query.tests.allSatisfy { $0(place) } }.keys.sorted()
  }
}
