import Dispatch
import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// Whose values stay in the history.
private final class Kept: ManagedObject {
  @Attribute(.preservesValueInHistoryOnDeletion) var number = 0
  @Attribute(.preservesValueInHistoryOnDeletion) var double: Double?
  @Attribute(.preservesValueInHistoryOnDeletion) var decimal: Decimal?
  @Attribute(.preservesValueInHistoryOnDeletion) var flag: Bool?
  @Attribute(.preservesValueInHistoryOnDeletion) var text: String?
  @Attribute(.preservesValueInHistoryOnDeletion) var date: Date?
  @Attribute(.preservesValueInHistoryOnDeletion) var data: Data?
  @Attribute(.preservesValueInHistoryOnDeletion) var uuid: UUID?
  @Attribute var other = "not kept"
}

/// The history of a store in PostgreSQL, and its consumers.
@Suite struct `History in PostgreSQL` {
  private func history(
    _ world: PostgresWorld, after token: PersistentHistoryToken? = nil
  ) throws -> [PersistentHistoryTransaction] {
    try world.container.history(after: token)
  }

  @Test func `each save is a transaction with its author, its changes and its properties`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    (context.transactionAuthor, context.name) = ("ann", "editing")
    let company = context.makeCompany("A")
    let person = context.makePerson("1", in: company)
    try context.save()
    person.age = 7
    company.partners = [context.makeCompany("B")]
    try context.save()
    let token = try #require(world.container.currentHistoryToken)
    context.delete(person)
    try context.save()

