import Foundation
import Heartwood
import HeartwoodFaults
import Testing

/// Random models, random changes to them, and random objects, beside plain values for which the changes mean the same.
@Suite struct RandomMigrationTests {
  private static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil

  private func start(_ random: inout SplitMix64, entities: Int, each most: Int) -> PlainVersion {
    var change = PlainChange(version: PlainVersion(), data: PlainObjects(), random: random)
    for _ in 0..<entities {
      let parent =
        change.version.entities.isEmpty || random.below(2) == 0
        ? nil : random.pick(change.version.entities).id
      let id = change.version.newID()
      change.version.entities.append(
        PlainVersion.Entity(id: id, name: change.version.newName(&random), parent: parent))
      for _ in 0..<random.below(most) {
        let type = random.pick(PlainChange.types)
        change.version.properties.append(
          PlainVersion.Property(
            id: change.version.newID(), owner: id, name: change.version.newPropertyName(&random),
            kind: .attribute(type: type, isOptional: true, fallback: nil, isIndexed: random.below(3) == 0)))
      }
    }
    for _ in 0..<random.below(entities) { _ = change.addPair() }
    random = change.random
    return change.version
  }

  /// Runs one seed; returns what was wrong.
  private func run(
    _ seed: UInt64, _ changed: inout Int, entities: Int? = nil, versions: Int? = nil
  ) throws -> [String] {
    var random = SplitMix64(seed: seed)
    let store = PlainStore()
    let isLarge = entities != nil
    var version = start(&random, entities: entities ?? 2 + random.below(3), each: isLarge ? 8 : 3)
    var data = try store.with(version) { context, _ in
      try PlainStore.fill(context, version, &random, each: isLarge ? 2 : 4)
      return try PlainStore.read(context, version)
    }
    for step in 1...(versions ?? 1 + random.below(4)) {
      var change = PlainChange(version: version, data: data, random: SplitMix64(seed: random.next()))
      change.mostEntities = isLarge ? 60 : 8
      change.change(isLarge ? 12 : 1 + random.below(4))
      let former = version
      version = change.version
      let expected = change.data
      // The lines of the objects by the former model are not those by the new one.
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
    for seed in 1...(Self.isLong ? 5000 : 150) as ClosedRange<UInt64> {
      do {
        let wrong = try run(seed, &changed)
        #expect(wrong == [], "seed \(seed)")
        if !wrong.isEmpty { return }
      } catch {
        Issue.record(error, "seed \(seed)")
        return
      }
    }
    #expect(changed > 75)
  }

  // MIG-04, MIG-05, MIG-06
  @Test func `models of the size that applications have go through ten versions`() throws {
    for seed in 1...(Self.isLong ? 40 : 1) as ClosedRange<UInt64> {
      var changed = 0
      #expect(try run(seed, &changed, entities: 20 + Int(seed) * 5 % 25, versions: 9) == [], "seed \(seed)")
      #expect(changed == 9)
    }
  }
}
