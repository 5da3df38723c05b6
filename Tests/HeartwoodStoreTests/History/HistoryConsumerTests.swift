import Foundation
import GraphTestSupport
import HeartwoodFaults
import TestSupport
import Testing

@testable import Heartwood

@Suite struct `Consumers of the history` {
  private struct Refused: Error {}

  /// Saves one person by an author.
  private func save(_ name: String, in container: PersistentContainer, author: String? = nil) throws {
    let context = container.newBackgroundContext()
    context.transactionAuthor = author
    _ = context.makePerson(name)
    try context.save()
  }

  private func names(_ batch: HistoryBatch, in context: ManagedObjectContext) -> [String] {
    batch.objectIDs.compactMap { (context.object(with: $0) as? Person)?.name }
  }

  @Test func `a consumer gets what is new, each transaction once, and goes on after reopening`() throws {
    let folder = try TemporaryFolder()
    let open = { try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store) }
    var container = try open()
    try save("before", in: container)
    let indexer = try container.historyConsumer("indexer")
    #expect(try indexer.consume { _, _ in } == 0)
    for number in 1...5 { try save("\(number)", in: container) }
    var seen: [String] = []
    let count = try indexer.consume(limit: 2) { context, batch in
      #expect(batch.transactions.count <= 2)
      seen += names(batch, in: context)
    }
    #expect(count == 5 && seen == ["1", "2", "3", "4", "5"])
    try container.close()
    container = try open()
    try save("6", in: container)
    let again = try container.historyConsumer("indexer", startingAt: .oldest)
    #expect(try again.status.waitingCount == 1)
    try again.consume { context, batch in seen += names(batch, in: context) }
    #expect(seen.last == "6" && seen.count == 6)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    try container.close()
  }

  @Test func `a consumer may begin with all history that is kept, and does not get its own saves`() throws {
    let container = try makeContainer()
    try save("1", in: container)
    try save("own", in: container, author: "indexer")
    try save("2", in: container, author: "other")
    let indexer = try container.historyConsumer("indexer", startingAt: .oldest)
    let context = container.newBackgroundContext()
    let batch = try indexer.nextBatch()
    #expect(names(batch, in: context) == ["1", "2"] && batch.isLast)
    try indexer.consume { context, _ in _ = context.makePerson("made") }
    #expect(try indexer.nextBatch().transactions.isEmpty)
    #expect(try container.history().last?.author == "indexer")
  }

  @Test func `a failure leaves the position and the objects as they were`() throws {
    let container = try makeContainer()
    let indexer = try container.historyConsumer("indexer")
    try save("1", in: container)
    #expect(throws: Refused.self) {
      try indexer.consume { context, _ in
        _ = context.makePerson("made")
        throw Refused()
      }
    }
    let context = container.newBackgroundContext()
    #expect(try context.count(Person.self) == 1)
    // A save that fails keeps the batch for the next one, and a rollback takes it back.
    let batch = try indexer.nextBatch()
    try context.complete(batch)
    let company = context.makeCompany("same")
    let other = container.newBackgroundContext()
    _ = other.makeCompany("same")
    try other.save()
    #expect(heartwoodError { try context.save() }?.code == .managedObjectConstraintMerge)
    #expect(try indexer.nextBatch().transactions.count == 2)
    company.code = "another"
    try context.save()
    #expect(try indexer.nextBatch().transactions.count == 2)
    try context.complete(try indexer.nextBatch())
    context.rollback()
    try context.save()
    #expect(try indexer.nextBatch().transactions.count == 2)
  }

  @Test func `a position is saved alone, without a transaction in the history`() throws {
    let container = try makeContainer()
    let indexer = try container.historyConsumer("indexer")
    try save("1", in: container)
    let context = container.newBackgroundContext()
    try context.complete(try indexer.nextBatch())
    #expect(try indexer.status.waitingCount == 1)
    try context.save()
    #expect(try indexer.status.waitingCount == 0)
    #expect(try container.history().count == 1)
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
  }

  @Test(arguments: [false, true]) func `of two that do the same work, one cannot save`(
    changesTheSame: Bool
  ) throws {
    let container = try makeContainer()
    let indexer = try container.historyConsumer("indexer")
    try save("1", in: container)
    let contexts = [container.newBackgroundContext(), container.newBackgroundContext()]
    let batch = try indexer.nextBatch()
    for context in contexts {
      if changesTheSame { try context.fetch(Person.self).first?.name = "changed" }
      _ = context.makePerson("work")
      try context.complete(batch)
    }
    try contexts[0].save()
    let error = heartwoodError { try contexts[1].save() }
    #expect(error?.code == .persistentStoreSaveConflicts)
    #expect(error?.message.contains("indexer") == true)
    #expect(try container.newBackgroundContext().count(Person.self) == 2)
    contexts[1].rollback()
    _ = contexts[1].makePerson("other work")
    try contexts[1].save()
  }

  @Test func `a child context, and one of another coordinator, cannot complete a batch`() throws {
    let container = try makeContainer()
    let indexer = try container.historyConsumer("indexer")
    try save("1", in: container)
    let batch = try indexer.nextBatch()
    let child = ManagedObjectContext(.mainQueue, parent: container.viewContext)
    #expect(heartwoodError { try child.complete(batch) }?.code == .persistentStoreOperation)
    let other = try makeContainer().newBackgroundContext()
    #expect(heartwoodError { try other.complete(batch) }?.code == .persistentStoreOperation)
    #expect(heartwoodError { _ = try container.historyConsumer("") }?.code == .coreData)
  }

  @Test func `a consumer that is unregistered has no position any more`() throws {
    let container = try makeContainer()
    let indexer = try container.historyConsumer("indexer")
    let uploader = try container.historyConsumer("uploader", lagLimit: 5)
    let coordinator = container.persistentStoreCoordinator
    #expect(try coordinator.historyConsumers().map(\.name) == ["indexer", "uploader"])
    #expect(try uploader.status.lagLimit == 5)
    try indexer.unregister()
    try indexer.unregister()
    #expect(try coordinator.historyConsumers().map(\.name) == ["uploader"])
    #expect(heartwoodError { _ = try indexer.nextBatch() }?.code == .persistentHistoryTokenExpired)
  }

  // MARK: Retention

  private func container(_ retention: HistoryRetention, at url: URL) throws -> PersistentContainer {
    let container = PersistentContainer(
      name: "Companies", managedObjectModel: try ManagedObjectModel(types: companyTypes))
    let description = PersistentStoreDescription(url: url)
    description.historyRetention = retention
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  @Test func `saves keep the newest transactions, and those that a consumer needs`() throws {
    let folder = try TemporaryFolder()
    let container = try container(HistoryRetention(count: 10), at: folder.store)
    for number in 1...30 { try save("\(number)", in: container) }
    #expect(try container.history().count == 10)
    let indexer = try container.historyConsumer("indexer", lagLimit: 40)
    for number in 31...60 { try save("\(number)", in: container) }
    #expect(try container.history().count == 30)
    #expect(try indexer.nextBatch().transactions.count == 30)
    for number in 61...80 { try save("\(number)", in: container) }
    #expect(try container.history().count < 40)
    let error = heartwoodError { _ = try indexer.nextBatch() }
    #expect(error?.code == .persistentHistoryTokenExpired)
    #expect(error?.message.contains("has missed up to") == true)
    #expect(try indexer.status.isExpired)
    // Those that are deleted too; a number of theirs may be that of a transaction without a history.
    #expect((50...53).contains(try indexer.status.waitingCount))
    try indexer.restart()
    try save("81", in: container)
    #expect(try indexer.nextBatch().transactions.count == 1)
    for number in 82...120 { try save("\(number)", in: container) }
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    try container.close()
  }

  @Test func `a limit of bytes holds over saves without it and deletions by requests`() throws {
    var random = SplitMix64(seed: 7)
    let folder = try TemporaryFolder()
    let limit: UInt64 = 900
    for round in 0..<12 {
      // Every third program has no limit, and does not count.
      let retention = HistoryRetention(bytes: round % 3 == 2 ? nil : limit)
      let container = try container(retention, at: folder.store)
      for number in 0...random.below(25) { try save("\(number)", in: container) }
      if random.below(3) == 0 {
        let half = try container.history().dropFirst(2).first
        _ = try container.newBackgroundContext().execute(
          PersistentHistoryChangeRequest.deleteHistory(before: try #require(half)))
      }
      // Each save deletes up to eight records, so these are enough for what was not limited.
      for number in 0..<5 { try save("\(number)", in: container) }
      if retention.bytes != nil {
        let view = try container.persistentStoreCoordinator.historyStore(nil).newestView()
        var total: UInt64 = 0
        try view.scan(.prefix([KeySpace.history])) { _, value in
          total += UInt64(value.count)
          return true
        }
        #expect(total <= limit && total > 0, "round \(round)")
        let counted = try KeySpace.historyBytesKey.withUnsafeBytes { try view.reader.pointer(of: $0) }
          .map { try HistoryBytes(decoding: $0) }
        #expect(counted?.bytes == total, "round \(round)")
      }
      #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
      try container.close()
    }
  }

  @Test func `without a limit, what all consumers have seen is deleted`() throws {
    let folder = try TemporaryFolder()
    let container = try container(HistoryRetention(), at: folder.store)
    for number in 1...20 { try save("\(number)", in: container) }
    #expect(try container.history().count == 20)
    let consumers = try ["a", "b"].map { try container.historyConsumer($0, startingAt: .oldest) }
    try consumers[0].consume { _, _ in }
    try save("21", in: container)
    #expect(try container.history().count == 21)
    try consumers[1].consume { _, _ in }
    for number in 22...26 { try save("\(number)", in: container) }
    #expect(try container.history().map(\.transactionNumber).count == 6)
    #expect(try consumers[0].nextBatch().transactions.count == 6)
    try container.close()
  }

  @Test func `an age keeps young transactions`() throws {
    let folder = try TemporaryFolder()
    let container = try container(HistoryRetention(age: 3_600), at: folder.store)
    for number in 1...20 { try save("\(number)", in: container) }
    #expect(try container.history().count == 20)
    try container.close()
    let strict = try self.container(HistoryRetention(age: 0), at: folder.store)
    for number in 21...24 { try save("\(number)", in: strict) }
    #expect(try strict.history().count == 1)
    try strict.close()
  }

  @Test func `one transaction by a clock that was far ahead does not hold those after it`() {
    func record(_ seconds: Int64) -> HistoryRecord {
      HistoryRecord(
        number: 1, previous: 0, nanoseconds: seconds * 1_000_000_000, author: nil, contextName: nil,
        program: nil, changes: [])
    }
    let retention = HistoryRetention(age: 86_400)
    let now: Int64 = 1_780_000_000
    #expect(retention.isOver(record(now + 900_000_000), newest: record(now), 0, total: 0) == nil)
    #expect(retention.isOver(record(now - 86_401), newest: record(now), 0, total: 0) == true)
    #expect(retention.isOver(record(now + 5), newest: record(now), 0, total: 0) == false)
    #expect(retention.isOver(record(now - 86_399), newest: record(now), 0, total: 0) == false)
  }

  @Test func `limits count transactions, whatever else the store has written between`() throws {
    let folder = try TemporaryFolder()
    let container = try container(HistoryRetention(count: 50), at: folder.store)
    let indexer = try container.historyConsumer("indexer", lagLimit: 40)
    for number in 1...11 {
      try save("\(number)", in: container)
      _ = try container.persistentStoreCoordinator.reclaim()
    }
    #expect(try container.history().count == 11)
    #expect(try indexer.nextBatch().transactions.count == 11)
    try container.close()
  }

  @Test(arguments: [1, 5, 40] as [UInt64])
  func `a consumer that has seen all does not wait for its own transactions`(lagLimit: UInt64) throws {
    let folder = try TemporaryFolder()
    let container = try container(HistoryRetention(), at: folder.store)
    let indexer = try container.historyConsumer("indexer", lagLimit: lagLimit)
    for number in 1...100 {
      try save("\(number)", in: container, author: "indexer")
      #expect(try indexer.consume { _, _ in } == 0)
      #expect(try indexer.status.waitingCount < 20)
    }
    #expect(try container.history().count < 30)
    try save("other", in: container)
    #expect(try indexer.consume { _, _ in } == 1)
    try container.close()
  }

  // MARK: Waiting

  @Test func `the sequence of batches waits for saves of another coordinator`() async throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    let other = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    let indexer = try container.historyConsumer("indexer")
    let context = container.newBackgroundContext()
    var seen: [String] = []
    try save("0", in: other)
    for try await batch in indexer.batches(limit: 1) {
      seen += try await context.perform {
        try context.complete(batch)
        try context.save()
        return batch.objectIDs.compactMap { (context.object(with: $0) as? Person)?.name }
      }
      guard seen.count < 5 else { break }
      try save("\(seen.count)", in: seen.count % 2 == 0 ? container : other)
    }
    #expect(seen == ["0", "1", "2", "3", "4"])
    try other.close()
    try container.close()
  }

  // MARK: Random

  @Test(arguments: 0..<6) func `what consumers add up is what was saved, whatever fails between`(seed: UInt64)
    throws
  {
    let folder = try TemporaryFolder()
    let open = { try self.container(HistoryRetention(count: 3), at: folder.store) }
    var random = SplitMix64(seed: seed)
    var container = try open()
    var total: Int64 = 0
    for name in ["a", "b"] { _ = try container.historyConsumer(name) }
    for _ in 0..<60 {
      switch random.next() % 5 {
      case 0, 1:
        let context = container.newBackgroundContext()
        let age = Int64(random.next() % 100)
        _ = context.makePerson("person", age: age)
        total += age
        try context.save()
      case 2, 3:
        let name = ["a", "b"][Int(random.next() % 2)]
        let fails = random.next() % 3 == 0
        let limit = Int(random.next() % 3) + 1
        do {
          try container.historyConsumer(name).consume(limit: limit) { context, batch in
            try Self.add(batch, to: name, in: context)
            if fails { throw Refused() }
          }
        } catch is Refused {}
      default:
        try container.close()
        container = try open()
      }
    }
    for name in ["a", "b"] {
      try container.historyConsumer(name).consume { context, batch in
        try Self.add(batch, to: name, in: context)
      }
      let sum = try container.newBackgroundContext().fetch(Company.self, where: { $0.code == name }).first
      #expect((sum?.name ?? "0") == "\(total)", "seed \(seed)")
    }
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty, "seed \(seed)")
    try container.close()
  }

  /// Adds the ages of a batch's new persons to the sum that a company's name is.
  private static func add(_ batch: HistoryBatch, to code: String, in context: ManagedObjectContext) throws {
    var sum: Int64 = 0
    for change in batch.changes where change.changeType == .insert {
      sum += (try context.existingObject(with: change.changedObjectID) as? Person)?.age ?? 0
    }
    let known = try context.fetch(Company.self, where: { $0.code == code }).first
    let company = known ?? context.makeCompany(code)
    company.name = "\((Int64(company.name) ?? 0) + sum)"
  }

  @Test func `the consumers of several stores are each of one`() throws {
    let world = try SeveralStoresWorld()
    let library = try world.add("Library")
    let archive = try world.add("Archive")
    #expect(
      heartwoodError { _ = try world.coordinator.historyConsumer("one") }?.code == .persistentStoreOperation)
    let consumer = try world.coordinator.historyConsumer("one", of: archive)
    let context = world.context()
    context.assign(world.make("Writer", 1, in: context), to: library)
    try context.save()
    #expect(try consumer.nextBatch().transactions.isEmpty)
    context.assign(world.make("Writer", 2, in: context), to: archive)
    try context.save()
    #expect(try consumer.nextBatch().transactions.count == 1)
    // The objects that it writes are in the other store, and its position is in its own.
    try consumer.consume { context, _ in context.assign(world.make("Writer", 3, in: context), to: library) }
    #expect(try consumer.nextBatch().transactions.isEmpty)
    #expect(try world.coordinator.historyConsumers(of: library).isEmpty)
  }
}
