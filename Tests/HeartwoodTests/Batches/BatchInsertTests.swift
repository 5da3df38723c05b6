import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Batch inserts` {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try batchContainer()
    context = container.newBackgroundContext()
  }

  // BAT-03, BAT-04
  @Test func `rows of dictionaries get their values, and defaults for the others`() throws {
    let day = Date(timeIntervalSinceReferenceDate: 12)
    try context.insertBatch(
      Ware.self,
      [
        [
          "number": 1, "name": "Lamp", "price": 2, "exact": Decimal(string: "1.25") as Any, "made": day,
          "image": Data([1, 2]),
        ],
        ["number": 2, "made": NSNull()],
      ])
    let lamp = try #require(try context.ware(1))
    #expect(lamp.name == "Lamp" && lamp.price == 2 && lamp.exact == Decimal(string: "1.25"))
    #expect(lamp.made == day && lamp.image == Data([1, 2]) && lamp.stock == 0)
    let other = try #require(try context.ware(2))
    #expect(other.name == "nameless" && other.price == 1 && other.exact == nil && other.made == nil)
    #expect(lamp.id != other.id)
  }

  // BAT-03
  @Test func `a handler fills one dictionary after the other until it returns true`() throws {
    var number = 0
    let request = BatchInsertRequest(entityName: "Ware") { (row: inout [String: Any]) -> Bool in
      #expect(row.isEmpty)
      number += 1
      row["number"] = number
      return number > 1500
    }
    request.resultType = .count
    #expect(try context.execute(request).result as? Int == 1500)
    #expect(try context.count(for: FetchRequest<Ware>()) == 1500)
  }

  // BAT-03
  @Test func `a handler sets the attributes of one object, which is used for all rows`() throws {
    var seen: Set<ObjectIdentifier> = []
    var number: Int64 = 0
    let request = BatchInsertRequest(entityName: "Novel") { (object: ManagedObject) -> Bool in
      guard let book = object as? Novel, number < 600 else { return true }
      seen.insert(ObjectIdentifier(book))
      number += 1
      book.number = number
      if number == 1 { book.pages = 9 }
      return false
    }
    try context.execute(request)
    #expect(seen.count == 1)
    let books = try context.fetch(Novel.self, sort: [.ascending(\.number)])
    #expect(books.map(\.pages) == [9] + Array(repeating: nil, count: 599))
    #expect(Set(books.map(\.id)).count == 600)
  }

  @Test func `encodable values are rows, with destinations by their unique values`() throws {
    struct Row: Encodable {
      struct Place: Encodable { var code: String }
      var number: Int
      var name: String?
      var made: Date
      var shop: Place?
      var tags: [String] = []
    }
    try context.insertBatch(Shop.self, [["code": "A"]])
    try context.insertBatch(Tag.self, [["word": "red"], ["word": "old"]])
    let request = BatchInsertRequest(
      Ware.self,
      rows: [
        Row(number: 1, made: .distantPast, shop: Row.Place(code: "A"), tags: ["red", "old"]),
        Row(number: 2, name: "Vase", made: .distantFuture),
      ])
    for _ in 0..<2 {
      try context.execute(request)
      context.mergePolicy = .mergeByPropertyObjectTrump
    }
    let first = try #require(try context.ware(1))
    #expect(first.name == "nameless" && first.made == .distantPast && first.shop?.code == "A")
    #expect(Set(first.tags.map(\.word)) == ["red", "old"])
    #expect(try context.ware(2)?.name == "Vase")
    #expect(try context.count(for: FetchRequest<Ware>()) == 2)
  }

  // BAT-04
  @Test func `an unknown name or an unfitting value names its row, and nothing is inserted`() throws {
    for wrong: [String: Any] in [["nmae": "x"], ["stock": 70_000], ["name": 3], ["shop": "nowhere"]] {
      let rows: [[String: Any]] = (0..<600).map { ["number": $0] } + [["number": 600].merging(wrong) { $1 }]
      let error = heartwoodError { try context.insertBatch(Ware.self, rows) }
      #expect(error?.message.contains("row 601") == true)
      #expect(error?.property == wrong.keys.first)
    }
    #expect(try context.count(for: FetchRequest<Ware>()) == 0)
    #expect(try container.history().isEmpty)
    #expect(
      heartwoodError { try context.execute(BatchInsertRequest(entityName: "Wear", objects: [])) } != nil)
  }

  // T72
  @Test func `relationships are given by identifiers or unique values, and both sides agree`() throws {
    let shops = try context.insertBatch(Shop.self, [["code": "A"], ["code": "B"]]).objectIDs
    try context.insertBatch(Tag.self, [["word": "red"]])
    let red = try #require(try context.fetch(Tag.self).first)
    try context.insertBatch(
      Ware.self,
      [
        ["number": 1, "shop": shops[0], "tags": [red]], ["number": 2, "shop": ["code": "B"], "shelf": "A"],
        ["number": 3, "shop": shops[1].uriRepresentation(), "shelf": "A", "tags": Set(["red"])],
        ["number": 4, "shop": NSNull()],
      ])
    let (a, b) = (try #require(try context.shop("A")), try #require(try context.shop("B")))
    #expect(a.wares.map(\.number) == [1] && Set(b.wares.map(\.number)) == [2, 3])
    #expect(a.shelf.map(\.number) == [2, 3])
    #expect(Set(red.wares.map(\.number)) == [1, 3])
    let wares = try context.fetch(Ware.self, where: { $0.shop.code == "B" }, sort: [.descending(\.number)])
    try context.insertBatch(Shop.self, [["code": "C", "wares": [1, 2], "shelf": wares.map(\.objectID)]])
    context.refreshAllObjects()
    let c = try #require(try context.shop("C"))
    #expect(c.shelf.map(\.number) == [3, 2] && a.shelf.isEmpty)
    #expect(Set(c.wares.map(\.number)) == [1, 2] && a.wares.isEmpty && b.wares.map(\.number) == [3])
    try expectSound(container)
  }

  @Test func `a row may refer to one that comes later, or to itself`() throws {
    try context.insertBatch(
      Ware.self, (0..<1300).map { ["number": $0, "whole": $0 == 0 ? 0 : ($0 * 7) % 1300] })
    for number: Int64 in [0, 1, 700, 1299] {
      #expect(try context.ware(number)?.whole?.number == (number * 7) % 1300)
    }
    let error = heartwoodError { try context.insertBatch(Ware.self, [["number": 5000, "whole": 6000]]) }
    #expect(error?.code == .managedObjectReferentialIntegrity)
    try expectSound(container)
  }

  @Test func `a one-to-one destination leaves its former partner`() throws {
    let keeper = Keeper(context: context)
    try context.save()
    try context.insertBatch(Shop.self, [["code": "A", "keeper": keeper], ["code": "B", "keeper": keeper]])
    context.refreshAllObjects()
    #expect(keeper.shop?.code == "B")
    #expect(try context.shop("A")?.keeper == nil)
    #expect(try context.shop("B")?.keeper === keeper)
    try expectSound(container)
  }

  // BAT-05, T73
  @Test func `object trump updates the stored rows in place, store trump leaves them`() throws {
    try context.insertBatch(Shop.self, [["code": "A", "city": "Lyon", "rank": 1]])
    let id = try #require(try context.shop("A")?.objectID)
    let rows: [[String: Any]] = [["code": "B"], ["code": "A", "rank": 2], ["code": "B", "city": "Nice"]]
    let refused = heartwoodError { try context.insertBatch(Shop.self, rows) }
    #expect(refused?.code == .managedObjectConstraintMerge)
    #expect(try context.count(for: FetchRequest<Shop>()) == 1)

    context.mergePolicy = .mergeByPropertyObjectTrump
    let result = try context.insertBatch(Shop.self, rows)
    #expect(result.count == 2 && result.objectIDs.count == 2 && result.objectIDs.contains(id))
    context.refreshAllObjects()
    let a = try #require(try context.shop("A"))
    #expect(a.objectID == id && a.city == "Lyon" && a.rank == 2)
    #expect(try context.shop("B")?.city == "Nice")

    context.mergePolicy = .mergeByPropertyStoreTrump
    #expect(try context.insertBatch(Shop.self, [["code": "A", "rank": 3], ["code": "C"]]).count == 1)
    context.refreshAllObjects()
    #expect(a.rank == 2)
    context.mergePolicy = .overwrite
    try context.insertBatch(Shop.self, [["code": "A", "rank": 4]])
    context.refreshAllObjects()
    #expect(a.rank == 4 && a.city == nil)
    #expect(Set(try context.fetch(Shop.self).map(\.code)) == ["A", "B", "C"])
    try expectSound(container)
  }

  @Test func `a default that is evaluated for each row replaces no stored value`() throws {
    try context.insertBatch(Ware.self, [["number": 1]])
    let id = try #require(try context.ware(1)?.id)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.insertBatch(
      Ware.self, [["number": 1, "name": "Lamp"], ["number": 2], ["number": 2, "name": "Desk"]])
    var isAtEnd = false
    let request = BatchInsertRequest(entityName: "Ware") { (object: ManagedObject) -> Bool in
      defer { isAtEnd = true }
      object.setValue(1, forKey: "number")
      object.setValue(3, forKey: "stock")
      _ = object.value(forKey: "id")
      return isAtEnd
    }
    try context.execute(request)
    context.refreshAllObjects()
    let lamp = try #require(try context.ware(1))
    #expect(lamp.id == id && lamp.name == "Lamp" && lamp.stock == 3)
    #expect(try context.ware(2)?.name == "Desk")
    context.mergePolicy = .overwrite
    try context.insertBatch(Ware.self, [["number": 1]])
    context.refreshAllObjects()
    #expect(lamp.id != id)
  }

  // BAT-05
  @Test func `a constraint of several attributes decides by all of them`() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.insertBatch(Seat.self, [["row": 1, "place": 1, "guest": "Ada"], ["row": 1, "place": 2]])
    try context.insertBatch(Seat.self, [["row": 1, "place": 2, "guest": "Eve"], ["row": 2, "place": 1]])
    let seats = try context.fetch(Seat.self, sort: [.ascending(\.row), .ascending(\.place)])
    #expect(seats.map(\.guest) == ["Ada", "Eve", nil])
  }

  @Test func `a request that is to be validated keeps the rules of the model`() throws {
    func error(_ row: [String: Any]) -> HeartwoodError? {
      let request = BatchInsertRequest(Ware.self, objects: [row])
      request.validates = true
      return heartwoodError { try context.execute(request) }
    }
    try context.insertBatch(Tag.self, ["a", "b", "c", "d"].map { ["word": $0] })
    #expect(error(["number": 1, "stock": 1001])?.code == .validationNumberTooLarge)
    #expect(error(["number": 1, "price": -1])?.property == "price")
    #expect(error(["number": 1, "name": NSNull()])?.code == .validationMissingMandatoryProperty)
    #expect(
      error(["number": 1, "tags": ["a", "b", "c", "d"]])?.code == .validationRelationshipExceedsMaximumCount)
    #expect(try context.count(for: FetchRequest<Ware>()) == 0)
    #expect(error(["number": 1, "stock": 1000, "tags": ["a", "b", "c"]]) == nil)
    try context.insertBatch(Ware.self, [["number": 2, "stock": 1001]])
    #expect(try context.count(for: FetchRequest<Ware>()) == 2)
  }

  // BAT-15
  @Test func `large data is stored outside its row, and replaced there`() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    func image(_ byte: UInt8, _ count: Int) -> Data { Data(repeating: byte, count: count) }
    try context.insertBatch(Ware.self, [["number": 1, "image": image(1, 100_000)]])
    #expect(try context.ware(1)?.image == image(1, 100_000))
    let rows: [[String: Any]] = (0..<600).map {
      ["number": $0 % 512, "image": image(UInt8($0 % 200), 40_000 + $0)]
    }
    try context.insertBatch(Ware.self, rows)
    context.refreshAllObjects()
    #expect(try context.ware(1)?.image == image(113, 40_513))
    #expect(try context.ware(300)?.image == image(100, 40_300))
    try expectSound(container)
  }
}

func expectSound(_ container: PersistentContainer) throws {
  #expect(try container.persistentStoreCoordinator.verify().findings == [])
}
