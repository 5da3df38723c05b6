import CLibPQ
import Foundation
import Heartwood
import HeartwoodPostgres

/// An hour of a server's work in minutes: contexts on threads of their own that read and write, in phases as of a day's hour. The same work
/// is done by libpq, written by hand, with as many connections.
///
/// Each thread takes its operations from a generator with a fixed seed, so that all programs do the same ones.
final class LoadTest {
  enum Operation: String, CaseIterable {
    /// 20 people of an age, in the order of their names.
    case list = "list of 20"
    /// One by its number, with the team.
    case look = "one with its team"
    /// One value of one person.
    case update = "update of one"
    /// Five new people.
    case insert = "insert of five"
  }

  struct Phase {
    let name: String
    let threads: Int
    /// Of 100 operations, how many write.
    let writes: Int
    let operations: Int
  }

  static let phases = [
    Phase(name: "quiet, 10 contexts, 10 % writes", threads: 10, writes: 10, operations: 400),
    Phase(name: "busy, 50 contexts, 20 % writes", threads: 50, writes: 20, operations: 400),
    Phase(name: "rush, 50 contexts, 50 % writes", threads: 50, writes: 50, operations: 200),
    Phase(name: "quiet, 10 contexts, 10 % writes", threads: 10, writes: 10, operations: 400),
  ]
  static let people = 20_000
  static let connections = 16

  /// The work of a thread.
  protocol Worker: AnyObject {
    func perform(_ operation: Operation, _ random: inout Generator) throws
  }

  struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
  }

  /// Runs the phases, and prints latencies in milliseconds.
  static func run(_ name: String, _ makeWorker: @escaping @Sendable (Int) throws -> any Worker) throws {
    print(name)
    for (place, phase) in phases.enumerated() {
      let lock = NSLock()
      nonisolated(unsafe) var latencies: [Operation: [Double]] = [:]
      nonisolated(unsafe) var retries = 0
      let group = DispatchGroup()
      let started = ContinuousClock.now
      for number in 0..<phase.threads {
        group.enter()
        Thread.detachNewThread {
          defer { group.leave() }
          var own: [Operation: [Double]] = [:]
          var conflicts = 0
          do {
            let worker = try makeWorker(number)
            var random = Generator(state: UInt64(place * 1000 + number))
            for _ in 0..<phase.operations {
              let isWrite = Int.random(in: 0..<100, using: &random) < phase.writes
              let isFirst = Int.random(in: 0..<4, using: &random) > 0
              let operation: Operation = isWrite ? (isFirst ? .update : .insert) : (isFirst ? .list : .look)
              let began = ContinuousClock.now
              var isDone = false
              while !isDone {
                do {
                  try worker.perform(operation, &random)
                  isDone = true
                } catch let error as HeartwoodError where error.code == .managedObjectMerge {
                  // Another one has changed it since it was read: again, with what is there now.
                  conflicts += 1
                }
              }
              let time = began.duration(to: .now) / .milliseconds(1)
              own[operation, default: []].append(time)
            }
          } catch {
            fatalError("\(error)")
          }
          lock.withLock {
            for (operation, times) in own { latencies[operation, default: []] += times }
            retries += conflicts
          }
        }
      }
      group.wait()
      let seconds = started.duration(to: .now) / .seconds(1)
      let total = latencies.values.reduce(0) { $0 + $1.count }
      print("  \(phase.name): \(Int(Double(total) / seconds)) operations/s, \(retries) conflicts")
      for operation in Operation.allCases {
        guard let times = latencies[operation]?.sorted(), !times.isEmpty else { continue }
        func part(_ share: Double) -> String {
          String(format: "%8.2f", times[min(times.count - 1, Int(Double(times.count) * share))])
        }
        let label = operation.rawValue.padding(toLength: 18, withPad: " ", startingAt: 0)
        print("    \(label) p50 \(part(0.5))  p95 \(part(0.95))  p99 \(part(0.99))  greatest \(part(1))")
      }
    }
  }

  // MARK: The store

  final class ContextWorker: Worker {
    private let context: ManagedObjectContext
    private let identifiers: [ManagedObjectID]

    init(_ context: ManagedObjectContext, _ identifiers: [ManagedObjectID]) {
      (self.context, self.identifiers) = (context, identifiers)
    }

    func perform(_ operation: Operation, _ random: inout Generator) throws {
      try context.performAndWait {
        defer { context.reset() }
        switch operation {
        case .list:
          let age = Int64.random(in: 0..<90, using: &random)
          let found = try context.fetch(
            Person.self, where: { $0.age == age }, sort: [.ascending(\.name)], limit: 20)
          precondition(found.allSatisfy { $0.age == age })
        case .look:
          let id = identifiers[Int.random(in: 0..<identifiers.count, using: &random)]
          let person = try context.existingObject(with: id) as? Person
          precondition(person?.team?.title != "")
        case .update:
          let id = identifiers[Int.random(in: 0..<identifiers.count, using: &random)]
          guard let person = try context.existingObject(with: id) as? Person else { return }
          person.score += 1
          try context.save()
        case .insert:
          for number in 0..<5 {
            let person = Person(context: context)
            person.name = "new \(number)"
            person.mail = "new@example.org"
            person.age = Int64.random(in: 0..<90, using: &random)
          }
          try context.save()
        }
      }
    }
  }

  static func runStore(_ parts: URLComponents, tracksHistory: Bool) throws {
    var place = parts
    place.queryItems =
      (parts.queryItems ?? []).filter { $0.name != "schema" } + [
        URLQueryItem(name: "schema", value: "benchmark"), URLQueryItem(name: "pool", value: "\(connections)"),
      ]
    guard let url = place.url else { return }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: [Person.self, Team.self]))
    try coordinator.destroyPersistentStore(at: url, type: .postgres)
    let description = PersistentStoreDescription(url: url)
    description.type = .postgres
    description.tracksHistory = tracksHistory
    try coordinator.addPersistentStore(with: description)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let identifiers = try context.performAndWait {
      let teams = (1...10).map { number in
        let team = Team(context: context)
        team.title = "team \(number)"
        return team
      }
      let made = (1...people).map { number in
        let person = Person(context: context)
        person.name = "person \(number)"
        person.mail = "p\(number)@example.org"
        person.age = Int64(number % 90)
        person.team = teams[number % 10]
        return person
      }
      try context.save()
      return made.map(\.objectID)
    }
    try run("store\(tracksHistory ? ", with history" : ", without history")") { _ in
      ContextWorker(ManagedObjectContext(.privateQueue, coordinator: coordinator), identifiers)
    }
    try coordinator.close()
    try coordinator.destroyPersistentStore(at: url, type: .postgres)
  }

  // MARK: By hand

  /// Connections that threads borrow.
  final class HandPool: @unchecked Sendable {
    private let condition = NSCondition()
    private var idle: [OpaquePointer] = []

    init(_ parameters: [(String, String)], _ count: Int) {
      let text = parameters.map { "\($0.0)='\($0.1)'" }.joined(separator: " ")
      for _ in 0..<count {
        guard let connection = PQconnectdb(text), PQstatus(connection) == CONNECTION_OK else {
          fatalError("no connection")
        }
        _ = PQsetNoticeProcessor(connection, { _, _ in }, nil)
        for (name, sql) in Self.statements { PQclear(PQprepare(connection, name, sql, 0, nil)) }
        idle.append(connection)
      }
    }

    private static let statements = [
      (
        "list",
        "SELECT id, version, name, mail, age, score, born, team FROM hand.person WHERE age = $1::bigint ORDER BY name LIMIT 20"
      ),
      (
        "look",
        "SELECT p.id, p.name, p.age, t.id FROM hand.person p LEFT JOIN hand.team t ON t.id = p.team WHERE p.id = $1::bigint"
      ),
      ("read", "SELECT version, score FROM hand.person WHERE id = $1::bigint"),
      (
        "update",
        "UPDATE hand.person SET score = $2::float8, version = version + 1 WHERE id = $1::bigint AND version = $3::bigint"
      ),
      (
        "insert",
        "INSERT INTO hand.person (id, version, name, mail, age, score) SELECT nextval('hand.ids'), 1, 'new', 'new@example.org', a, 0 "
          + "FROM unnest($1::bigint[]) a"
      ),
    ]

    func with<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
      condition.lock()
      while idle.isEmpty { condition.wait() }
      let connection = idle.removeLast()
      condition.unlock()
      defer {
        condition.lock()
        idle.append(connection)
        condition.signal()
        condition.unlock()
      }
      return try body(connection)
    }

    func close() { for connection in idle { PQfinish(connection) } }
  }

  final class HandWorker: Worker {
    private let pool: HandPool
    init(_ pool: HandPool) { self.pool = pool }

    private func execute(
      _ connection: OpaquePointer, _ name: String, _ values: [String]
    ) -> OpaquePointer? {
      let texts = values.map { strdup($0) }
      defer { for text in texts { free(text) } }
      let result = texts.map { UnsafePointer($0) }.withUnsafeBufferPointer {
        PQexecPrepared(connection, name, Int32(values.count), $0.baseAddress, nil, nil, 0)
      }
      let status = PQresultStatus(result)
      guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
        fatalError(String(cString: PQerrorMessage(connection)))
      }
      return result
    }

    func perform(_ operation: Operation, _ random: inout Generator) throws {
      let generator = random
      random = pool.with { connection in
        var random = generator
        switch operation {
        case .list:
          let result = execute(connection, "list", ["\(Int64.random(in: 0..<90, using: &random))"])
          var names: [String] = []
          for row in 0..<PQntuples(result) { names.append(String(cString: PQgetvalue(result, row, 2))) }
          PQclear(result)
        case .look:
          let result = execute(connection, "look", ["\(Int.random(in: 1...LoadTest.people, using: &random))"])
          precondition(PQntuples(result) == 1)
          PQclear(result)
        case .update:
          let id = "\(Int.random(in: 1...LoadTest.people, using: &random))"
          while true {
            let read = execute(connection, "read", [id])
            let version = String(cString: PQgetvalue(read, 0, 0))
            let score = Double(String(cString: PQgetvalue(read, 0, 1))) ?? 0
            PQclear(read)
            PQclear(PQexec(connection, "BEGIN"))
            let written = execute(connection, "update", [id, "\(score + 1)", version])
            let count = String(cString: PQcmdTuples(written))
            PQclear(written)
            PQclear(PQexec(connection, "COMMIT"))
            if count == "1" { break }
          }
        case .insert:
          let ages = (0..<5).map { _ in "\(Int64.random(in: 0..<90, using: &random))" }
          PQclear(PQexec(connection, "BEGIN"))
          PQclear(execute(connection, "insert", ["{\(ages.joined(separator: ","))}"]))
          PQclear(PQexec(connection, "COMMIT"))
        }
        return random
      }
    }
  }

  static func runByHand(_ parameters: [(String, String)]) throws {
    let writer = HandWritten(parameters)
    writer.create()
    writer.run(
      "INSERT INTO hand.person SELECT n, 1, 'person ' || n, 'p' || n || '@example.org', n % 90, 0, 0, n % 10 + 1 "
        + "FROM generate_series(1, \(people)) n")
    writer.run("CREATE SEQUENCE hand.ids START 1000000 CACHE 64")
    let pool = HandPool(parameters, connections)
    try run("by hand") { _ in HandWorker(pool) }
    pool.close()
    writer.run("DROP SCHEMA hand CASCADE")
    writer.close()
  }
}
