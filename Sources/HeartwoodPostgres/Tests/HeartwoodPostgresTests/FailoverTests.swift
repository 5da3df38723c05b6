import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

@Suite(.serialized) struct `A primary with a standby` {
  /// A primary whose commits wait for its standby.
  private struct Pair {
    let primary: PostgresServer
    let standby: PostgresServer

    init(isSynchronous: Bool = true) throws {
      primary = try PostgresServer(isDurable: true)
      standby = try PostgresServer(standbyOf: primary)
      guard isSynchronous else { return }
      let connection = try self.connection(primary)
      // The standby has none of its own.
      try connection.run("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
      try connection.run("SELECT pg_reload_conf()")
    }

    func connection(_ server: PostgresServer) throws -> PostgresConnection {
      try PostgresConnection(PostgresAddress(server.url(schema: "public")))
    }

    func url(_ options: [String: String] = [:]) -> URL {
      primary.url(
        schema: "pair", hosts: [primary.folder.path, standby.folder.path],
        options: ["reconnect_limit": "60"].merging(options) { $1 })
    }
  }

  @Test func `counters and sums are exact when the primary is killed and the standby takes over`() throws {
    let pair = try Pair()
    let world = try PostgresWorld(at: pair.url())
    let writers = 3
    do {
      let context = world.context()
      for writer in 0..<writers { context.makeCompany("W\(writer)").size = 0 }
      context.makeCompany("all").size = 0
      try context.save()
    }
    let ledger = Ledger(writers)
    let threads = (0..<writers).map { writer in
      Answer {
        defer { ledger.end() }
        let context = world.context()
        while let number = ledger.next(writer) {
          try context.performAndWait {
            while true {
              context.refreshAllObjects()
              for code in ["W\(writer)", "all"] {
                let company = try #require(try context.fetch(Company.self, where: { $0.code == code }).first)
                company.size = (company.size ?? 0) + 1
              }
              _ = context.makePerson("\(writer) \(number)")
              do {
                try context.save()
                break
              } catch let error as HeartwoodError
                where error.code == .managedObjectMerge || error.code == .persistentStoreSaveConflicts
              {
                // Another writer has counted; nothing of this is there.
                context.rollback()
              }
            }
          }
          ledger.note(writer)
        }
      }
    }
    ledger.wait(for: 30)
    try pair.primary.kill()
    try pair.standby.promote()
    ledger.stop(after: 60)
    for thread in threads { try thread.get() }
    let reading = world.context()
    let sizes = try reading.fetch(Company.self, sort: [.ascending(\.code)]).map(\.size)
    #expect(sizes == (0..<writers).map { Int64(ledger.counts[$0]) } + [Int64(ledger.counts.reduce(0, +))])
    #expect(try reading.count(Person.self) == ledger.counts.reduce(0, +))
    print("saves that were told to be there: \(ledger.counts)")
  }

  @Test
  func
    `a commit that waits for its standby is not cancelled, and its outcome is known when the standby is there again`()
    throws
  {
    let pair = try Pair()
    let world = try PostgresWorld(
      at: pair.primary.url(
        schema: "pair", options: ["statement_limit": "2", "reconnect_limit": "0.5"]))
    let context = world.context()
    _ = context.makePerson("a")
    try context.save()
    try pair.standby.kill()
    _ = context.makePerson("b")
    let error = heartwoodError { try context.save() }
    #expect(error?.isOutcomeUnknown == true)
    let id = try #require(error?.postgresTransaction)
    #expect(try world.store.outcome(of: id) == .unknown)
    #expect(try world.context().count(Person.self) == 1)
    try pair.standby.restart()
    var outcome = PostgresStore.Outcome.unknown
    for _ in 0..<100 where outcome == .unknown { outcome = try world.store.outcome(of: id) }
    #expect(outcome == .committed)
    #expect(try world.context().count(Person.self) == 2)
  }

  @Test func `a replica is read when it is near enough, and has what this process has saved`() throws {
    let pair = try Pair(isSynchronous: false)
    let replica = pair.standby.folder.path
    let world = try PostgresWorld(
      at: pair.primary.url(schema: "pair", options: ["replicas": replica, "replica_lag": "60"]))
    let standby = try pair.connection(pair.standby)
    func reads() throws -> Int64 {
      try standby.query(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'Heartwood' AND pid <> pg_backend_pid()"
      ).integer(0, 0)
    }
    let context = world.context()
    let company = context.makeCompany("A")
    for number in 0..<4 { _ = context.makePerson("\(number)", in: company) }
    try context.save()
    let reading = world.context()
    #expect(try reading.fetch(Company.self).first?.people.count == 4)
    #expect(try reads() == 0)
    reading.readsReplicas = true
    // The rows that this process has saved, whether the replica has it already or not.
    for number in 0..<30 {
      company.size = Int64(number)
      try context.save()
      reading.refreshAllObjects()
      #expect(try reading.fetch(Company.self).map(\.size) == [Int64(number)])
    }
    try wait(for: pair.primary, on: standby)
    #expect(try reading.fetch(Company.self).first?.people.count == 4)
    #expect(try reads() > 0)
    // One that replays nothing is not read when this process has saved.
    try standby.run("SELECT pg_wal_replay_pause()")
    company.size = 100
    try context.save()
    reading.refreshAllObjects()
    #expect(try reading.fetch(Company.self).map(\.size) == [100])
    // Nor what others have saved, if it is too far behind.
    let strict = try PostgresWorld(
      at: pair.primary.url(schema: "pair", options: ["replicas": replica, "replica_lag": "0"]))
    let others = strict.context()
    others.readsReplicas = true
    #expect(try others.fetch(Company.self).map(\.size) == [100])
    // Within the bound, it is read as it is.
    let loose = try PostgresWorld(
      at: pair.primary.url(schema: "pair", options: ["replicas": replica, "replica_lag": "3600"]))
    let lagging = loose.context()
    lagging.readsReplicas = true
    #expect(try lagging.count(Company.self) == 1)
    company.size = 101
    try context.save()
    try standby.run("SELECT pg_wal_replay_resume()")
    try wait(for: pair.primary, on: standby)
    #expect(try lagging.fetch(Company.self).map(\.size) == [101])
    // Without the replica, the primary is read.
    try pair.standby.kill()
    reading.refreshAllObjects()
    #expect(try reading.fetch(Company.self).map(\.size) == [101])
  }

