import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

@Suite struct `Batch inserts in PostgreSQL` {
  private static func log() throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Batches", managedObjectModel: try ManagedObjectModel(types: allTypes))
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.type = .inMemory
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  private static let policies: [MergePolicy] = [
    .error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
  ]

  /// Rows of a batch, in which `{n}` stands for the person with that name.
  private struct Batch {
    let entity: String
    var rows: [[String: Any]] = []
    let policy: MergePolicy
    var validates = false
  }

  private func batch(_ random: inout SplitMix64, _ next: inout Int) -> Batch {
    let choice = Int.random(in: 0..<5, using: &random)
    let (policy, isStrict) = (Self.policies[choice], choice == 0)
    func number(_ end: Int) -> Int { Int.random(in: 0..<end, using: &random) }
    var batch = Batch(entity: number(2) == 0 ? "Company" : "Person", policy: policy)
    batch.validates = number(4) == 0
    for _ in 0..<(1 + number(8)) {
      var row: [String: Any] = [:]
      if batch.entity == "Company" {
        row["code"] = "K\(number(isStrict ? 200 : 12))"
        if number(2) == 0 { row["name"] = "N\(number(100))" }
        if number(2) == 0 { row["size"] = number(100) }
        if number(3) == 0 { row["partners"] = (0...number(3)).map { _ in "K\(number(10))" } }
        if number(3) == 0, next > 0 {
          row["ranking"] = (0...number(3)).map { _ in Named(number: number(next)) }
        }
      } else {
        row["name"] = "P\(next)"
        next += 1
        if number(3) > 0 { row["age"] = number(50) }
        if number(2) == 0 { row["company"] = "K\(number(10))" }
      }
      batch.rows.append(row)
    }
    return batch
  }

  private struct Named {
    let number: Int
  }

  /// - Returns: The code of the error; nil if it was executed.
  private func execute(_ batch: Batch, _ container: PersistentContainer) throws -> HeartwoodError.Code? {
    let context = container.newBackgroundContext()
    context.mergePolicy = batch.policy
    let people = Dictionary(
      try context.fetch(Person.self).map { ($0.name, $0.objectID) }, uniquingKeysWith: { first, _ in first })
    let rows = batch.rows.map { row in
      row.mapValues { value -> Any in
        guard let named = value as? [Named] else { return value }
        return named.compactMap { people["P\($0.number)"] }
      }
    }
    let request = BatchInsertRequest(entityName: batch.entity, objects: rows)
    request.validates = batch.validates
    request.resultType = .objectIDs
    do {
      let result = try context.execute(request)
      #expect(result.count == result.objectIDs.count)
      return nil
    } catch let error as HeartwoodError {
      return error.code
    }
  }

  private func contents(_ container: PersistentContainer) throws -> [String] {
    let context = container.newBackgroundContext()
    var lines: [String] = []
    for company in try context.fetch(Company.self) {
      lines.append(
        "\(company.code) \(company.name) \(company.size ?? -1) \(company.people.map(\.name).sorted()) "
          + "\(company.partners.map(\.code).sorted()) \(company.ranking.map(\.name))")
    }
    for person in try context.fetch(Person.self) {
      lines.append(
        "\(person.name) \(person.age) \(person.company?.code ?? "-") \(person.ranked?.code ?? "-")")
    }
    return lines.sorted()
  }

  @Test(arguments: 0..<4)
  func `random rows under each merge policy leave what they leave in the log store`(seed: UInt64) throws {
    var random = SplitMix64(seed: 0xba7 + seed)
    let (world, log) = (try PostgresWorld(), try Self.log())
    var (next, failures) = (0, 0)
    for step in 0..<60 {
      let batch = batch(&random, &next)
      let (code, expected) = (try execute(batch, world.container), try execute(batch, log))
      try #require(code == expected, "seed \(seed), step \(step): \(batch)")
      if code != nil { failures += 1 }
      let difference = try contents(world.container).difference(from: contents(log)).map { "\($0)" }
      try #require(difference == [], "seed \(seed), step \(step): \(batch)")
    }
    #expect(failures > 0 && failures < 50)
  }

  @Test func `an updated object has another version, which a later save of its former state meets`() throws {
    let world = try PostgresWorld()
    let (first, second) = (world.context(), world.context())
    let company = first.makeCompany("A")
    try first.save()
    second.mergePolicy = .mergeByPropertyObjectTrump
    let request = BatchInsertRequest(
      entityName: "Company", objects: [["code": "A", "size": 7], ["code": "B"], ["code": "A", "name": "n"]])
    request.resultType = .objectIDs
    let result = try second.execute(request)
    #expect(result.count == 2 && result.objectIDs.contains(company.objectID))
    company.size = 1
    let error = heartwoodError { try first.save() }
    #expect(error?.code == .managedObjectMerge && error?.mergeConflicts.map(\.newVersionNumber) == [2])
    first.refreshAllObjects()
    #expect(try world.context().fetch(Company.self, where: { $0.code == "A" }).map(\.name) == ["n"])
  }

  @Test func `imports of several connections of the same objects at the same time leave one of each`() throws
  {
    let world = try PostgresWorld()
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      do {
        let mine = try PostgresWorld(at: world.url)
        for round in 0..<5 {
          let context = mine.context()
          context.mergePolicy = .mergeByPropertyObjectTrump
          let rows = (0..<50).map { ["code": "\(round).\($0)", "size": thread] as [String: Any] }
          try context.execute(BatchInsertRequest(entityName: "Company", objects: rows))
        }
      } catch {
        failures.add("\(error)")
      }
    }
    #expect(failures.all == [])
    #expect(try world.context().count(Company.self) == 250)
  }

  @Test func `batches that validate are refused with the row, and write nothing`() throws {
    let world = try PostgresWorld(types: [Rule.Item.self])
    let context = world.context()
    func insert(_ amounts: [Int]) -> HeartwoodError? {
      let request = BatchInsertRequest(entityName: "Item", objects: amounts.map { ["amount": $0] })
      request.validates = true
      return heartwoodError { try context.execute(request) }
    }
    let refused = insert([1, 2, 11])
    #expect(refused?.code == .validationNumberTooLarge && refused?.message.contains("3") == true)
    #expect(try context.count(Rule.Item.self) == 0)
    #expect(insert([1, 2, 9]) == nil)
    let update = BatchUpdateRequest(entityName: "Item")
    update.propertiesToUpdate = ["amount": try FormatExpression("amount + 2")]
    update.validates = true
    #expect(heartwoodError { try context.execute(update) }?.code == .validationNumberTooLarge)
    #expect(
      try world.context().fetch(Rule.Item.self, sort: [.ascending(\.amount)]).map(\.amount) == [1, 2, 9])
    update.predicate = try FormatPredicate("amount < 5")
    let result = try context.execute(update)
    #expect(result.result as? Bool == true)
    let delete = BatchDeleteRequest(fetchRequest: FetchRequest<Rule.Item>(where: { $0.amount < 9 }))
    delete.validates = true
    delete.resultType = .count
    #expect(try context.execute(delete).count == 2)
    #expect(try world.context().fetch(Rule.Item.self).map(\.amount) == [9])
  }
}

private enum Rule {
  final class Item: ManagedObject {
    @Attribute(validated: .range(0...10)) var amount: Int64 = 0
  }
}
