import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood

@Suite struct OrderedLinksTests {
  private func apply(_ changes: [OrderedLinks.Change], to places: [OrderedLinks.RankedTarget])
    -> [OrderedLinks.RankedTarget]
  {
    var ranks = Dictionary(places.map { ($0.rank, $0.target) }, uniquingKeysWith: { first, _ in first })
    for change in changes {
      switch change {
      case .remove(let place): #expect(ranks.removeValue(forKey: place.rank) == place.target)
      case .add(let place): #expect(ranks.updateValue(place.target, forKey: place.rank) == nil)
      }
    }
    return ranks.sorted { $0.key < $1.key }.map { OrderedLinks.RankedTarget(rank: $0.key, target: $0.value) }
  }

  @Test func `any order can be reached from any other`() {
    var random = SplitMix64(seed: 9)
    var places: [OrderedLinks.RankedTarget] = []
    for _ in 0..<150 {
      let count = Int.random(in: 0..<15, using: &random)
      let targets = (0..<count).map { _ in UInt64.random(in: 0..<20, using: &random) }
      var seen: Set<UInt64> = []
      places = apply(OrderedLinks.changes(from: places, to: targets), to: places)
      #expect(places.map(\.target) == targets.filter { seen.insert($0).inserted })
    }
  }

  @Test func `moving one destination writes two places`() {
    let places = (1...100).map {
      OrderedLinks.RankedTarget(rank: UInt64($0) * OrderedLinks.step, target: UInt64($0))
    }
    var targets = places.map(\.target)
    targets.insert(targets.remove(at: 90), at: 3)
    #expect(OrderedLinks.changes(from: places, to: targets).count == 2)
  }

  @Test func `all ranks are renumbered where no room is left between them`() {
    var places: [OrderedLinks.RankedTarget] = []
    // Always moves to the second place, which uses up half of the room each time.
    for target in 0..<100 as Range<UInt64> {
      var targets = places.map(\.target)
      targets.insert(target, at: min(1, targets.count))
      places = apply(OrderedLinks.changes(from: places, to: targets), to: places)
      #expect(places.map(\.target) == targets)
    }
    let last = OrderedLinks.RankedTarget(rank: OrderedLinks.limit - 1, target: 1)
    #expect(apply(OrderedLinks.changes(from: [last], to: [1, 2]), to: [last]).map(\.target) == [1, 2])
  }

  @Test func `the longest ascending run is found`() {
    var random = SplitMix64(seed: 4)
    for _ in 0..<40 {
      let ranks = (0..<7).map { _ -> UInt64? in
        let rank = UInt64.random(in: 0..<12, using: &random)
        return rank == 0 ? nil : rank
      }
      let kept = zip(ranks, OrderedLinks.longestAscendingRun(ranks)).filter(\.1).compactMap(\.0)
      #expect(zip(kept, kept.dropFirst()).allSatisfy { $0 < $1 })
      #expect(kept.count == longest(ranks))
    }
  }

  /// Finds the result by trying all runs.
  private func longest(_ ranks: [UInt64?]) -> Int {
    (0..<(1 << ranks.count)).map { chosen -> Int in
      let run = ranks.indices.filter { chosen >> $0 & 1 == 1 }.map { ranks[$0] ?? 0 }
      return !run.contains(0) && zip(run, run.dropFirst()).allSatisfy { $0 < $1 } ? run.count : 0
    }.max() ?? 0
  }
}