  @Test
  func
    `with asynchronous replication, a save that a failover loses before it was confirmed is written again, and one that was confirmed is gone`()
    throws
  {
    let pair = try Pair(isSynchronous: false)
    let proxy = try WireProxy(to: pair.primary.folder.path)
    defer { proxy.close() }
    let url = pair.primary.url(
      schema: "pair", hosts: [proxy.folder, pair.standby.folder.path], options: ["reconnect_limit": "60"])
    let world = try PostgresWorld(at: url)
    let context = world.context()
    let company = context.makeCompany("kept")
    company.size = 0
    try context.save()
    let standby = try pair.connection(pair.standby)
    try wait(for: pair.primary, on: standby)
    // Nothing reaches the standby any more.
    try standby.run("ALTER SYSTEM SET primary_conninfo = ''")
    try standby.run("SELECT pg_reload_conf()")
    try waitUntil {
      try standby.query("SELECT count(*) FROM pg_stat_wal_receiver").integer(0, 0) == 0
    }
    company.size = 1
    let lost = context.makePerson("confirmed and lost")
    try context.save()
    // The next one: its answer is lost with the primary.
    let (met, later) = (Answered(), world.context())
    let counter = try #require(later.existingObject(with: company.objectID) as? Company)
    _ = later.makePerson("written again")
    proxy.setRule { [proxy] message in
      guard !message.isFromClient, message.type == "C", message.text.hasPrefix("COMMIT") else { return .pass }
      proxy.refuseFromRule()
      met.note()
      return .cutBefore
    }
    nonisolated(unsafe) let saving = later
    let save = Answer { try saving.performAndWait { try saving.save() } }
    met.wait()
    try pair.primary.kill()
    try pair.standby.promote()
    try save.get()
    let reading = world.context()
    #expect(try reading.fetch(Person.self).map(\.name) == ["written again"])
    #expect(try reading.fetch(Company.self).map(\.size) == [0])
    // The save that was confirmed is in contexts that have it: the next one that changes its objects meets the conflict.
    (company.size, lost.name) = (2, "changed")
    #expect(heartwoodError { try context.save() }?.code == .managedObjectMerge)
    context.reset()
    // New objects get numbers that the new primary knows of.
    for number in 0..<100 { _ = context.makePerson("\(number)") }
    try context.save()
    #expect(try world.context().count(Person.self) == 101)
    withExtendedLifetime(counter) {}
  }

  /// Waits until a standby has replayed what its primary has written.
  private func wait(for primary: PostgresServer, on standby: PostgresConnection) throws {
    let position = try PostgresConnection(PostgresAddress(primary.url(schema: "public")))
      .query("SELECT pg_current_wal_insert_lsn()::text").text(0, 0)
    for _ in 0..<30_000 {
      if try standby.query("SELECT pg_last_wal_replay_lsn() >= '\(position)'").bytes(0, 0).first == 1 {
        return
      }
      usleep(1000)
    }
    Issue.record("the standby does not come to \(position)")
  }
}

/// Something that happens once.
private final class Answered: @unchecked Sendable {
  private let condition = NSCondition()
  private var isNoted = false

  func note() {
    condition.withLock {
      isNoted = true
      condition.broadcast()
    }
  }

  func wait() {
    condition.lock()
    while !isNoted { condition.wait() }
    condition.unlock()
  }
}

/// How many saves of each writer were told to be there.
private final class Ledger: @unchecked Sendable {
  private let condition = NSCondition()
  private(set) var counts: [Int]
  private var last = Int.max
  private var hasEnded = false

  init(_ writers: Int) { counts = Array(repeating: 0, count: writers) }

  /// The number of the next save of a writer; nil if it is to end.
  func next(_ writer: Int) -> Int? { condition.withLock { counts[writer] < last ? counts[writer] : nil } }

  func note(_ writer: Int) {
    condition.withLock {
      counts[writer] += 1
      condition.broadcast()
    }
  }

  func wait(for count: Int) {
    condition.lock()
    while counts.reduce(0, +) < count, !hasEnded { condition.wait() }
    condition.unlock()
  }

  /// A writer has ended.
  func end() {
    condition.withLock {
      hasEnded = true
      condition.broadcast()
    }
  }

  /// Lets each writer save some more, and end.
  func stop(after count: Int) {
    condition.withLock { last = (counts.max() ?? 0) + count / counts.count }
  }
}
