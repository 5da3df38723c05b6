import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import HeartwoodEngine

@Suite struct `What differs between two trees` {
  private typealias Contents = [[UInt8]: [UInt8]]

  /// Expects what the walk finds to be what the contents differ in.
  private func expectDifference(
    _ former: TreeView, _ before: Contents, _ present: TreeView, _ after: Contents, _ note: String
  ) throws {
    var difference = TreeDifference(from: former, to: present)
    var keys: [[UInt8]] = []
    while let (old, new) = try difference.next() {
      let key = try #require(old?.key ?? new?.key, "\(note)")
      try #require(old == nil || new == nil || old?.key == new?.key, "\(note)")
      try #require(TreeHarness.same(old?.entry, before[key]), "\(note), before")
      try #require(TreeHarness.same(new?.entry, after[key]), "\(note), after")
      keys.append(key)
    }
    let wanted = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    try #require(keys == wanted.sorted { $0.lexicographicallyPrecedes($1) }, "\(note)")
  }

  @Test(arguments: KeyShape.allCases)
  func `it is what their contents differ in, whatever the keys are like`(shape: KeyShape) throws {
    let seed: UInt64 = 0x6469_6666
    print("tree difference with seed \(seed)")
    var random = SplitMix64(seed: seed)
    let harness = try TreeHarness()
    var pins: [PinnedGeneration] = []
    var kept: [(TreeView, Contents)] = [(harness.view, [:])]
    let pages = TreeCheckpointTests.Pages()
    var reopened: (TreeView, Contents)?
    for step in 0..<20 {
      let note = "\(shape), seed \(seed), step \(step)"
      try harness.commit {
        let most = random.below(3) == 0 ? 250 : 12
        for _ in 0..<random.below(most) {
          let count = random.below(3) == 0 ? 17 + random.below(8) : random.below(17)
          try harness.put(shape.key(&random), random.bytes(count))
        }
        for _ in 0..<random.below(most / 2) {
          if let key = harness.anyKey(&random) { try harness.delete(key) }
        }
        if random.below(8) == 0 {
          let (one, other) = (shape.key(&random), shape.key(&random))
          let (first, last) = one.lexicographicallyPrecedes(other) ? (one, other) : (other, one)
          try harness.deleteRange(KeyRange(from: first, to: last))
        }
      }
      pins.append(PinnedGeneration(harness.generations))
      let newest = (harness.view, harness.model)
      let others = [kept[random.below(kept.count)], newest] + (reopened.map { [$0] } ?? [])
      for (view, contents) in others {
        try expectDifference(view, contents, newest.0, newest.1, note)
        try expectDifference(newest.0, newest.1, view, contents, note + ", back")
      }
      kept.append(newest)
      if kept.count > 3 { kept.removeFirst() }
      if pins.count > 3 { pins.removeFirst() }
      if random.below(6) == 0, pages.count < 300 {
        var checkpoint = TreeCheckpoint(space: harness.space)
        let root = try checkpoint.write(newest.0.root) { page throws(EngineError) in pages.add(page) }
        checkpoint.confirm(in: harness.writer)
        reopened = (try pages.reopened(root), newest.1)
      }
    }
    withExtendedLifetime(pins) {}
  }

  @Test func `it reads the changed leaves of both trees and the branches above them`() throws {
    let seed: UInt64 = 0x7061_6765
    print("pages of a difference with seed \(seed)")
    var random = SplitMix64(seed: seed)
    let harness = try TreeHarness()
    func key(_ number: Int) -> [UInt8] { Array("key \(number + 100_000)".utf8) }
    try harness.commit { for number in 0..<20_000 { try harness.put(key(number), random.bytes(12)) } }
    let (former, pin) = (harness.view, PinnedGeneration(harness.generations))
    try harness.commit { for _ in 0..<5 { try harness.put(key(random.below(20_000)), random.bytes(12)) } }
    func pages(from former: TreeView, to present: TreeView) throws -> Int {
      var difference = TreeDifference(from: former, to: present)
      while try difference.next() != nil {}
      return difference.pageCount
    }
    let all = try pages(from: TreeHarness().view, to: harness.view)
    let read = try pages(from: former, to: harness.view)
    #expect(read <= 2 * 5 * (former.root.level + 1))
    #expect(read < all / 3, "\(read) of \(all)")
    withExtendedLifetime(pin) {}
  }
}
