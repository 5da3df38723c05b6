/// How an order is kept: each destination has a rank, and there is room between ranks.
///
/// A new order keeps the ranks of as many destinations as possible, the longest run that is in order
/// already, and gives the others ranks in between. Where there is no room left, all get new ranks.
enum OrderedLinks {
  struct Place: Hashable {
    var rank: UInt64
    var target: UInt64
  }

  enum Change: Equatable {
    case remove(Place)
    case add(Place)
  }

  /// The room between destinations that are appended one after the other.
  static let step: UInt64 = 1 << 32
  /// Beyond it an order is given new ranks.
  static let limit: UInt64 = 1 << 63

  /// The rank of a destination at the end; nil where there is no room.
  static func rank(after last: UInt64?) -> UInt64? {
    guard let last else { return step }
    return last < limit - step ? last + step : nil
  }

  /// What to remove and what to add, the removals first.
  ///
  /// - Parameters:
  ///   - places: what there is, in its order.
  ///   - targets: what there is to be; of one that occurs several times only the first counts.
  /// - Complexity: O(n log n)
  static func changes(from places: [Place], to targets: [UInt64]) -> [Change] {
    var seen: Set<UInt64> = []
    let targets = targets.filter { seen.insert($0).inserted }
    guard places.map(\.target) != targets else { return [] }
    let old = Dictionary(places.map { ($0.target, $0.rank) }, uniquingKeysWith: { first, _ in first })
    let ranks = self.ranks(of: targets, old) ?? targets.indices.map { (UInt64($0) + 1) * step }
    let new = Dictionary(zip(targets, ranks), uniquingKeysWith: { first, _ in first })
    let removals = places.filter { new[$0.target] != $0.rank }.map(Change.remove)
    let additions = zip(targets, ranks).filter { old[$0] != $1 }.map {
      Change.add(Place(rank: $1, target: $0))
    }
    return removals + additions
  }

  /// Ascending ranks that keep as many old ones as possible; nil where there is no room for the others.
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

  /// Appends evenly spaced ranks; false where there is no room.
  private static func fill(
    _ ranks: inout [UInt64], _ count: Int, between low: UInt64, and high: UInt64
  ) -> Bool {
    guard count > 0 else { return true }
    let step = (high - low) / (UInt64(count) + 1)
    guard step > 0 else { return false }
    for place in 1...UInt64(count) { ranks.append(low + place * step) }
    return true
  }

  /// Which elements form a longest ascending run; nil elements belong to none.
  static func longestAscendingRun(_ ranks: [UInt64?]) -> [Bool] {
    // For each length, the index of the smallest last element of such a run.
    var ends: [Int] = []
    var previous = [Int?](repeating: nil, count: ranks.count)
    for (index, rank) in ranks.enumerated() {
      guard let rank else { continue }
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if let other = ranks[ends[middle]], other < rank { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var isKept = [Bool](repeating: false, count: ranks.count)
    var next = ends.last
    while let index = next {
      isKept[index] = true
      next = previous[index]
    }
    return isKept
  }
}
