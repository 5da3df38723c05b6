import Foundation
import GraphTestSupport
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Differences of generations, and reverting transactions` {
  private func number(_ container: PersistentContainer) throws -> UInt64 {
    try #require(container.currentHistoryToken).transactionNumber
  }

  @Test func `a difference has former and present values, and destinations that came and went`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let (ada, bea) = (context.makePerson("Ada", age: 36), context.makePerson("Bea", age: 40))
    let company = context.makeCompany("C")
    ada.company = company
    try context.save()
    let first = try number(container)
    ada.age = 37
    ada.nick = "countess"
    ada.company = nil
    bea.company = company
    let cleo = context.makePerson("Cleo")
    try context.save()
    context.delete(bea)
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    let differences = try coordinator.differences(from: first)
    let byID = Dictionary(differences.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
    let changed = try #require(byID[ada.objectID])
    #expect(changed.kind == .updated && changed.changedValues == ["age", "nick", "company"])
    #expect(changed.formerValues["age"] as? Int64 == 36 && changed.values["age"] as? Int64 == 37)
    #expect(changed.formerValues["nick"] == nil && changed.values["nick"] as? String == "countess")
    #expect(changed.formerValues["company"] as? ManagedObjectID == company.objectID)
    #expect(
      byID[cleo.objectID]?.kind == .inserted && byID[cleo.objectID]?.values["name"] as? String == "Cleo")
    #expect(byID[bea.objectID]?.kind == .deleted && byID[bea.objectID]?.formerValues["age"] as? Int64 == 40)
    #expect(byID[company.objectID]?.removedObjects["people"] == [ada.objectID])
    #expect(byID[company.objectID]?.changedValues.isEmpty == true)
    #expect(differences.count == 4)
    let back = try coordinator.differences(from: try number(container), to: first)
    #expect(back.first { $0.objectID == ada.objectID }?.values["age"] as? Int64 == 36)
    #expect(back.first { $0.objectID == cleo.objectID }?.kind == .deleted)
    #expect(try coordinator.differences(from: first, to: first).isEmpty)
    #expect(heartwoodError { _ = try coordinator.differences(from: 1_000) } != nil)
  }

  @Test func `a generation that is held by name is read, compared and listed after its space was reclaimed`()
    throws
  {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let ada = context.makePerson("Ada", age: 36)
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    let hold = try coordinator.hold("before")
    #expect(hold.generation.rawValue == (try number(container)))
    for age in 37..<60 {
      ada.age = Int64(age)
      try context.save()
    }
    try coordinator.reclaim()
    let then = container.newBackgroundContext()
    try then.setQueryGenerationFrom(coordinator.queryGenerationToken(ofHold: "before"))
    #expect(try then.fetch(FetchRequest<Person>()).map(\.age) == [36])
    #expect(try coordinator.differences(from: hold.generation.rawValue).first?.values["age"] as? Int64 == 59)
    #expect(try coordinator.bytesOfHolds().keys.sorted() == ["before"])
    #expect(heartwoodError { try coordinator.hold("before") }?.code == .persistentStoreOperation)
    #expect(try coordinator.releaseHold("before") && !coordinator.releaseHold("before"))
    #expect(heartwoodError { _ = try coordinator.queryGenerationToken(ofHold: "before") } != nil)
  }

  @Test func `what an author has changed is reverted, newest first, and what others have changed stays`()
    throws
  {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let (ada, bea) = (context.makePerson("Ada", age: 36), context.makePerson("Bea", age: 40))
    context.transactionAuthor = "setup"
    try context.save()
    let start = try #require(container.currentHistoryToken)
    func save(_ author: String, _ change: () -> Void) throws {
      context.transactionAuthor = author
      change()
      try context.save()
    }
    try save("import") { ada.age = 1 }
    try save("import") {
      ada.age = 2
      bea.age = 3
      _ = context.makePerson("Cleo")
    }
    try save("user") { bea.nick = "b" }
    try save("import") { ada.nick = "a" }
    context.transactionAuthor = "repair"
    let conflicts = try context.revertTransactions(by: "import", after: start)
    #expect(conflicts.isEmpty)
    try context.save()
    #expect(ada.age == 36 && ada.nick == nil && bea.age == 40 && bea.nick == "b")
    #expect(try context.count(for: FetchRequest<Person>()) == 2)
    try save("import") { ada.age = 5 }
    try save("user") { ada.age = 6 }
    let second = try context.revertTransactions(by: "import", after: start)
    #expect(
      second.contains { $0.objectID == ada.objectID && $0.property == "age" && $0.reason == .wasChanged })
    context.rollback()
    #expect(ada.age == 6)
  }

  @Test func `a transaction is reverted where nothing since has changed the same`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let company = context.makeCompany("C")
    let (ada, bea) = (context.makePerson("Ada", age: 36, in: company), context.makePerson("Bea", age: 40))
    try context.save()
    let beaID = bea.objectID
    ada.age = 37
    ada.nick = "countess"
    ada.company = nil
    context.delete(bea)
    let cleo = context.makePerson("Cleo", in: company)
    try context.save()
    let wrong = try number(container)
    ada.nick = "Ada"
    try context.save()
    let conflicts = try context.revert(transaction: wrong)
    #expect(conflicts == [RevertConflict(objectID: ada.objectID, property: "nick", reason: .wasChanged)])
    #expect(ada.age == 36 && ada.nick == "Ada" && ada.company === company)
    #expect(cleo.isDeleted)
    try context.save()
    let other = container.newBackgroundContext()
    let restored = try #require(try other.existingObject(with: beaID) as? Person)
    #expect(restored.name == "Bea" && restored.age == 40)
    #expect(try other.count(Person.self) == 2)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    // A transaction that was reverted can be reverted, too.
    #expect(try other.revert(transaction: try number(container)).isEmpty)
    try other.save()
    #expect(try other.count(Person.self) == 2)
    #expect(try other.fetch(Person.self, where: { $0.name == "Cleo" }).count == 1)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  @Test func `an object that was changed or deleted since is reported, and stays`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let (ada, bea) = (context.makePerson("Ada"), context.makePerson("Bea"))
    try context.save()
    let made = try number(container)
    ada.age = 1
    try context.save()
    let aged = try number(container)
    let conflicts = try context.revert(transaction: made)
    #expect(conflicts == [RevertConflict(objectID: ada.objectID, property: "age", reason: .wasChanged)])
    #expect(bea.isDeleted && !ada.isDeleted)
    context.rollback()
    context.delete(ada)
    try context.save()
    let gone = try context.revert(transaction: aged)
    #expect(gone.map(\.reason) == [.isDeleted] && gone.map(\.property) == [nil])
    #expect(!context.hasChanges)
    let child = ManagedObjectContext(.mainQueue, parent: container.viewContext)
    #expect(heartwoodError { _ = try child.revert(transaction: made) }?.code == .persistentStoreOperation)
  }

  @Test(arguments: 0..<6) func `reverting every transaction, newest first, leads to what was before each`(
    seed: UInt64
  ) throws {
    let container = try makeContainer()
    var random = SplitMix64(seed: seed)
    let context = container.newBackgroundContext()
    var states: [(UInt64, [String])] = []
    for round in 0..<12 {
      states.append((try number(container), try state(of: container)))
      let people = try context.fetch(Person.self)
      let companies = try context.fetch(Company.self)
      for step in 0..<3 {
        switch random.next() % 5 {
        case 0: _ = context.makePerson("\(round) \(step)", in: companies.randomElement(using: &random))
        case 1: if round < 6 { _ = context.makeCompany("\(round) \(step)") }
        case 2:
          if let person = people.randomElement(using: &random), !person.isDeleted { context.delete(person) }
        default:
          guard let person = people.randomElement(using: &random), !person.isDeleted else { continue }
          person.age += 1
          person.company = companies.randomElement(using: &random)
        }
      }
      try context.save()
    }
    let last = try number(container)
    var numbers = try container.history().map { UInt64($0.transactionNumber) }.filter { $0 <= last }
    while let newest = numbers.popLast() {
      #expect(try context.revert(transaction: newest).isEmpty, "seed \(seed)")
      try context.save()
      if let known = states.last(where: { $0.0 < newest }), states.contains(where: { $0.0 == newest - 1 }) {
        let wanted = states.last { $0.0 <= newest - 1 }?.1
        #expect(try state(of: container) == wanted, "seed \(seed), transaction \(newest), \(known.0)")
      }
    }
    #expect(try context.count(Person.self) == 0)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty, "seed \(seed)")
  }

  @Test func `a delete is reverted on both sides of a relationship, with the order that there was`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let company = context.makeCompany("C")
    let people = (0..<5).map { context.makePerson("\($0)") }
    company.ranking = people
    try context.save()
    context.delete(people[1])
    context.delete(people[3])
    try context.save()
    let deletion = try number(container)
    let other = container.newBackgroundContext()
    #expect(try other.revert(transaction: deletion).isEmpty)
    try other.save()
    let shown = try #require(try other.existingObject(with: company.objectID) as? Company)
    #expect(shown.ranking.map(\.name) == ["0", "1", "2", "3", "4"])
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    shown.ranking.reverse()
    try other.save()
    let reversal = try number(container)
    #expect(try other.revert(transaction: reversal).isEmpty)
    #expect(shown.ranking.map(\.name) == ["0", "1", "2", "3", "4"])
  }

  @Test func `an order differs only if destinations of both states follow each other otherwise`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let company = context.makeCompany("C")
    let people = (0..<4).map { context.makePerson("\($0)") }
    company.ranking = people
    try context.save()
    let first = try number(container)
    company.ranking = []
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    // All places are other ones.
    let orders: [([Int], Set<String>?)] = [
      ([3, 2, 1, 0], ["ranking"]), ([3, 0], ["ranking"]), ([0], []), ([0, 1], []), ([0, 1, 2, 3], nil),
    ]
    for (order, reordered) in orders {
      company.ranking = order.map { people[$0] }
      try context.save()
      let found = try coordinator.differences(from: first).first { $0.objectID == company.objectID }
      #expect(found?.reorderedRelationships == reordered, "\(order)")
    }
  }

  @Test func `an inserted object that others refer to since stays`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    let company = context.makeCompany("C")
    try context.save()
    let made = try number(container)
    let person = context.makePerson("Ada", in: company)
    try context.save()
    let conflicts = try context.revert(transaction: made)
    #expect(conflicts.map(\.property) == ["people"] && conflicts.map(\.reason) == [.wasChanged])
    #expect(!company.isDeleted && !person.isDeleted && !context.hasChanges)
  }

  @Test func `a date names the newest generation until then`() throws {
    let container = try makeContainer()
    let context = container.newBackgroundContext()
    for _ in 0..<4 {
      _ = context.makePerson("p")
      try context.save()
    }
    let coordinator = container.persistentStoreCoordinator
    let history = try container.history()
    for transaction in history {
      let token = try coordinator.queryGenerationToken(asOf: transaction.timestamp)
      let past = container.newBackgroundContext()
      try past.setQueryGenerationFrom(token)
      #expect(
        try past.count(Person.self) == Int(transaction.transactionNumber - history[0].transactionNumber) + 1)
    }
    let newest = try coordinator.queryGenerationToken(asOf: .distantFuture)
    let past = container.newBackgroundContext()
    try past.setQueryGenerationFrom(newest)
    #expect(try past.count(Person.self) == 4)
    #expect(heartwoodError { _ = try coordinator.queryGenerationToken(asOf: .distantPast) } != nil)
  }

  /// Shows what it is told.
  private final class SetClock: WallClock, @unchecked Sendable {
    private let lock = Lock()
    private var time: Int64 = 0

    var nanosecondsSince1970: Int64 { lock.withLock { time } }

    func set(seconds: Int64) { lock.withLock { time = seconds * 1_000_000_000 } }
  }

  @Test(arguments: UInt64(0)..<4)
  func `a date names the last transaction that is not later, also if clocks run backwards`(seed: UInt64)
    throws
  {
    var random = SplitMix64(seed: seed)
    let clock = SetClock()
    let container = PersistentContainer(
      name: "Companies", managedObjectModel: try ManagedObjectModel(types: companyTypes))
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    description.engineOptions = .init()
    description.engineOptions?.clock = clock
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    let context = container.newBackgroundContext()
    var times: [(number: UInt64, seconds: Int64)] = []
    for _ in 0..<20 {
      let seconds = Int64(1 + random.below(30))
      clock.set(seconds: seconds)
      for _ in 0...random.below(3) { _ = context.makePerson("p") }
      try context.save()
      times.append((try number(container), seconds))
    }
    let coordinator = container.persistentStoreCoordinator
    for seconds in Int64(1)...31 {
      guard let last = times.last(where: { $0.seconds <= seconds }) else { continue }
      let token = try coordinator.queryGenerationToken(asOf: Date(timeIntervalSince1970: Double(seconds)))
      #expect(token.generation == last.number, "seed \(seed), \(seconds) s")
    }
  }

  private func state(of container: PersistentContainer) throws -> [String] {
    try container.newBackgroundContext().fetch(Person.self).map {
      "\($0.name) \($0.age) \($0.company?.code ?? "-")"
    }.sorted()
  }
}
