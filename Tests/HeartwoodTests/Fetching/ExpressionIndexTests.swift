import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

/// Comparisons of computed values, which have the same result with an index of the expression and without.
@Suite struct `Indexes of expressions` {
  // MOD-26
  @Test(arguments: [true, false], [1, 2] as [UInt64])
  func `computed values have the same objects with and without an index`(isOnDisk: Bool, seed: UInt64) throws
  {
    var goods = try GoodsStores(seed: seed, isOnDisk: isOnDisk)
    var (foundCount, servedCount) = (0, 0)
    for round in 1...14 {
      for _ in 0..<15 { try goods.change() }
      if round % 2 == 0 { try goods.save() }
      if round % 5 == 0 { try goods.changeBatch() }
      if round % 7 == 0 { try goods.reopen() }
      for _ in 0..<12 {
        let (text, arguments, sort) = try goods.query()
        let plain = try goods.numbers(text, arguments, sort, in: goods.contexts[1])
        #expect(try goods.numbers(text, arguments, sort, in: goods.contexts[0]) == plain, "\(text)")
        foundCount += plain.count
        let plan = try goods.plan(text, arguments, sort)
        if plan.contains("index: Good.") { servedCount += 1 }
        for context in goods.contexts {
          #expect(try context.count(for: goods.request(text, arguments, sort)) == plain.count, "\(text)")
        }
      }
    }
    #expect(foundCount > 500 && servedCount > 60, "\(foundCount) found, \(servedCount) plans by an index")
    #expect(try goods.verify() == [])
  }

  @Test func `an added index of an expression is built at opening, and dropped without it`() throws {
    var goods = try GoodsStores(seed: 3, isOnDisk: true)
    try goods.reopen(isIndexed: false)
    for _ in 0..<200 { try goods.change() }
    try goods.save()
    for isIndexed in [true, false, true] {
      try goods.reopen(isIndexed: isIndexed)
      #expect(try goods.verify() == [])
      #expect(try goods.plan("lowercase:(name) == 'a'", [], []).contains("index: Good.") == isIndexed)
      for _ in 0..<20 {
        let (text, arguments, sort) = try goods.query()
        let plain = try goods.numbers(text, arguments, sort, in: goods.contexts[1])
        #expect(try goods.numbers(text, arguments, sort, in: goods.contexts[0]) == plain, "\(text)")
      }
    }
  }

