import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// A store behind a proxy, with a row that each save counts up.
struct CutWorld {
  let proxy: WireProxy
  let world: PostgresWorld
  /// Beside the proxy.
  let direct: PostgresWorld

  init(_ options: [String: String]) throws {
    let server = try PostgresServer.shared.get()
    proxy = try WireProxy(to: server.folder.path)
    let url = server.url(hosts: [proxy.folder], options: options)
    world = try PostgresWorld(at: url)
    direct = try PostgresWorld(at: server.url(schema: world.schema))
    let context = world.context()
    context.makeCompany("counter").size = 0
    context.makeCompany("gone").size = 0
    try context.save()
  }

  /// Changes that a save writes: new objects, an update, a deletion and a relationship.
  func change(_ number: Int, in context: ManagedObjectContext) throws {
    let counter = try #require(try context.fetch(Company.self, where: { $0.code == "counter" }).first)
    counter.size = (counter.size ?? 0) + 1
    let company = context.makeCompany("S\(number)")
    for name in 0..<3 { _ = context.makePerson("\(name)", in: company) }
    let gone = try #require(try context.fetch(Company.self, where: { $0.name == "gone" }).first)
    context.delete(gone)
    context.makeCompany("gone \(number)").name = "gone"
  }

  /// Whether a save is there: as a whole, or not at all.
  func has(_ number: Int, counted: inout Int64) throws -> Bool {
    let context = direct.context()
    let found = try context.fetch(Company.self, where: { $0.code == "S\(number)" })
    #expect(found.count <= 1)
    let size = try context.fetch(Company.self, where: { $0.code == "counter" }).first?.size ?? -1
    #expect(size == counted + Int64(found.count))
    #expect((found.first?.people.count ?? 3) == 3)
    #expect(try context.count(Company.self, where: { $0.code == "gone \(number)" }) == found.count)
    #expect(try context.count(Company.self, where: { $0.name == "gone" }) == 1)
    counted = size
    return !found.isEmpty
  }
}

/// A message at which something happens, counted from the first one of a save.
final class Place: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0
  private var wasMet = false

  /// Whether it is the message of a number.
  func isAt(_ wanted: Int) -> Bool {
    lock.withLock {
      number += 1
      if number == wanted { wasMet = true }
      return number == wanted
    }
  }

  var isMet: Bool { lock.withLock { wasMet } }
}

@Suite struct `A connection that is lost` {
  @Test(arguments: [false, true])
  func `a save is there once, whichever of its messages is the last one of the connection`(arrives: Bool)
    throws
  {
    let cut = try CutWorld(["reconnect_limit": "20"])
    defer { cut.proxy.close() }
    var (number, counted) = (0, Int64(0))
    while true {
      number += 1
      let place = Place()
      let context = cut.world.context()
      try cut.change(number, in: context)
      cut.proxy.setRule { [number] _ in place.isAt(number) ? arrives ? .cutAfter : .cutBefore : .pass }
      try context.save()
      cut.proxy.clear()
      #expect(try cut.has(number, counted: &counted))
      guard place.isMet else { break }
    }
    #expect(number > 20)
    print("\(number - 1) messages of a save were the last ones")
  }

  @Test(arguments: [false, true])
  func `without a server, a save is not there, or its outcome is unknown and can be asked later`(
    arrives: Bool
  ) throws {
    let cut = try CutWorld(["reconnect_limit": "0"])
    defer { cut.proxy.close() }
    let store = try cut.world.store
    var (number, counted) = (0, Int64(0))
    var outcomes: [PostgresStore.Outcome: Int] = [:]
    while true {
      number += 1
      let place = Place()
      let context = cut.world.context()
      try cut.change(number, in: context)
      cut.proxy.setRule { [number, proxy = cut.proxy] _ in
        guard place.isAt(number) else { return .pass }
        proxy.refuseFromRule()
        return arrives ? .cutAfter : .cutBefore
      }
      let error = heartwoodError { try context.save() }
      cut.proxy.clear()
      var isThere = error == nil
      if let error {
        #expect(error.code == .persistentStoreSave || error.code == .persistentStoreOperation)
        let id = error.postgresTransaction
        #expect(error.isOutcomeUnknown == (id != nil))
        if let id {
          #expect(error.message.contains("\(id)"))
          let outcome = try store.outcome(of: id)
          outcomes[outcome, default: 0] += 1
          #expect(outcome != .unknown)
          isThere = outcome == .committed
          // The answer stays.
          #expect(try store.outcome(of: try #require(PostgresTransactionID("\(id)"))) == outcome)
        }
      }
      #expect(try cut.has(number, counted: &counted) == isThere)
      if !isThere {
        // It may have objects that could not be read.
        context.reset()
        try cut.change(number, in: context)
        try context.save()
        #expect(try cut.has(number, counted: &counted))
      }
      guard place.isMet else { break }
    }
    #expect(number > 20)
    print("outcomes that were asked later: \(outcomes)")
    #expect(outcomes[.committed] ?? 0 > 0 && (arrives || outcomes[.aborted] ?? 0 > 0))
  }

