import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodFaults
import TestSupport
import Testing

/// Whether tests run longer than in CI.
private let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil

private let policies: [MergePolicyType] = [.error, .storeTrump, .objectTrump, .overwrite, .rollback]

/// Notes the objects that were in conflict.
private final class NotingPolicy: MergePolicy, @unchecked Sendable {
  var conflicting: Set<ManagedObject> = []

  override func resolve(mergeConflicts list: [Any]) throws {
    for case let conflict as MergeConflict in list { conflicting.insert(conflict.sourceObject) }
    for case let conflict as ConstraintConflict in list {
      conflicting.formUnion(conflict.conflictingObjects)
      if let stored = conflict.databaseObject { conflicting.insert(stored) }
    }
    try super.resolve(mergeConflicts: list)
  }
}

@Suite struct `Random conflicts` {
  // MRG-05..MRG-19
  @Test(arguments: policies, [ToManyResolution.unite, .replace])
  func `after a save with conflicts the context, another one and the verifier agree`(
    type: MergePolicyType, toMany: ToManyResolution
  ) throws {
    for seed in 0..<(isLong ? 400 : 6) as Range<UInt64> {
      var work = try Work(seed: seed &* 77 &+ UInt64(type.rawValue), type, toMany, others: seed % 2 == 1)
      do {
        for _ in 0..<3 { try work.round() }
      } catch {
        Issue.record("seed \(seed), \(type), \(toMany): \(error)\n\(work.log.joined(separator: "\n"))")
      }
    }
  }

  private struct Work {
    let container: PersistentContainer
    let here: ManagedObjectContext
    let there: ManagedObjectContext
    let policy: NotingPolicy
    let others: Bool
    var editor: KnotEditor
    var log: [String] { editor.log }

    init(seed: UInt64, _ type: MergePolicyType, _ toMany: ToManyResolution, others: Bool) throws {
      container = try PersistentContainer(name: "Knots", types: knotTypes, at: URL(filePath: "/dev/null"))
      (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
      policy = NotingPolicy(rows: type, unique: type, toMany: toMany)
      here.mergePolicy = policy
      self.others = others
      editor = KnotEditor(random: SplitMix64(seed: seed))
      try editor.fill(here)
      if editor.random.below(2) == 0 { here.reset() }
    }

    mutating func round() throws {
      let held = here.registeredObjects
      let saves = Heard(there, .managedObjectContextDidSave)
      if others { try changeElsewhere() }
      editor.log.append("here")
      for _ in 0...editor.random.below(6) { try editor.change(here, deleting: others) }
      let before = here.insertedObjects.union(here.updatedObjects).compactMap { Kept($0) }
      policy.conflicting = []
      do {
        editor.log.append("save")
        try here.save()
      } catch let error as HeartwoodError {
        editor.log.append("\(error)")
        guard error.code == .managedObjectMerge || error.code == .managedObjectConstraintMerge else {
          throw error
        }
        here.rollback()
        here.refreshAllObjects()
        return
      }
      if here.hasChanges { throw Disagreement(what: "changes are left") }
      for notification in saves.notifications { here.mergeChanges(fromContextDidSave: notification) }
      try compare()
      if !others { for kept in before { try kept.check(policy.conflicting) } }
      _ = held
    }

    private mutating func changeElsewhere() throws {
      editor.log.append("there")
      there.refreshAllObjects()
      for _ in 0...editor.random.below(4) { try editor.change(there, deleting: false) }
      do { try there.save() } catch is HeartwoodError { there.rollback() }
    }

    private func compare() throws {
      let (mine, stored) = (try knotLines(here), try knotLines(container.newBackgroundContext()))
      if mine != stored {
        throw Disagreement(
          what: "here \(mine.filter { !stored.contains($0) })\nstored \(stored.filter { !mine.contains($0) })"
        )
      }
      let findings = try container.persistentStoreCoordinator.verify().findings
      if !findings.isEmpty { throw Disagreement(what: "\(findings)") }
    }
  }
}

/// The values of an object before a save: if it is not in conflict, it has them afterwards.
private struct Kept {
  let knot: Knot
  let values: [String]
  let destinations: [Knot?]

  init?(_ object: ManagedObject) {
    guard let knot = object as? Knot else { return nil }
    self.knot = knot
    values = Self.values(knot)
    destinations = [knot.parent, knot.owner, knot.link]
  }

  private static func values(_ knot: Knot) -> [String] {
    [knot.name, knot.code ?? "-", "\(knot.number ?? -1)", knot.note ?? "-", "\(knot.size)"]
  }

  func check(_ conflicting: Set<ManagedObject>) throws {
    guard !conflicting.contains(knot), knot.managedObjectContext != nil else { return }
    let now = Self.values(knot)
    if now != values { throw Disagreement(what: "\(knot.name) has lost \(values), and has \(now)") }
    for (former, present) in zip(destinations, [knot.parent, knot.owner, knot.link]) {
      guard former?.objectID != present?.objectID else { continue }
      throw Disagreement(what: "\(knot.name) has lost \(former?.name ?? "-") for \(present?.name ?? "-")")
    }
  }
}