  @Test func `equalities, prefixes, ranges, lists and orders of the expression are read from its index`()
    throws
  {
    let context = try PersistentContainer(
      name: "Words", types: [Word.self], at: URL(fileURLWithPath: "/dev/null")
    ).newBackgroundContext()
    for number in 0..<2000 {
      let word = Word(context: context)
      word.text = "\(number % 2 == 0 ? "W" : "w")ord\(number)"
      (word.width, word.height) = (Int64(number % 40), Int64(number / 40))
    }
    try context.save()
    func steps(_ format: String, sort: [any FetchSort] = [], limit: Int = 0) throws -> [String] {
      let request = FetchRequest<Word>()
      request.predicate = try FormatPredicate(format)
      request.sortDescriptors = sort
      request.fetchLimit = limit
      return try context.plan(for: request).steps
    }
    #expect(
      try steps("lowercase(text) == 'word7'")[0] == "index: Word.lowercase:(text) == \"word7\"")
    #expect(
      try steps("'word7' == lowercase(text)")[0] == "index: Word.lowercase:(text) == \"word7\"")
    #expect(
      try steps("lowercase:(text) BEGINSWITH 'word77'")[0]
        == "index: Word.lowercase:(text) BEGINSWITH \"word77\"")
    #expect(
      try steps("lowercase:(text) IN {'word1', 'word2'}")[0] == "index: Word.lowercase:(text) IN 2 values")
    #expect(
      try steps("TRUEPREDICATE", sort: [try ComputedSort("lowercase(text)", ascending: false)], limit: 3)[0]
        == "index: Word.lowercase:(text), backwards")
    #expect(try steps("lowercase:(text) ==[c] 'word7'")[0] == "scan: Word")
    #expect(try steps("uppercase:(text) == 'WORD7'")[0] == "scan: Word")
    let area = try steps("width * height == 1000")
    #expect(area[0].hasPrefix("index: Word.width * height >= "), "\(area)")
    #expect(area.contains { $0.hasPrefix("filter: ") }, "\(area)")
    #expect(try context.count(Word.self, where: { $0.text.lowercased() == "word7" }) == 1)
    #expect(
      try context.plan(for: Word.self, where: { $0.text.lowercased() == "word7" }).steps[0]
        == "index: Word.lowercase:(text) == \"word7\"")
  }

  @Test func `what an index cannot have is refused with the index and the reason`() throws {
    let wrong = [
      ("owner.name", "no attribute"),
      ("lowercase:(owner.name)", "Good.owner.name is no attribute of the object itself"),
      ("now() - made", "other values at each time"), ("lowercase:(nothing)", "no property 'nothing'"),
      ("owners.@count + 1", "attributes of the object, constants"), ("1 + 2", "reads no attribute"),
      ("lowercase:(", "column"), ("CAST(price, 'NSData')", "an index is of texts, numbers or dates"),
    ]
    for (text, reason) in wrong {
      let model = try GoodsStores.model(isIndexed: false)
      let good = try #require(model.entitiesByName["Good"])
      good.indexes = [
        FetchIndexDescription(
          name: "wrong", elements: [FetchIndexElementDescription(text, good.propertiesByName)])
      ]
      let error = #expect(throws: HeartwoodError.self, "\(text)") {
        try PersistentStoreCoordinator(checking: model)
      }
      let message = error?.message ?? ""
      #expect(message.contains("the index wrong of Good"), "\(message)")
      #expect(text == "owner.name" || message.contains(reason), "\(message)")
    }
  }

  @Test func `indexes of expressions are in files of Xcode and in the model of the store`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "Goods.xcdatamodel")
    let model = try GoodsStores.model(isIndexed: true)
    try model.writeXcodeModel(to: url)
    let text = try String(contentsOf: url.appending(path: "contents"), encoding: .utf8)
    #expect(
      text.contains(
        "<fetchIndexElement expression=\"lowercase:(name)\" expressionType=\"String\" order=\"ascending\" type=\"Binary\"/>"
      ), "\(text)")
    let store = folder.url.appending(path: "goods")
    let container = try GoodsStores.container(store, model)
    try container.persistentStoreCoordinator.close()
    let read = try ManagedObjectModel(contentsOf: url)
    let stored = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: store)
    for model in [read, stored] {
      let index = try #require(
        model.entitiesByName["Good"]?.indexes.first { $0.name == "lowercase" })
      #expect(index.elements.map(\.expression) == ["lowercase:(name)"])
      #expect(index.elements[0].property.name == "lowercase:(name)")
    }
  }
}

private final class Word: ManagedObject {
  @Attribute var text = ""
  @Attribute var width: Int64 = 0
  @Attribute var height: Int64 = 0
  override class var compoundIndexes: [[String]] { [["lowercase:(text)"], ["width * height"]] }
}

/// The same goods in a store with indexes of expressions and in one without.
private struct GoodsStores {
  private(set) var containers: [PersistentContainer] = []
  private(set) var contexts: [ManagedObjectContext] = []
  private let urls: [URL]
  private let folder: TemporaryFolder?
  private var random: SplitMix64
  private var alive: [Int64] = []
  private var next: Int64 = 0

  init(seed: UInt64, isOnDisk: Bool) throws {
    random = SplitMix64(seed: seed)
    folder = isOnDisk ? try TemporaryFolder() : nil
    let memory = URL(fileURLWithPath: "/dev/null")
    urls = [folder?.url.appending(path: "goods") ?? memory, memory]
    containers = try zip(urls, [true, false]).map { try Self.container($0, try Self.model(isIndexed: $1)) }
    contexts = containers.map { $0.newBackgroundContext() }
  }