  @Test func `a transaction that comes after its outcome was asked is refused`() throws {
    let cut = try CutWorld([:])
    defer { cut.proxy.close() }
    let store = try cut.world.store
    let id = PostgresTransactionID()
    #expect(try store.outcome(of: id) == .aborted)
    let error = #expect(throws: PostgresFailure.self) {
      _ = try cut.world.sql("INSERT INTO \(store.schema.transactionTable) (id) VALUES ('\(id)')")
    }
    #expect(error?.isUniquenessViolation == true)
    #expect(abs(id.date.timeIntervalSinceNow) < 60)
    let old = PostgresTransactionID.first(at: Date(timeIntervalSinceNow: -100_000))
    #expect(try store.outcome(of: old) == .unknown)
  }

  @Test
  func
    `identifiers of transactions are deleted when they cannot be asked for any more, and their table is made where it is missing`()
    throws
  {
    let cut = try CutWorld([:])
    defer { cut.proxy.close() }
    let store = try cut.world.store
    let table = try #require(store.schema).transactionTable
    let before = try cut.world.sql("SELECT count(*) FROM \(table)").integer(0, 0)
    #expect(before > 0)
    let old = PostgresTransactionID.first(at: Date(timeIntervalSinceNow: -200_000))
    _ = try cut.world.sql("INSERT INTO \(table) (id, made) VALUES ('\(old)', now() - interval '200000 s')")
    // One by the clock of a process that is wrong.
    let wrong = PostgresTransactionID.first(at: Date(timeIntervalSinceNow: -300_000))
    _ = try cut.world.sql("INSERT INTO \(table) (id) VALUES ('\(wrong)')")
    try store.deleteOldTransactions()
    #expect(try cut.world.sql("SELECT count(*) FROM \(table)").integer(0, 0) == before + 1)
    #expect(try cut.world.sql("SELECT count(*) FROM \(table) WHERE id = '\(wrong)'").integer(0, 0) == 1)
    try cut.world.container.close()
    _ = try cut.world.sql("DROP TABLE \(table)")
    let again = try PostgresWorld(at: cut.world.url)
    let context = again.context()
    _ = context.makeCompany("new")
    try context.save()
    #expect(try cut.world.sql("SELECT count(*) FROM \(table)").integer(0, 0) == 1)
  }

  @Test func `the outcome of a transaction that still runs is waited for`() throws {
    let cut = try CutWorld(["reconnect_limit": "20"])
    defer { cut.proxy.close() }
    let store = try cut.world.store
    for commits in [true, false] {
      let id = PostgresTransactionID()
      let other = try PostgresConnection(PostgresAddress(cut.direct.url))
      try other.run("BEGIN; INSERT INTO \(store.schema.transactionTable) (id) VALUES ('\(id)')")
      let asked = Answer { try store.outcome(of: id) }
      try cut.direct.wait(
        until:
          "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%is_aborted%'"
      )
      try other.run(commits ? "COMMIT" : "ROLLBACK")
      #expect(try asked.get() == (commits ? .committed : .aborted))
    }
  }

  @Test
  func
    `a fetch and a batch find a new connection, and rows of a batch that were read are not asked for again`()
    throws
  {
    let cut = try CutWorld(["reconnect_limit": "20"])
    defer { cut.proxy.close() }
    let context = cut.world.context()
    for number in 0..<10 { _ = context.makePerson("\(number)", age: Int64(number)) }
    try context.save()
    for number in 1..<12 {
      let place = Place()
      cut.proxy.setRule { [number] _ in place.isAt(number) ? .cutBefore : .pass }
      #expect(try cut.world.context().fetch(Person.self).count == 10)
    }
    for number in 1..<20 {
      let place = Place()
      cut.proxy.setRule { _ in place.isAt(number) ? .cutAfter : .pass }
      let update = BatchUpdateRequest(entityName: "Person")
      update.propertiesToUpdate = ["age": try FormatExpression("age + 1")]
      try context.execute(update)
      cut.proxy.clear()
      let ages = try cut.direct.context().fetch(Person.self, sort: [.ascending(\.name)]).map(\.age)
      #expect(ages == (0..<10).map { Int64($0 + number) })
    }
  }
}