    let all = try history(world)
    #expect(all.map(\.transactionNumber) == [1, 2, 3])
    #expect(all.allSatisfy { $0.author == "ann" && $0.contextName == "editing" && $0.processID != nil })
    #expect(abs(all[0].timestamp.timeIntervalSinceNow) < 600)
    func kinds(_ place: Int) -> Set<String> {
      Set((all[place].changes ?? []).map { "\($0.changeType) \($0.changedObjectID.entity.name ?? "")" })
    }
    #expect(kinds(0) == ["insert Company", "insert Person"])
    #expect(kinds(1) == ["insert Company", "update Company", "update Person"])
    let updates = (all[1].changes ?? []).filter { $0.changeType == .update }
    let names = Dictionary(
      uniqueKeysWithValues: updates.map { ($0.changedObjectID.entity.name ?? "", $0.updatedProperties ?? []) }
    )
    #expect(names["Person"]?.map(\.name) == ["age"])
    #expect(names["Company"]?.map(\.name) == ["partners"])
    let since = try history(world, after: token)
    #expect(since.map(\.transactionNumber) == [3])
    #expect(
      since.first?.changes?.contains { $0.changeType == .delete && $0.changedObjectID == person.objectID }
        == true)
  }

  @Test func `values that are to be kept stay in the history of a deleted object`() throws {
    let world = try PostgresWorld(types: [Kept.self])
    let context = world.context()
    let thing = Kept(context: context)
    let uuid = UUID()
    (thing.number, thing.decimal, thing.text, thing.uuid) = (5, Decimal(string: "1.25"), "text", uuid)
    (thing.flag, thing.data, thing.double) = (true, Data([1, 2]), -0.1)
    thing.date = Date(timeIntervalSinceReferenceDate: 0.1)
    try context.save()
    context.delete(thing)
    try context.save()
    let tombstone = try #require(try history(world).last?.changes?.first?.tombstone)
    #expect(tombstone["number"] as? Int == 5 && tombstone["other"] == nil)
    #expect(tombstone["decimal"] as? Decimal == Decimal(string: "1.25"))
    #expect(tombstone["text"] as? String == "text")
    #expect(tombstone["uuid"] as? UUID == uuid)
    #expect(tombstone["flag"] as? Bool == true)
    #expect(tombstone["data"] as? Data == Data([1, 2]))
    #expect(tombstone["double"] as? Double == -0.1)
    #expect(tombstone["date"] as? Date == Date(timeIntervalSinceReferenceDate: 0.1))
  }

  @Test func `batches are in the history with all that they change`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    context.transactionAuthor = "batch"
    let company = context.makeCompany("A")
    _ = context.makePerson("0", in: company)
    try context.save()
    let token = try #require(world.container.currentHistoryToken)
    let rows: [[String: Any]] = [["name": "1", "age": 1], ["name": "2", "age": 2]]
    _ = try context.execute(BatchInsertRequest(entityName: "Person", objects: rows))
    let update = BatchUpdateRequest(entityName: "Person")
    update.propertiesToUpdate = ["age": 9]
    _ = try context.execute(update)
    let request = FetchRequest<Company>(entityName: "Company")
    _ = try context.execute(BatchDeleteRequest(fetchRequest: request))
    let found = try history(world, after: token)
    #expect(found.map(\.author) == ["batch", "batch", "batch"])
    func counts(_ place: Int) -> [String: Int] {
      Dictionary(
        (found[place].changes ?? []).map { ("\($0.changeType) \($0.changedObjectID.entity.name ?? "")", 1) },
        uniquingKeysWith: +)
    }
    #expect(counts(0) == ["insert Person": 2])
    #expect(counts(1) == ["update Person": 3])
    #expect(counts(2) == ["delete Company": 1, "delete Person": 1])
    #expect(found[1].changes?.allSatisfy { $0.updatedProperties?.map(\.name) == ["age"] } == true)
  }

  @Test func `a transaction that commits late has a number that no reader has passed`() throws {
    // Two sessions write in one order, and commit in the other one. The first takes its number last.
    let world = try PostgresWorld()
    let first = world.context()
    _ = first.makePerson("a")
    let (store, url) = (
      try #require(world.container.persistentStoreCoordinator.persistentStores.first), world.url
    )
    let postgres = try #require(store as? PostgresStore)
    let early = try PostgresConnection(PostgresAddress(url))
    // It has begun, and written objects, before the other one.
    try early.run("BEGIN")
    try early.run("INSERT INTO \"\(world.schema)\".\"House\" (_id, _version) VALUES (1000001, 1)")
    try first.save()
    let token = try #require(world.container.currentHistoryToken)
    #expect(token.transactionNumber == 1)
    // The number of the early one is taken at its end, while it holds the lock of the ends.
    try early.run(
      "WITH e AS (UPDATE \(postgres.history.ends) SET newest = newest + 1 RETURNING newest) "
        + "INSERT INTO \(postgres.history.transactions) (number, made) SELECT newest, 0 FROM e")
    let saved = DispatchSemaphore(value: 0)
    let second = world.context()
    _ = second.makePerson("b")
    Thread.detachNewThread {
      try? second.performAndWait { try second.save() }
      saved.signal()
    }
    // The later save waits for the early one to commit: until then there is nothing after the token, and never a gap.
    try waitUntil { try world.sql("SELECT 1 FROM pg_locks WHERE NOT granted").count > 0 }
    #expect(try history(world, after: token).isEmpty)
    try early.run("COMMIT")
    saved.wait()
    #expect(try history(world, after: token).map(\.transactionNumber) == [2, 3])
  }

  @Test func `many threads save, and a reader of each new part sees every transaction once`() throws {
    let world = try PostgresWorld(at: try PostgresServer.shared.get().url(pool: 12))
    let (writers, saves) = (6, 25)
    let group = DispatchGroup()
    for writer in 0..<writers {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        let context = world.context()
        context.performAndWait {
          for save in 0..<saves {
            _ = context.makePerson("\(writer).\(save)")
            do { try context.save() } catch { Issue.record("\(error)") }
          }
        }
      }
    }
    var (token, seen, names) = (PersistentHistoryToken?.none, [Int64](), Set<ManagedObjectID>())
    var isLast = false
    while true {
      isLast = group.wait(timeout: .now()) == .success
      let found = try history(world, after: token)
      seen += found.map(\.transactionNumber)
      for transaction in found { names.formUnion((transaction.changes ?? []).map(\.changedObjectID)) }
      token = found.last?.token ?? token
      if isLast { break }
    }
    #expect(seen == (1...Int64(writers * saves)).map { $0 })
    #expect(names.count == writers * saves)
  }

  @Test func `a deleted history is gone for tokens before it, and later transactions go on`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    for number in 0..<5 {
      context.transactionAuthor = number < 2 ? "a" : "b"
      _ = context.makePerson("\(number)")
      try context.save()
    }
    let all = try history(world)
    let byAuthor = PersistentHistoryChangeRequest.deleteHistory(before: all[4])
    byAuthor.author = "a"
    #expect(try context.execute(byAuthor).count == 2)
    #expect(try history(world).map(\.transactionNumber) == [3, 4, 5])
    #expect(try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: all[3])).count == 1)
    #expect(
      heartwoodError { _ = try history(world, after: all[0].token) }?.code == .persistentHistoryTokenExpired)
    #expect(try history(world, after: all[2].token).map(\.transactionNumber) == [4, 5])
    #expect(
      try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture)).count == 2
    )
    #expect(try history(world).isEmpty)
    _ = context.makePerson("last")
    try context.save()
    #expect(try history(world).map(\.transactionNumber) == [6])
  }

  @Test func `a store with a history is not opened without, and one without records nothing`() throws {
    let first = try PostgresWorld()
    let context = first.context()
    _ = context.makePerson("a")
    try context.save()
    #expect(
      heartwoodError { _ = try PostgresWorld(at: first.url, tracksHistory: false) }?.code
        == .persistentStoreOpen)
    let plain = try PostgresWorld(tracksHistory: false)
    let other = plain.context()
    _ = other.makePerson("a")
    try other.save()
    #expect(try history(plain).isEmpty)
    // Another program begins to record: from then on this one's saves are recorded, too.
    let tracking = try PostgresWorld(at: plain.url)
    let third = tracking.context()
    _ = third.makePerson("b")
    try third.save()
    _ = other.makePerson("c")
    try other.save()
    #expect(try history(tracking).count == 2)
  }

  @Test func `a store that was made before there was a history gets its tables when it is opened`() throws {
    let first = try PostgresWorld(tracksHistory: false)
    try first.container.close()
    for table in PostgresHistory(schema: first.schema).tables { _ = try first.sql("DROP TABLE \(table)") }
    let world = try PostgresWorld(at: first.url)
    let context = world.context()
    _ = context.makePerson("a")
    try context.save()
    #expect(try history(world).count == 1)
  }

  @Test func `a consumer sees each transaction once, and its position is saved with its work`() throws {
    let world = try PostgresWorld()
    let context = world.context()
    let consumer = try world.container.historyConsumer("counting", startingAt: .oldest)
    for number in 0..<5 {
      _ = context.makePerson("\(number)")
      try context.save()
    }
    var seen = 0
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try consumer.consume(limit: 2) { context, batch in
        if batch.transactions[0].transactionNumber > 2 { throw Stop() }
        seen += batch.changes.count
        _ = context.makeCompany("\(batch.end.transactionNumber)")
      }
    }
    #expect(seen == 2)
    #expect(try consumer.status.position.transactionNumber == 2)
    // Another process goes on from there.
    let other = try PostgresWorld(at: world.url)
    let same = try other.container.historyConsumer("counting")
    #expect(try same.consume { _, batch in seen += batch.changes.count } == 3)
    #expect(seen == 5)
    #expect(try world.container.persistentStoreCoordinator.historyConsumers().map(\.name) == ["counting"])
    // Two that take the same batch: one of them saves.
    _ = context.makePerson("last")
    try context.save()
    let (left, right) = (try consumer.nextBatch(), try same.nextBatch())
    let (one, two) = (world.context(), other.context())
    try one.complete(left)
    _ = one.makeCompany("one")
    try one.save()
    try two.complete(right)
    _ = two.makeCompany("two")
    #expect(heartwoodError { try two.save() }?.code == .persistentStoreSaveConflicts)
    #expect(try world.context().count(Company.self, where: { $0.code == "two" }) == 0)
    try consumer.unregister()
    #expect(try world.container.persistentStoreCoordinator.historyConsumers().isEmpty)
  }
}

/// Waits until the condition is true: what is waited for is in another process, which says nothing.
func waitUntil(_ condition: () throws -> Bool) rethrows {
  while try !condition() { sched_yield() }
}
