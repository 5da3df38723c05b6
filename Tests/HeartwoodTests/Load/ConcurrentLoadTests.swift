import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

/// Two contexts that fetch beside two that save and merge: some rounds in `swift test`, a minute with `HEARTWOOD_LONG`. Under the
/// thread sanitizer: `HEARTWOOD_LONG=1 Tests/Sanitizers/run thread --filter 'Load on a store'`.
///
/// A context sees a whole state where it pins one and refreshes its objects. One that only merges may fetch a save before its merge
/// arrives, beside objects that still have their former values; the same goes for a child.
@Suite struct `Load on a store` {
  private static let accounts = 24
  private static let total = Int64(accounts * 100)

  /// When the contexts stop: after so many rounds, or at a time.
  private struct End: Sendable {
    let rounds: Int
    let time: ContinuousClock.Instant?

    init() {
      let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil
      (rounds, time) = isLong ? (.max, .now + .seconds(60)) : (60, nil)
    }

    func isReached(after round: Int) -> Bool {
      round >= rounds || time.map { ContinuousClock.now >= $0 } == true
    }
  }

  @Test func `two contexts fetch whole states beside two that save and merge`() async throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(name: "Companies", types: companyTypes, at: folder.store)
    let first = container.newBackgroundContext()
    try await first.perform {
      let companies = (0..<3).map { first.makeCompany("C\($0)") }
      for number in 0..<Self.accounts {
        _ = first.makePerson("P\(number)", age: 100, in: companies[number % 3])
      }
      try first.save()
    }
    let end = End()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<2 {
        group.addTask { try await Self.write(container, writer, until: end) }
        group.addTask { try await Self.read(container, until: end) }
      }
      try await group.waitForAll()
    }
    try await first.perform {
      first.refreshAllObjects()
      #expect(try Self.sum(first) == Self.total)
      for company in try first.fetch(Company.self) {
        #expect(company.people.allSatisfy { $0.company === company })
      }
    }
    #expect(try container.persistentStoreCoordinator.verify().findings.isEmpty)
    try container.close()
  }

  /// Transfers between persons, moves, and guests who come and go; each save leaves the sum of ages as it is.
  private static func write(_ container: PersistentContainer, _ writer: Int, until end: End) async throws {
    let context = container.newBackgroundContext()
    context.automaticallyMergesChangesFromParent = true
    for round in 0... where !end.isReached(after: round) {
      try await context.perform {
        let people = try context.fetch(
          Person.self, where: { $0.name.hasPrefix("P") }, sort: [.ascending(\.name)])
        let companies = try context.fetch(Company.self, sort: [.ascending(\.code)])
        let (from, to) = (people[round % accounts], people[(round * 7 + writer + 1) % accounts])
        from.age -= 1
        to.age += 1
        from.company = companies[(round + writer) % 3]
        for guest in try context.fetch(Person.self, where: { $0.nick == "guest \(writer)" }) {
          context.delete(guest)
        }
        context.makePerson("guest", in: companies[round % 3]).nick = "guest \(writer)"
        do {
          try context.save()
        } catch let error as HeartwoodError where error.code == .managedObjectMerge {
          // The other writer was faster.
          context.rollback()
          context.refreshAllObjects()
        }
      }
      if end.isReached(after: round + 1) { return }
    }
  }

  private static func read(_ container: PersistentContainer, until end: End) async throws {
    let context = container.newBackgroundContext()
    context.automaticallyMergesChangesFromParent = true
    let child = ManagedObjectContext(.privateQueue, parent: context)
    child.automaticallyMergesChangesFromParent = true
    for round in 0... {
      if end.isReached(after: round) { return }
      let reader = round % 3 == 0 ? child : context
      try await reader.perform {
        if reader === context {
          try context.setQueryGenerationFrom(.current)
          context.refreshAllObjects()
        }
        let (sum, guests) = (try sum(reader), try reader.count(Person.self, where: { $0.name == "guest" }))
        if guests > 2 { Issue.record("\(guests) guests") }
        if reader === context, sum != total { Issue.record("a sum of \(sum)") }
        for company in try reader.fetch(Company.self) { _ = company.people.map(\.name) }
      }
    }
  }

  private static func sum(_ context: ManagedObjectContext) throws -> Int64 {
    try context.fetch(Person.self).reduce(0) { $0 + $1.age }
  }
}