  static func model(isIndexed: Bool) throws -> ManagedObjectModel {
    func attribute(_ name: String, _ type: AttributeType) -> AttributeDescription {
      AttributeDescription(name: name, type: type, isOptional: true)
    }
    let kind = attribute("kind", .string)
    let good = EntityDescription(
      name: "Good",
      properties: [
        kind, attribute("name", .string), attribute("size", .integer64), attribute("price", .decimal),
        attribute("weight", .double), attribute("made", .date), attribute("number", .integer64),
      ])
    let owner = EntityDescription(name: "Owner", properties: [attribute("name", .string)])
    let owners = RelationshipDescription(name: "owners", destination: owner, isToMany: true)
    let goods = RelationshipDescription(name: "goods", destination: good, isToMany: true)
    (owners.inverseRelationship, goods.inverseRelationship) = (goods, owners)
    let one = RelationshipDescription(name: "owner", destination: owner, isToMany: false)
    good.properties += [owners, one]
    owner.properties += [goods]
    good.subentities = [EntityDescription(name: "Toy")]
    if isIndexed {
      func element(
        _ format: String, _ type: AttributeType = .undefined
      ) throws -> FetchIndexElementDescription {
        FetchIndexElementDescription(
          expression: try ExpressionDescription(name: "", format: format, resultType: type))
      }
      good.indexes = [
        FetchIndexDescription(name: "lowercase", elements: [try element("lowercase:(name)", .string)]),
        FetchIndexDescription(
          name: "kinds",
          elements: [FetchIndexElementDescription(property: kind), try element("length:(name)")]),
        FetchIndexDescription(name: "value", elements: [try element("price * size")]),
        FetchIndexDescription(name: "density", elements: [try element("size / weight")]),
        FetchIndexDescription(name: "later", elements: [try element("made + size")]),
      ]
    }
    return ManagedObjectModel(entities: [good, owner] + good.subentities)
  }

