import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Batch updates` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try batchContainer()
    context = container.newBackgroundContext()
    try context.insertBatch(Shop.self, [["code": "A", "rank": 3], ["code": "B", "rank": 5]])
    try context.insertBatch(
      Ware.self,
      (1...40).map { number in
        [
          "number": number, "price": Double(number), "exact": Decimal(number), "stock": number,
          "shop": number % 2 == 0 ? "A" : "B",
        ]
      })
    try context.insertBatch(Novel.self, [["number": 41, "price": 41, "pages": 100]])
  }

  private func update(_ predicate: (any FetchPredicate)? = nil, _ values: [String: Any]) throws -> Int {
    let request = BatchUpdateRequest(entityName: "Ware")
    request.predicate = predicate
    request.propertiesToUpdate = values
    request.resultType = .updatedObjectsCountResultType
    defer { context.refreshAllObjects() }
    return try #require(try context.execute(request).result as? Int)
  }

  // BAT-06
  @Test func `constants are set where the predicate holds, by name or key path`() throws {
    #expect(
      try update(FormatPredicate("number <= 10"), ["name": "cheap", "made": NSNull(), "price": 1]) == 10)
    #expect(try context.count(for: FetchRequest<Ware>(where: { $0.name == "cheap" && $0.price == 1 })) == 10)
    let request = BatchUpdateRequest(Ware.self)
    request.predicate = Where<Ware> { $0.shop.code == "A" && $0.number > 10 }
    request.set(\Ware.name, to: "A's")
    request.set(\Ware.exact, to: nil)
    request.resultType = .objectIDs
    let result = try context.execute(request)
    #expect(result.objectIDs.count == 15 && result.count == 15)
    #expect(
      Set(try context.fetch(Ware.self, where: { $0.name == "A's" }).map(\.objectID)) == Set(result.objectIDs))
    #expect(try context.ware(12)?.exact == nil)
    try expectSound(container)
  }

  // BAT-06
  @Test func `expressions are computed from the values before the request`() throws {
    let request = BatchUpdateRequest(Ware.self)
    request.set(\Ware.price) { $0.price * 2 + 1 }
    request.set(\Ware.exact) { $0.exact * Decimal(string: "1.1")! }
    request.propertiesToUpdate = ["stock": try FormatExpression("price * %@", 1.5)]
    try context.execute(request)
    context.refreshAllObjects()
    let ware = try #require(try context.ware(3))
    #expect(ware.price == 7 && ware.exact == Decimal(string: "3.3") && ware.stock == 4)
    #expect(try context.ware(41)?.exact == nil)
    _ = try update(FormatPredicate("number == 3"), ["exact": try FormatExpression("exact * 1.1")])
    #expect(ware.exact == Decimal(string: "3.63"))
  }

  @Test func `an expression may read related objects, as they were`() throws {
    try context.insertBatch(
      Ware.self,
      [
        ["number": 100, "price": 1, "whole": 101], ["number": 101, "price": 2, "whole": 102],
        ["number": 102, "price": 3],
      ])
    let chain = try FormatPredicate("number >= 100")
    #expect(try update(chain, ["price": try FormatExpression("whole.price + 10")]) == 3)
    #expect(
      try context.fetch(Ware.self, where: { $0.number >= 100 }, sort: [.ascending(\.number)]).map(\.price)
        == [12, 13, 1])
    _ = try update(FormatPredicate("number < 100"), ["stock": try FormatExpression("shop.rank * 2")])
    #expect(try context.ware(2)?.stock == 6)
    #expect(try context.ware(1)?.stock == 10)
  }

  @Test func `an expression without a result, or one that does not fit, fails and changes nothing`() throws {
    for text in [
      "stock / 0", "stock * 1000", "number * 9000000000000000000", "price / 0", "price * 1e308 * 10",
    ] {
      let attribute = text.hasPrefix("price") ? "price" : text.hasPrefix("number") ? "number" : "stock"
      let error = heartwoodError { _ = try update(nil, [attribute: try FormatExpression(text)]) }
      #expect(error?.property == attribute, "\(text)")
    }
    #expect(heartwoodError { _ = try update(nil, ["name": try FormatExpression("price + 1")]) } != nil)
    #expect(heartwoodError { _ = try update(nil, ["nothing": 1]) }?.property == "nothing")
    #expect(heartwoodError { _ = try update(nil, ["tags": []]) }?.property == "tags")
    #expect(heartwoodError { _ = try update(nil, ["stock": "1"]) }?.property == "stock")
    #expect(try context.ware(7)?.stock == 7 && context.ware(7)?.price == 7)
    #expect(try container.history().count == 3)
  }

  @Test func `a rehearsal counts and refuses as the update does, and changes nothing`() throws {
    let request = BatchUpdateRequest(entityName: "Ware")
    request.propertiesToUpdate = ["stock": try FormatExpression("stock + 1")]
    request.predicate = try FormatPredicate("number <= 10")
    let before = try container.history().count
    #expect(try context.rehearse(request) == 10)
    request.propertiesToUpdate = ["number": 3]
    #expect(heartwoodError { _ = try context.rehearse(request) }?.code == .managedObjectConstraintMerge)
    request.propertiesToUpdate = ["stock": 2000]
    request.validates = true
    #expect(heartwoodError { _ = try context.rehearse(request) }?.code == .validationNumberTooLarge)
    #expect(try context.ware(7)?.stock == 7 && container.history().count == before)
    try expectSound(container)
  }

  @Test func `a fraction is truncated or refused`() throws {
    let request = BatchUpdateRequest(entityName: "Ware")
    request.propertiesToUpdate = ["stock": try FormatExpression("price * 1.5")]
    request.truncatesFractions = false
    let error = heartwoodError { _ = try context.execute(request) }
    #expect(error?.property == "stock" && error?.message.contains("1.5") == true)
    request.truncatesFractions = true
    _ = try context.execute(request)
    #expect(try context.ware(3)?.stock == 4)
  }

  // BAT-06
  @Test func `subentities are included unless they are left out`() throws {
    let request = BatchUpdateRequest(entityName: "Ware")
    request.propertiesToUpdate = ["name": "x"]
    request.includesSubentities = false
    request.resultType = .count
    #expect(try context.execute(request).count == 40)
    #expect(try context.ware(41)?.name == "nameless")
    request.includesSubentities = true
    #expect(try context.execute(request).count == 41)
    context.refreshAllObjects()
    #expect(try context.ware(41)?.name == "x")
  }

  @Test func `unique values are checked at the end, so that a range of them can move`() throws {
    #expect(try update(nil, ["number": try FormatExpression("number + 1")]) == 41)
    #expect(try context.ware(1) == nil && context.ware(42) != nil)
    let error = heartwoodError { _ = try update(FormatPredicate("number < 5"), ["number": 3]) }
    #expect(error?.code == .managedObjectConstraintMerge)
    #expect(try context.count(for: FetchRequest<Ware>(where: { $0.number < 5 })) == 3)
    try expectSound(container)
  }

  @Test func `a to-one relationship is set on both sides`() throws {
    #expect(try update(FormatPredicate("number <= 4"), ["shop": "B", "shelf": "A"]) == 4)
    #expect(try context.shop("A")?.wares.count == 18)
    #expect(try context.shop("B")?.wares.count == 22)
    #expect(try context.shop("A")?.shelf.map(\.number) == [1, 2, 3, 4])
    #expect(try update(FormatPredicate("number == 2"), ["shop": NSNull(), "shelf": NSNull()]) == 1)
    #expect(try context.shop("A")?.shelf.map(\.number) == [1, 3, 4])
    try expectSound(container)
  }

  @Test func `a request that is to be validated keeps the rules of the model`() throws {
    let request = BatchUpdateRequest(entityName: "Ware")
    request.propertiesToUpdate = ["stock": 2000]
    request.validates = true
    #expect(heartwoodError { try context.execute(request) }?.code == .validationNumberTooLarge)
    request.validates = false
    try context.execute(request)
    #expect(try context.count(for: FetchRequest<Ware>(where: { $0.stock == 2000 })) == 41)
  }

  @Test func `objects that have the values already are counted and not written`() throws {
    let before = try container.history().count
    #expect(try update(FormatPredicate("number == 5"), ["stock": 5]) == 1)
    #expect(try container.history().count == before)
  }
}
