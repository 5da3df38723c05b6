import Foundation
import Heartwood
import HeartwoodFaults
import Testing

/// Random models, random changes to them, and random objects, beside plain values for which the changes mean the same.
@Suite struct RandomMigrationTests {
  private static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil

  private func start(_ random: inout SplitMix64) -> PlainVersion {
    var change = PlainChange(version: PlainVersion(), data: PlainObjects(), random: random)
    for _ in 0..<(2 + random.below(3)) {
      let parent =
        change.version.entities.isEmpty || random.below(2) == 0
        ? nil : random.pick(change.version.entities).id
      let id = change.version.newID()
      change.version.entities.append(
        PlainVersion.Entity(id: id, name: change.version.newName(&random), parent: parent))
      for _ in 0..<random.below(3) {
        let type = random.pick(PlainChange.types)
        change.version.properties.append(
          PlainVersion.Property(
            id: change.version.newID(), owner: id, name: change.version.newPropertyName(&random),
            kind: .attribute(type: type, isOptional: true, fallback: nil, isIndexed: random.below(3) == 0)))
      }
    }
    for _ in 0..<random.below(3) { _ = change.addPair() }
    random = change.random
    return change.version
  }

  /// Runs one seed; returns what was wrong.
  private func run(_ seed: UInt64, _ changed: inout Int) throws -> [String] {
    var random = SplitMix64(seed: seed)
    let store = PlainStore()
    var version = start(&random)
    var data = try store.with(version) { context, _ in
      try PlainStore.fill(context, version, &random, each: 4)
      return try PlainStore.read(context, version)
    }
    for step in 1...(1 + random.below(4)) {
      var change = PlainChange(version: version, data: data, random: SplitMix64(seed: random.next()))
      change.change(1 + random.below(4))
      let former = version
      version = change.version
      let expected = change.data
      // What the former model says of the objects is not what the new one says.
      if PlainStore.lines(data, former, []) != PlainStore.lines(expected, version, []) { changed += 1 }
      let finishes = random.below(3) == 0
      let wrong = try store.with(version) { context, coordinator in
        var wrong = try check(expected, context, coordinator, version, change.unordered)
        if finishes, wrong.isEmpty {
          try coordinator.finishDeferredLightweightMigration()
          context.reset()
          wrong += try check(expected, context, coordinator, version, change.unordered)
        }
        if wrong.isEmpty {
          if random.below(2) == 0 { try PlainStore.fill(context, version, &random, each: 2) }
          data = try PlainStore.read(context, version)
        }
        return wrong
      }
      if !wrong.isEmpty { return wrong.prefix(12).map { "version \(step): \($0)" } }
    }
    return []
  }

  private func check(
    _ expected: PlainObjects, _ context: ManagedObjectContext, _ coordinator: PersistentStoreCoordinator,
    _ version: PlainVersion, _ unordered: Set<Int>
  ) throws -> [String] {
    let actual = try PlainStore.read(context, version)
    return PlainStore.differences(expected, actual, version, unordered: unordered)
      + (try coordinator.verify().findings)
  }

  // MIG-04, MIG-05, MIG-06, MIG-27
  @Test func `random changes of random models have the same effect as on plain values`() throws {
    var changed = 0
    for seed in 1...(Self.isLong ? 5000 : 300) as ClosedRange<UInt64> {
      do {
        let wrong = try run(seed, &changed)
        #expect(wrong == [], "seed \(seed)")
        if !wrong.isEmpty { return }
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
    }
    #expect(changed > 150)
  }
}