  static func container(_ url: URL, _ model: ManagedObjectModel) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Goods", managedObjectModel: model)
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
    try container.loadPersistentStores()
    return container
  }

  mutating func reopen(isIndexed: Bool = true) throws {
    guard folder != nil else { return }
    try save()
    try containers[0].persistentStoreCoordinator.close()
    containers[0] = try Self.container(urls[0], try Self.model(isIndexed: isIndexed))
    contexts[0] = containers[0].newBackgroundContext()
  }

  func save() throws { for context in contexts { try context.save() } }

  func verify() throws -> [String] {
    try containers.flatMap { try $0.persistentStoreCoordinator.verify().findings }
  }

  private mutating func one<Element>(_ values: [Element]) -> Element {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  private mutating func name() -> String? {
    let letters = ["a", "A", "b", "B", "é", "E\u{301}", "ß", "İ", "\u{0}", "zz"]
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return nil
    // Longer than what an index has of a value.
    case 1: return String(repeating: one(["xy", "XY"]), count: 120) + one(letters)
    default: return (0..<Int.random(in: 0...2, using: &random)).map { _ in one(letters) }.joined()
    }
  }

  private mutating func size() -> Int64? {
    one([nil, .min, .max, .max - 1, 0, -1, 1, 2, 3, 4, 1 << 53, 1 << 53 + 1])
  }

  private mutating func double() -> Double? {
    one([nil, .nan, .infinity, 0, -0.0, 1, 2, 0.1, 0.3, -3, 1e300])
  }

  // MARK: Changes

  mutating func change() throws {
    let values: [String: Any?] = [
      "kind": one(["x", "y", nil] as [String?]), "name": name(), "size": size(), "weight": double(),
      "price": one([nil, Decimal(string: "0.1"), 3, Decimal(string: "12345678901234567890.12")]),
      "made": one([nil, 0, 1, 2, 1e9] as [Double?]).map { Date(timeIntervalSinceReferenceDate: $0) },
    ]
    let isToy = one([true, false])
    let kind = Int.random(in: 0..<10, using: &random)
    if kind > 5, !alive.isEmpty {
      let number = one(alive)
      if kind == 9 { alive.removeAll { $0 == number } }
      for context in contexts {
        let request = FetchRequest<ManagedObject>(entityName: "Good")
        request.predicate = try FormatPredicate("number == %@", number)
        guard let good = try context.fetch(request).first else { continue }
        if kind == 9 {
          context.delete(good)
        } else {
          for (key, value) in values { good.setValue(value, forKey: key) }
        }
      }
      return
    }
    for context in contexts {
      let good = try ManagedObject(entity: context.entity(isToy ? "Toy" : "Good"), insertInto: context)
      good.setValue(next, forKey: "number")
      for (key, value) in values { good.setValue(value, forKey: key) }
    }
    alive.append(next)
    next += 1
  }

  mutating func changeBatch() throws {
    try save()
    let name = name()
    for context in contexts {
      let request = BatchUpdateRequest(entityName: "Good")
      request.predicate = try FormatPredicate("modulus(number, 3) == 0")
      request.propertiesToUpdate = ["name": name ?? NSNull()]
      try context.execute(request)
      context.reset()
    }
  }

  // MARK: Questions

  mutating func query() throws -> (text: String, arguments: [(any PredicateArgument)?], sort: [any FetchSort])
  {
    let sign = one(["==", "!=", "<", "<=", ">", ">="])
    let sort: [any FetchSort] = try one([
      [], [], [ComputedSort("lowercase(name)")], [ComputedSort("lowercase(name)", ascending: false)],
      [ComputedSort("made + size")], [ComputedSort("price * size")],
    ])
    switch Int.random(in: 0..<11, using: &random) {
    case 0, 1: return ("lowercase(name) \(sign) %@", [name()?.lowercased()], sort)
    case 2: return ("lowercase(name) BEGINSWITH %@", [name()?.lowercased() ?? "a"], sort)
    case 3: return ("lowercase(name) IN {%@, %@}", [name()?.lowercased(), name()?.lowercased()], sort)
    case 4: return ("lowercase(name) BETWEEN {%@, %@}", [name()?.lowercased(), name()?.lowercased()], sort)
    case 5: return ("kind == %@ AND length(name) \(sign) %@", ["x", one([0, 1, 2, 121])], sort)
    case 6: return ("price * size \(sign) %@", [double()], sort)
    case 7: return ("price * size \(sign) %@", [size()], sort)
    case 8: return ("size / weight \(sign) %@ OR lowercase(name) == 'a'", [double()], sort)
    case 9: return ("%@ \(sign) price * size AND kind == nil", [Decimal(string: "0.3")], sort)
    default:
      return (
        "made + size \(sign) %@", [Date(timeIntervalSinceReferenceDate: Double(one([0, 1, 2, 3])))], sort
      )
    }
  }

  func request(
    _ text: String, _ arguments: [(any PredicateArgument)?], _ sort: [any FetchSort]
  ) throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: "Good")
    request.predicate = try FormatPredicate(text, argumentArray: arguments)
    request.sortDescriptors = sort + [NamedSort("number")]
    return request
  }

  func numbers(
    _ text: String, _ arguments: [(any PredicateArgument)?], _ sort: [any FetchSort],
    in context: ManagedObjectContext
  ) throws -> [Int64] {
    try context.fetch(request(text, arguments, sort)).compactMap { $0.value(forKey: "number") as? Int64 }
  }

  func plan(
    _ text: String, _ arguments: [(any PredicateArgument)?], _ sort: [any FetchSort]
  ) throws -> String {
    try contexts[0].plan(for: request(text, arguments, sort)).description
  }
}
