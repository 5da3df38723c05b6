import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

@Suite struct `Random batches` {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `a store in memory matches a plain model`(seed: UInt64) throws {
    let container = try batchContainer()
    var work = BatchWork(seed: seed, container)
    try work.run(150)
  }

  @Test(arguments: [4, 5] as [UInt64], [false, true])
  func `a store on disk matches a plain model over reopening`(seed: UInt64, isBuffered: Bool) throws {
    let folder = try TemporaryFolder()
    let open = {
      let description = PersistentStoreDescription(url: folder.url.appending(path: "shops.heartwood"))
      description.isBuffered = isBuffered
      let container = PersistentContainer(
        name: "Shops", managedObjectModel: try ManagedObjectModel(types: batchTypes))
      try container.persistentStoreCoordinator.addPersistentStore(with: description)
      return container
    }
    var work = BatchWork(seed: seed, try open(), open)
    try work.run(100)
  }
}

/// Wares and shops as plain values that follow the rules of the graph.
private struct PlainShops: Equatable {
  struct Ware: Equatable {
    var price = 1.0
    var stock: Int16 = 0
    var shop: String?
    var whole: Int64?
    var tags: Set<String> = []
  }

  var wares: [Int64: Ware] = [:]
  /// By code: the order of the shelf.
  var shops: [String: [Int64]] = [:]

  mutating func shelve(_ number: Int64, _ code: String?) {
    if let code, shops[code]?.contains(number) == true { return }
    for key in shops.keys { shops[key]?.removeAll { $0 == number } }
    if let code { shops[code]?.append(number) }
  }

  /// Returns false, without a change, if the rule deny forbids it.
  mutating func delete(_ numbers: Set<Int64>) -> Bool {
    let isDenied = wares.contains {
      !numbers.contains($0.key) && $0.value.whole.map(numbers.contains) == true
    }
    if isDenied { return false }
    for number in numbers {
      shelve(number, nil)
      wares[number] = nil
    }
    return true
  }

  init() {}

  init(readingFrom context: ManagedObjectContext) throws {
    for shop in try context.fetch(Shop.self) {
      shops[shop.code] = shop.shelf.map(\.number)
      guard shop.wares.allSatisfy({ $0.shop === shop }), shop.shelf.allSatisfy({ $0.shelf === shop }) else {
        throw Disagreement(what: "shop \(shop.code)")
      }
    }
    for ware in try context.fetch(HeartwoodTests.Ware.self) {
      wares[ware.number] = Ware(
        price: ware.price, stock: ware.stock, shop: ware.shop?.code, whole: ware.whole?.number,
        tags: Set(ware.tags.map(\.word)))
      guard ware.shop?.wares.contains(ware) ?? true, ware.whole?.parts.contains(ware) ?? true,
        ware.tags.allSatisfy({ $0.wares.contains(ware) })
      else { throw Disagreement(what: "ware \(ware.number)") }
    }
  }
}

private struct BatchWork {
  var random: SplitMix64
  var container: PersistentContainer
  let reopen: (() throws -> PersistentContainer)?
  var model = PlainShops()
  let words = ["red", "old", "rare", "round"]

  init(seed: UInt64, _ container: PersistentContainer, _ reopen: (() throws -> PersistentContainer)? = nil) {
    random = SplitMix64(seed: seed)
    self.container = container
    self.reopen = reopen
  }

  mutating func run(_ steps: Int) throws {
    try container.newBackgroundContext().insertBatch(Tag.self, words.map { ["word": $0] })
    for step in 0..<steps {
      switch Int.random(in: 0..<12, using: &random) {
      case 0, 1: try insertShops()
      case 2...5: try insertWares()
      case 6, 7: try update()
      case 8, 9: try deleteWares()
      case 10: try deleteShop()
      default: try save()
      }
      if step % 10 == 9 {
        #expect(try PlainShops(readingFrom: container.newBackgroundContext()) == model, "step \(step)")
      }
      if step % 25 == 24, let reopen {
        try container.close()
        container = try reopen()
      }
    }
    try expectSound(container)
  }

  private mutating func randomPolicy() -> MergePolicy {
    [MergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump].randomElement(using: &random)
      ?? .error
  }

  private mutating func insertShops() throws {
    let codes = (0..<Int.random(in: 1...3, using: &random)).map { _ in
      "S\(Int.random(in: 0..<8, using: &random))"
    }
    let context = container.newBackgroundContext()
    context.mergePolicy = randomPolicy()
    let isTaken = Set(codes).count < codes.count || codes.contains { model.shops[$0] != nil }
    let error = heartwoodError { try context.insertBatch(Shop.self, codes.map { ["code": $0] }) }
    #expect((error != nil) == (isTaken && context.mergePolicy.mergeType == .error))
    guard error == nil else { return }
    for code in codes where model.shops[code] == nil { model.shops[code] = [] }
  }

