import Foundation
import Heartwood
import Testing

@testable import HeartwoodPostgres

/// A server of PostgreSQL behind a proxy that refuses what another database does not have, as its documentation says. The databases themselves
/// have not run these tests.
@Suite struct `Databases that speak PostgreSQL's protocol` {
  private struct Refusal {
    let words: [String]
    /// One of how many statements of transactions fails, as another transaction was in the way.
    let conflicts: Int?
  }

  private static let refusals: [String: Refusal] = [
    "cockroach": Refusal(
      words: ["pg_advisory", "NO KEY UPDATE", "DEFERRABLE", "READ COMMITTED", "LOCK TABLE", "REFERENCES"],
      conflicts: 40),
    "yugabyte": Refusal(words: ["pg_advisory", "UNIQUE (\"code\") DEFERRABLE", "LOCK TABLE"], conflicts: 60),
    "citus": Refusal(words: ["DEFERRABLE", "REFERENCES"], conflicts: nil),
  ]

  private func proxy(_ dialect: String, seed: UInt64) throws -> WireProxy {
    let refusal = try #require(Self.refusals[dialect])
    let proxy = try WireProxy(to: PostgresServer.shared.get().folder.path)
    var random = SplitMix64(seed: seed)
    print("\(dialect): seed \(seed)")
    proxy.setRule { message in
      guard message.isFromClient, "QP".contains(message.type) else { return .pass }
      let text = message.text
      if refusal.words.contains(where: text.contains) { return .refuse("0A000") }
      let mayConflict = ["INSERT", "UPDATE", "DELETE", "COMMIT", "FOR SHARE"].contains(where: text.contains)
      if let conflicts = refusal.conflicts, mayConflict, !text.contains("CREATE"),
        Int.random(in: 0..<conflicts, using: &random) == 0
      {
        return .refuse("40001")
      }
      return .pass
    }
    return proxy
  }

  private func world(_ dialect: String, _ proxy: WireProxy, options: [String: String] = [:]) throws
    -> PostgresWorld
  {
    let server = try PostgresServer.shared.get()
    if dialect == "citus" {
      let connection = try PostgresConnection(PostgresAddress(server.url(schema: "public")))
      for parameters in ["(named text, by text)", "(named text)"] {
        let name = parameters.contains("by") ? "create_distributed_table" : "create_reference_table"
        try? connection.run(
          "CREATE FUNCTION \(name)\(parameters) RETURNS text LANGUAGE sql AS 'SELECT named'")
      }
    }
    let all = ["dialect": dialect, "attempts": "30"].merging(options) { $1 }
    return try PostgresWorld(at: server.url(hosts: [proxy.folder], options: all))
  }

  @Test(arguments: ["cockroach", "yugabyte", "citus"])
  func `a store makes its tables, saves and reads without what the database lacks, and tries conflicts again`(
    dialect: String
  ) throws {
    let proxy = try proxy(dialect, seed: 11)
    defer { proxy.close() }
    let world = try world(dialect, proxy)
    let (writers, rounds) = (3, 20)
    try world.countAtOnce(writers: writers, rounds: rounds) { context, own, people in
      own.ranking = [people[2], people[0]]
      Club(context: context).members = [people[0], people[1]]
    }
    let reading = world.context()
    let all = try #require(try reading.fetch(Company.self, where: { $0.code == "all" }).first)
    #expect(all.size == Int64(writers * rounds))
    #expect(try reading.count(Person.self) == writers * rounds * 3)
    // Pairs end with either of their objects, also where the database does not see to it.
    for person in try reading.fetch(Person.self, where: { $0.name == "0" }) { reading.delete(person) }
    for club in try reading.fetch(Club.self).prefix(5) { reading.delete(club) }
    try reading.save()
    let pairs = try world.sql("SELECT count(*) FROM \"\(world.schema)\".\"Club.members\"")
    #expect(pairs.integer(0, 0) == Int64(writers * rounds - 5))
    #expect(try reading.fetch(Company.self, where: { $0.code == "0 0" }).first?.ranking.map(\.name) == ["2"])
    // Unique values are refused.
    let twice = world.context()
    _ = twice.makeCompany("all")
    #expect(heartwoodError { try twice.save() }?.code == .managedObjectConstraintMerge)
    let outcome = try world.store.outcome(of: PostgresTransactionID())
    #expect(outcome == .aborted)
  }

  @Test func `a commit whose answer the server does not know is asked for`() throws {
    let server = try PostgresServer.shared.get()
    let proxy = try WireProxy(to: server.folder.path)
    defer { proxy.close() }
    let world = try PostgresWorld(at: server.url(hosts: [proxy.folder]))
    let context = world.context()
    _ = context.makePerson("a")
    try context.save()
    var answers = 0
    proxy.setRule { message in
      guard message.type == "Q", message.text.contains("; COMMIT"), answers < 1 else { return .pass }
      answers += 1
      return .refuse("40003")
    }
    _ = context.makePerson("b")
    try context.save()
    #expect(answers == 1)
    #expect(try world.context().count(Person.self) == 2)
  }

  @Test
  func `Citus spreads the objects of entities that the URL names, and refuses those with unique values`()
    throws
  {
    let proxy = try proxy("citus", seed: 12)
    defer { proxy.close() }
    let world = try world("citus", proxy, options: ["distributed": "Person,Club"])
    let context = world.context()
    _ = context.makePerson("a")
    try context.save()
    let schema: PostgresSchema = try world.store.schema
    let statements = try schema.distribution(["Person", "Club"])
    #expect(statements.contains("SELECT create_distributed_table('\"\(world.schema)\".\"Person\"', '_id')"))
    #expect(statements.contains("SELECT create_reference_table('\"\(world.schema)\".\"Company\"')"))
    let error = heartwoodError { _ = try self.world("citus", proxy, options: ["distributed": "Company"]) }
    #expect(error?.code == .persistentStoreOpen && error?.message.contains("uniqueness constraint") == true)
  }
}
