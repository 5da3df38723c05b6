import Foundation
import GraphTestSupport
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// Sets that are inverted, joined and rebased.
extension `Change sets` {
  @Test func `an inverted set leads back, and two sets are one`() throws {
    let (first, second) = try pair()
    var random = SplitMix64(seed: 2)
    let numbers = try (0..<12).map { _ in
      try change(first, &random)
      return try #require(first.container.currentHistoryToken).transactionNumber
    }
    let before = try second.contents()
    let start = first.coordinator
    let sets = try [
      set(first, for: second), start.changeSet(from: numbers[0], to: numbers[5]),
      start.changeSet(from: numbers[5], to: numbers[11]), start.changeSet(from: numbers[0], to: numbers[11]),
    ]
    let joined = try sets[1].concatenated(with: sets[2])
    #expect(joined.generations == sets[3].generations)
    #expect(Set(joined.changes.map(\.identity)) == Set(sets[3].changes.map(\.identity)))
    for change in sets[3].changes {
      let other = joined.changes.first { $0.identity == change.identity }
      #expect(other?.kind == change.kind)
      #expect(
        other?.cells.mapValues { [$0.former, $0.value] } == change.cells.mapValues { [$0.former, $0.value] })
    }
    #expect(heartwoodError { _ = try sets[2].concatenated(with: sets[1]) }?.code == .persistentStoreOperation)
    try second.coordinator.apply(sets[0])
    #expect(try first.contents() == second.contents())
    try second.coordinator.apply(sets[0].inverted)
    #expect(try second.contents() == before)
    #expect(try second.coordinator.verify().findings.isEmpty)
  }

  @Test func `an inverted set keeps an object that was deleted and came back`() throws {
    let (first, second) = try pair()
    let one = try #require(first.container.currentHistoryToken).transactionNumber
    first.context.delete(try #require(try first.part("one")))
    try first.context.save()
    let deletion = try #require(first.container.currentHistoryToken).transactionNumber
    _ = try first.context.revert(transaction: deletion)
    try first.part("one")?.a = 7
    try first.context.save()
    let set = try ChangeSet(decoding: first.coordinator.changeSet(from: one).encoded())
    try first.coordinator.apply(set.inverted, policy: .theirs)
    #expect(try first.part("one")?.a == 1)
    try second.coordinator.apply(set)
    #expect(try second.part("one")?.a == 7)
  }

  @Test(arguments: [ChangeSetPolicy.error, .mine, .theirs])
  func `an inverted set brings no reference to an object that was gone, and goes forward again`(
    policy: ChangeSetPolicy
  ) throws {
    let first = try KnotCopy("0", in: MemoryFileSystem(), clock: ReplicaClock(), seed: 1)
    let (knot, mark) = (Knot(context: first.context), Mark(context: first.context))
    knot.main = mark
    try first.context.save()
    first.context.delete(mark)
    try first.context.save()
    let start = try #require(first.container.currentHistoryToken).transactionNumber
    knot.note = "later"
    knot.main = nil
    try first.context.save()
    let changed = try #require(first.container.currentHistoryToken).transactionNumber
    first.context.delete(knot)
    try first.context.save()
    func state(_ copy: KnotCopy) throws -> [String] {
      copy.context.reset()
      return try copy.context.fetch(Knot.self).map { "\($0.note ?? "nil") \($0.main == nil)" }
    }
    let second = try first.copy("1", UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), seed: 2)
    let whole = try first.coordinator.changeSet(from: UInt64(start))
    let part = try first.coordinator.changeSet(from: UInt64(start), to: UInt64(changed))
    #expect(try second.coordinator.apply(whole.inverted, policy: policy).conflicts.isEmpty)
    #expect(try state(second) == ["nil true"])
    #expect(try second.coordinator.apply(part.inverted.inverted, policy: policy).conflicts.isEmpty)
    #expect(try state(second) == ["later true"])
    #expect(try second.coordinator.apply(part.inverted, policy: policy).conflicts.isEmpty)
    #expect(try state(second) == ["nil true"])
    #expect(try second.coordinator.apply(whole.inverted.inverted, policy: policy).conflicts.isEmpty)
    #expect(try state(second) == [])
  }

  @Test func `a rebased set keeps a change of what the other has changed and changed back`() throws {
    let (first, second) = try pair()
    let one = try #require(try first.part("one"))
    let label = try #require(one.labels.first)
    one.a = 5
    one.labels = []
    try first.context.save()
    one.a = 1
    one.b = "first"
    one.labels = [label]
    try first.context.save()
    let local = try #require(try second.part("one"))
    local.a = 7
    local.labels = []
    try second.context.save()
    let (remote, own) = (try set(first, for: second), try set(second, for: first))
    try first.coordinator.apply(own.rebased(on: remote))
    #expect(try first.part("one")?.a == 7 && first.part("one")?.b == "first")
    #expect(try first.part("one")?.labels.isEmpty == true)
  }

  @Test(arguments: ChangeSetPolicy.allCases)
  func `a rebased delete leaves an object that the other set has changed`(
    policy: ChangeSetPolicy
  ) throws {
    let (first, second) = try pair()
    try #require(try first.part("two")).a = 88
    try first.context.save()
    second.context.delete(try #require(try second.part("two")))
    second.context.delete(try #require(try second.part("one")))
    try second.context.save()
    let (remote, local) = (try set(first, for: second), try set(second, for: first))
    let third = try first.copy(to: url("c"))
    try third.coordinator.apply(local.rebased(on: remote), policy: policy)
    #expect(try third.part("two")?.a == 88 && third.part("one") == nil)
  }

  @Test func `an inverted set brings back neither what came and went nor an object of an abstract entity`()
    throws
  {
    let (first, second) = try pair()
    let before = try first.contents()
    let start = try #require(first.container.currentHistoryToken).transactionNumber
    try insertWhole(in: first)
    let one = try #require(try first.part("one"))
    let labels = one.labels
    one.labels = []
    try first.context.save()
    try #require(try first.part("one")).labels = labels
    first.context.delete(try #require(try first.part("new")))
    try first.context.save()
    let made = try first.coordinator.changeSet(from: start)
    #expect(made.lines.contains { $0.hasPrefix("deleted Component/") })
    try second.coordinator.apply(made.inverted, policy: .theirs)
    #expect(try second.contents() == before && first.contents() == before)
    #expect(try ChangeSet(decoding: made.encoded()) == made)
  }
}