  private mutating func insertWares() throws {
    var rows: [[String: Any]] = []
    let numbers = Set(
      (0..<Int.random(in: 1...12, using: &random)).map { _ in Int64.random(in: 0..<50, using: &random) })
    for number in numbers.sorted() {
      var row: [String: Any] = ["number": number]
      if Bool.random(using: &random) { row["price"] = Double.random(in: 1...9, using: &random).rounded() }
      if Bool.random(using: &random) { row["stock"] = Int16.random(in: 0...9, using: &random) }
      if let code = model.shops.keys.sorted().randomElement(using: &random) {
        if Bool.random(using: &random) { row["shop"] = code }
        if Bool.random(using: &random) { row["shelf"] = code }
      }
      if Bool.random(using: &random) { row["tags"] = words.filter { _ in Bool.random(using: &random) } }
      if Bool.random(using: &random) {
        row["whole"] = numbers.union(model.wares.keys).sorted().randomElement(using: &random)
      }
      rows.append(row)
    }
    let context = container.newBackgroundContext()
    context.mergePolicy = randomPolicy()
    let policy = context.mergePolicy.mergeType
    let isTaken = numbers.contains { model.wares[$0] != nil }
    let error = heartwoodError { try context.insertBatch(Ware.self, rows) }
    #expect((error != nil) == (isTaken && policy == .error))
    if error == nil { for row in rows { apply(row, policy) } }
  }

  private mutating func apply(_ row: [String: Any], _ policy: MergePolicyType) {
    guard let number = row["number"] as? Int64 else { return }
    if model.wares[number] != nil, policy == .mergeByPropertyStoreTrump { return }
    var ware = model.wares[number] ?? PlainShops.Ware()
    if let price = row["price"] as? Double { ware.price = price }
    if let stock = row["stock"] as? Int16 { ware.stock = stock }
    if let shop = row["shop"] as? String { ware.shop = shop }
    if let whole = row["whole"] as? Int64 { ware.whole = whole }
    if let tags = row["tags"] as? [String] { ware.tags.formUnion(tags) }
    model.wares[number] = ware
    if let shelf = row["shelf"] as? String { model.shelve(number, shelf) }
  }

  private mutating func update() throws {
    let limit = Int16.random(in: 0...9, using: &random)
    let request = BatchUpdateRequest(Ware.self)
    request.predicate = Where<Ware> { $0.stock < limit && $0.shop != nil }
    request.resultType = .count
    request.set(\Ware.price) { $0.price + 2 }
    request.propertiesToUpdate = ["stock": try FormatExpression("price * 2")]
    let code = model.shops.keys.sorted().randomElement(using: &random)
    if let code { request.propertiesToUpdate?["shop"] = code }
    let matches = model.wares.filter { $0.value.stock < limit && $0.value.shop != nil }
    #expect(try container.newBackgroundContext().execute(request).count == matches.count)
    for (number, ware) in matches {
      model.wares[number]?.price = ware.price + 2
      model.wares[number]?.stock = Int16(ware.price * 2)
      if let code { model.wares[number]?.shop = code }
    }
  }

  private mutating func deleteWares() throws {
    let low = Int64.random(in: 0..<50, using: &random)
    let high = low + Int64.random(in: 1...8, using: &random)
    let request = BatchDeleteRequest(
      fetchRequest: FetchRequest<Ware>(where: { $0.number >= low && $0.number < high }))
    let isDone = model.delete(Set(model.wares.keys.filter { (low..<high).contains($0) }))
    let error = heartwoodError { try container.newBackgroundContext().execute(request) }
    #expect(error?.code == (isDone ? nil : .validationRelationshipDeniedDelete))
  }

  private mutating func deleteShop() throws {
    guard let code = model.shops.keys.sorted().randomElement(using: &random) else { return }
    let request = BatchDeleteRequest(fetchRequest: FetchRequest<Shop>(where: { $0.code == code }))
    let isDone = model.delete(Set(model.wares.filter { $0.value.shop == code }.keys))
    if isDone { model.shops[code] = nil }
    let error = heartwoodError { try container.newBackgroundContext().execute(request) }
    #expect(error?.code == (isDone ? nil : .validationRelationshipDeniedDelete))
  }

  /// An ordinary save in between.
  private mutating func save() throws {
    let context = container.newBackgroundContext()
    guard let number = model.wares.keys.sorted().randomElement(using: &random),
      let ware = try context.ware(number)
    else { return }
    ware.stock = 3
    ware.shop = nil
    try context.save()
    model.wares[number]?.stock = 3
    model.wares[number]?.shop = nil
  }
}
