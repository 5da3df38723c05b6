import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

@Suite struct `Limits of a store in PostgreSQL` {
  private func world(_ options: [String: String], pool: Int = 4) throws -> PostgresWorld {
    try PostgresWorld(at: PostgresServer.shared.get().url(pool: pool, options: options))
  }

  /// A connection beside the store, in whose transaction a statement was executed.
  private func holding(_ world: PostgresWorld, _ sql: String) throws -> PostgresConnection {
    let connection = try PostgresConnection(PostgresAddress(world.url))
    try connection.run("BEGIN; \(sql)")
    return connection
  }

  @Test func `a statement that takes longer than its limit is cancelled, and the connection goes on`() throws
  {
    let world = try world(["statement_limit": "2"], pool: 1)
    let context = world.context()
    _ = context.makePerson("a")
    try context.save()
    let other = try holding(world, "LOCK TABLE \"\(world.schema)\".\"Person\"")
    let error = heartwoodError { _ = try world.context().fetch(Person.self) }
    #expect(error?.code == .persistentStoreTimeout, "\(String(describing: error))")
    _ = context.makePerson("b")
    let second = heartwoodError { try context.save() }
    #expect(second?.code == .persistentStoreTimeout, "\(String(describing: second))")
    try other.run("COMMIT")
    try context.save()
    #expect(try world.context().count(Person.self) == 2)
  }

  @Test func `a save that waits too long for a lock is tried again, and then an error of its own`() throws {
    let world = try world(["lock_limit": "0.05", "attempts": "3"])
    let context = world.context()
    let person = context.makePerson("a")
    try context.save()
    let other = try holding(world, "UPDATE \"\(world.schema)\".\"Person\" SET nick = 'x'")
    person.name = "b"
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .persistentStoreTimeout && error?.isOutcomeUnknown == false)
    try other.run("ROLLBACK")
    try context.save()
    #expect(try world.context().fetch(Person.self).map(\.name) == ["b"])
  }

  @Test func `calls wait for a connection as long, and as many, as the limits say`() throws {
    let world = try world(["pool_limit": "0.2", "pool_waiters": "1"], pool: 1)
    let context = world.context()
    _ = context.makePerson("a")
    try context.save()
    let other = try holding(world, "LOCK TABLE \"\(world.schema)\".\"Person\"")
    let first = Answer { try world.context().count(Person.self) }
    try world.wait(
      until:
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%\(world.schema)%'"
    )
    let second = heartwoodError { _ = try world.context().count(Person.self) }
    #expect(second?.code == .persistentStoreTimeout && second?.message.contains("within 0.2 s") == true)
    try other.run("COMMIT")
    #expect(try first.get() == 1)
    #expect(try world.context().count(Person.self) == 1)

    let full = try self.world(["pool_waiters": "0"], pool: 1)
    let holder = try holding(full, "LOCK TABLE \"\(full.schema)\".\"Person\"")
    let waiting = Answer { try full.context().count(Person.self) }
    try full.wait(
      until:
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%\(full.schema)%'"
    )
    #expect(
      heartwoodError { _ = try full.context().count(Person.self) }?.message.contains("wait for one already")
        == true)
    try holder.run("COMMIT")
    #expect(try waiting.get() == 0)
  }

  @Test func `a cancelled task ends the statement of its fetch`() async throws {
    let world = try world([:], pool: 1)
    let context = world.context()
    try await context.perform {
      _ = context.makePerson("a")
      try context.save()
    }
    let other = try holding(world, "LOCK TABLE \"\(world.schema)\".\"Person\"")
    let waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%\(world.schema)%'"
    let task = Task { try await context.perform { try context.fetch(Person.self).count } }
    try world.wait(until: waiting)
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(try world.sql(waiting).integer(0, 0) == 0)
    try other.run("COMMIT")
    #expect(try await context.perform { try context.fetch(Person.self).count } == 1)
  }

  @Test(arguments: ["40001", "40P01"])
  func `a transaction that others were in the way of is tried again as a whole, as often as the limit says`(
    state: String
  )
    throws
  {
    let server = try PostgresServer.shared.get()
    let proxy = try WireProxy(to: server.folder.path)
    defer { proxy.close() }
    let world = try PostgresWorld(at: server.url(hosts: [proxy.folder], options: ["attempts": "3"]))
    let context = world.context()
    let counter = context.makeCompany("counter")
    counter.size = 0
    try context.save()
    // Each message of a client once.
    var number = 0
    let seen = Seen()
    repeat {
      number += 1
      seen.begin(at: number)
      counter.size = Int64(number)
      for name in 0..<2 { _ = context.makePerson("\(number) \(name)") }
      proxy.setRule { message in
        message.isFromClient && "QPB".contains(message.type) && seen.isThere(message) ? .refuse(state) : .pass
      }
      try context.save()
      proxy.clear()
      #expect(try world.context().fetch(Company.self).map(\.size) == [Int64(number)])
      #expect(try world.context().count(Person.self) == number * 2)
    } while seen.wasMet
    #expect(number > 4)
    // The commit, each time.
    proxy.setRule { $0.type == "Q" && $0.text.contains("; COMMIT") ? .refuse(state) : .pass }
    counter.size = -1
    let error = heartwoodError { try context.save() }
    #expect(error?.code == .persistentStoreSaveConflicts && error?.isOutcomeUnknown == false)
    proxy.clear()
    #expect(try world.context().fetch(Company.self).map(\.size) == [Int64(number)])
    try context.save()
    #expect(try world.context().fetch(Company.self).map(\.size) == [-1])
  }
}

/// The statements of a save in a transaction, counted.
final class Seen: @unchecked Sendable {
  private var (number, wanted, isInTransaction, isMet) = (0, 0, false, false)

  func begin(at wanted: Int) { (number, self.wanted, isInTransaction, isMet) = (0, wanted, false, false) }

  func isThere(_ message: WireProxy.Message) -> Bool {
    if message.type == "Q", message.text.hasPrefix("BEGIN") { isInTransaction = true }
    guard isInTransaction, !(message.type == "Q" && message.text.hasPrefix("ROLLBACK")) else { return false }
    number += 1
    if number == wanted { isMet = true }
    if message.type == "Q", message.text.contains("; COMMIT") { isInTransaction = false }
    return number == wanted
  }

  var wasMet: Bool { isMet }
}
