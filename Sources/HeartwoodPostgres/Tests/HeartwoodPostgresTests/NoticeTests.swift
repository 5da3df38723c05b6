import Dispatch
import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// Waits for a value that other threads set.
private final class Awaited<Value: Sendable>: @unchecked Sendable {
  private let condition = NSCondition()
  private var values: [Value] = []

  func add(_ value: Value) {
    condition.withLock {
      values.append(value)
      condition.broadcast()
    }
  }

  @discardableResult
  func wait(until isEnough: ([Value]) -> Bool) -> [Value] {
    condition.lock()
    defer { condition.unlock() }
    while !isEnough(values) { condition.wait() }
    return values
  }
}

/// Saves of other coordinators are told.
@Suite struct `Notices of saves in PostgreSQL` {
  @Test func `a save of another program posts a notification with the position in the history`() throws {
    let server = try PostgresServer.shared.get()
    let world = try PostgresWorld(at: server.url(), postsRemoteChanges: true)
    let other = try PostgresWorld(at: world.url)
    let tokens = Awaited<UInt64>()
    let coordinator = world.container.persistentStoreCoordinator
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreRemoteChange, object: coordinator, queue: nil
    ) { notification in
      let key = PersistentStoreCoordinator.NotificationKey.persistentHistoryToken.rawValue
      if let token = notification.userInfo?[key] as? PersistentHistoryToken {
        tokens.add(token.transactionNumber)
      }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let context = other.context()
    _ = context.makePerson("a")
    try context.save()
    tokens.wait { $0.contains(1) }
    _ = try context.execute(BatchInsertRequest(entityName: "House", objects: [["street": "s"]]))
    tokens.wait { $0.contains(2) }
  }

  @Test
  func
    `a context that follows others merges what another program saves, and not its own coordinator's saves`()
    throws
  {
    let world = try PostgresWorld()
    let other = try PostgresWorld(at: world.url)
    let context = world.context()
    let (first, second) = (context.makePerson("before"), context.makePerson("gone"))
    try context.save()
    let merged = Awaited<[String]>()
    // Used on the queue of the context.
    nonisolated(unsafe) let (person, gone) = (first, second)
    context.automaticallyMergesRemoteChanges = true
    let observer = NotificationCenter.default.addObserver(
      forName: .managedObjectContextDidMergeChangesObjectIDs, object: context, queue: nil
    ) { _ in merged.add([person.name, gone.isDeleted ? "deleted" : gone.name]) }
    defer { NotificationCenter.default.removeObserver(observer) }
    let others = other.context()
    let found = try #require(try others.fetch(Person.self, where: { $0.name == "before" }).first)
    found.name = "after"
    try others.fetch(Person.self, where: { $0.name == "gone" }).forEach(others.delete)
    try others.save()
    merged.wait { $0.contains(["after", "deleted"]) }
  }

  @Test func `a live query follows another program`() async throws {
    let world = try PostgresWorld()
    let other = try PostgresWorld(at: world.url)
    let request = FetchRequest<Person>(entityName: "Person")
    var results = world.container.liveQuery(request, followsOtherProcesses: true).makeAsyncIterator()
    #expect(try await results.next()?.objectIDs.count == 0)
    let context = other.context()
    for number in 1...3 {
      try context.performAndWait {
        _ = context.makePerson("\(number)")
        try context.save()
      }
      var count = 0
      while count < number { count = try await results.next()?.objectIDs.count ?? .max }
      #expect(count == number)
    }
  }

  @Test func `a consumer gets batches as another program saves`() async throws {
    let world = try PostgresWorld()
    let other = try PostgresWorld(at: world.url)
    let consumer = try world.container.historyConsumer("following")
    var batches = consumer.batches().makeAsyncIterator()
    let context = other.context()
    for number in 1...2 {
      try context.performAndWait {
        _ = context.makePerson("\(number)")
        try context.save()
      }
      let batch = try #require(try await batches.next())
      #expect(batch.transactions.map(\.transactionNumber) == [Int64(number)])
      let own = world.context()
      try own.performAndWait {
        try own.complete(batch)
        try own.save()
      }
    }
  }

  @Test func `live results and a consumer of the history of another process see the saves of this one`()
    throws
  {
    let world = try PostgresWorld()
    let follower = try OtherProcess(
      "postgres-cluster-worker", ["follow", world.url.absoluteString, "Person"])
    defer { follower.process.terminate() }
    #expect(follower.readUntil("results 0\n"))
    for number in 1...5 {
      let context = world.context()
      context.transactionAuthor = "save\(number)"
      _ = context.makePerson("\(number)")
      try context.save()
      #expect(follower.readUntil("results \(number)\n"), "\(follower.said)")
      #expect(follower.readUntil("history \(number) save\(number)\n"), "\(follower.said)")
    }
    // Also what was saved while its connections were lost.
    let context = world.context()
    _ = context.makePerson("6")
    _ = try world.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN \"heartwood \(world.store.identifier)%'"
    )
    try context.save()
    #expect(follower.readUntil("results 6\n"), "\(follower.said)")
    #expect(follower.readUntil("history 6 -\n"), "\(follower.said)")
  }

  @Test func `after a lost connection the store listens again, and says what was saved meanwhile`() throws {
    let server = try PostgresServer.shared.get()
    let world = try PostgresWorld(at: server.url())
    let other = try PostgresWorld(at: world.url)
    let context = world.context()
    let made = context.makePerson("before")
    try context.save()
    let merged = Awaited<String>()
    // Used on the queue of the context.
    nonisolated(unsafe) let person = made
    context.automaticallyMergesRemoteChanges = true
    let observer = NotificationCenter.default.addObserver(
      forName: .managedObjectContextDidMergeChangesObjectIDs, object: context, queue: nil
    ) { _ in merged.add(person.name) }
    defer { NotificationCenter.default.removeObserver(observer) }
    // Ends the listening session: its last statement names its channel.
    let channel = "heartwood \(world.container.persistentStoreCoordinator.persistentStores[0].identifier)"
    let ended = try other.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN \"\(channel)\"'")
    #expect(ended.count == 1)
    let others = other.context()
    try others.fetch(Person.self).first?.name = "after"
    try others.save()
    merged.wait { $0.contains("after") }
    try others.fetch(Person.self).first?.name = "later"
    try others.save()
    merged.wait { $0.contains("later") }
  }

  @Test func `closing the store ends its thread and its connection`() throws {
    let server = try PostgresServer.shared.get()
    let world = try PostgresWorld(at: server.url(), postsRemoteChanges: true)
    let other = try PostgresWorld(at: world.url)
    let channel = "heartwood \(world.container.persistentStoreCoordinator.persistentStores[0].identifier)"
    let sql = "SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN \"\(channel)\"'"
    #expect(try other.sql(sql).count == 1)
    try world.container.close()
    try waitUntil { try other.sql(sql).count == 0 }
  }
}
