/// The stored form of an ordered relationship: each destination has a rank, with gaps between ranks.
///
/// A reordering keeps the ranks of as many destinations as possible (the longest run that is already
/// ascending) and assigns the others ranks in the gaps. If a gap is too small, all destinations get new
/// ranks.
enum OrderedLinks {
  struct RankedTarget: Hashable {
    var rank: UInt64
    var target: UInt64
  }

  enum Change: Equatable {
    case remove(RankedTarget)
    case add(RankedTarget)
  }

  /// The distance between the ranks of destinations that are appended one after another.
  static let step: UInt64 = 1 << 32
  /// An append that would reach this rank renumbers the whole order instead.
  static let limit: UInt64 = 1 << 63

  /// The rank of a destination appended after the rank `last`; nil if the order has to be renumbered.
  static func rank(after last: UInt64?) -> UInt64? {
    guard let last else { return step }
    return last < limit - step ? last + step : nil
  }

  /// The changes that turn one order into another, removals first.
  ///
  /// - Parameters:
  ///   - places: the current order.
  ///   - targets: the wanted order; of repeated targets only the first counts.
  /// - Complexity: O(n log n)
  static func changes(from places: [RankedTarget], to targets: [UInt64]) -> [Change] {
    var seen: Set<UInt64> = []
    let targets = targets.filter { seen.insert($0).inserted }
    guard places.map(\.target) != targets else { return [] }
    let old = Dictionary(places.map { ($0.target, $0.rank) }, uniquingKeysWith: { first, _ in first })
    let ranks = self.ranks(of: targets, old) ?? targets.indices.map { (UInt64($0) + 1) * step }
    let new = Dictionary(zip(targets, ranks), uniquingKeysWith: { first, _ in first })
    let removals = places.filter { new[$0.target] != $0.rank }.map(Change.remove)
    let additions = zip(targets, ranks).filter { old[$0] != $1 }.map {
      Change.add(RankedTarget(rank: $1, target: $0))
    }
    return removals + additions
  }

  /// Ascending ranks that keep as many old ones as possible; nil if a gap is too small for the others.
  private static func ranks(of targets: [UInt64], _ old: [UInt64: UInt64]) -> [UInt64]? {
    let kept = longestAscendingRun(targets.map { old[$0] })
    var ranks: [UInt64] = []
    ranks.reserveCapacity(targets.count)
    var previous: UInt64 = 0
    var waiting = 0
    for (index, target) in targets.enumerated() {
      guard kept[index], let rank = old[target] else {
        waiting += 1
        continue
      }
      guard fill(&ranks, waiting, between: previous, and: rank) else { return nil }
      waiting = 0
      ranks.append(rank)
      previous = rank
    }
    for _ in 0..<waiting {
      guard let rank = rank(after: ranks.last) else { return nil }
      ranks.append(rank)
    }
    return ranks
  }

  /// Appends evenly spaced ranks between two others; returns false if there is no room.
  private static func fill(
    _ ranks: inout [UInt64], _ count: Int, between low: UInt64, and high: UInt64
  ) -> Bool {
    guard count > 0 else { return true }
    let step = (high - low) / (UInt64(count) + 1)
    guard step > 0 else { return false }
    for place in 1...UInt64(count) { ranks.append(low + place * step) }
    return true
  }

  /// Marks the elements of one longest ascending run; nil elements are in none.
  static func longestAscendingRun(_ ranks: [UInt64?]) -> [Bool] {
    let known = ranks.indices.filter { ranks[$0] != nil }
    let kept = Set(LongestAscent.indexes(in: ranks.compactMap(\.self)).map { known[$0] })
    return ranks.indices.map(kept.contains)
  }
}
