/// Searching a page: the prefix is compared once, then heads are found by interpolation, which is
/// corrected by galloping; only keys with the same head look at more than heads.
extension Page {
  /// Where a key stands in a leaf, or where it would have to be put.
  ///
  /// - Parameter guess: Where to look first, if that is known.
  @inline(__always)
  func search(_ key: SearchKey, near guess: Int? = nil) -> (index: Int, isFound: Bool) {
    search(key, from: 0, near: guess)
  }

  /// The entry of a branch below which a key lies.
  @inline(__always)
  func childIndex(_ key: SearchKey) -> Int {
    let (index, isFound) = search(key, from: 1)
    return isFound ? index : index &- 1
  }

  /// The entry of a branch below which the key with `rank` keys before it lies; `rank` is then that below the entry.
  @inline(__always)
  func childIndex(rank: inout UInt64) -> Int {
    let last = count &- 1
    var index = 0
    while index < last, rank >= keyCount(index) {
      rank &-= keyCount(index)
      index &+= 1
    }
    return index
  }

  @inline(__always)
  private func search(_ key: SearchKey, from first: Int, near guess: Int? = nil) -> (
    index: Int, isFound: Bool
  ) {
    let count = count
    let prefixCount = prefixBytes
    if count == first { return (first, false) }
    if prefixCount > 0 {
      let order = SearchKey.compare(key.base, prefix, min(prefixCount, key.count))
      if order > 0 { return (count, false) }
      if order < 0 || key.count < prefixCount { return (first, false) }
    }
    let head = key.head(from: prefixCount)
    let index = lowerBound(head, from: first, to: count, near: guess)
    if index == count || self.head(index) != head { return (index, false) }
    let suffix = key.count &- prefixCount
    let uniform = uniform
    if uniform <= 8 {
      // Keys of one head and one length of at most eight are one key.
      if suffix == Int(uniform) { return (index, true) }
      return (suffix < Int(uniform) ? index : index &+ 1, false)
    }
    return searchEqualHeads(key, head, from: index, to: count)
  }

  /// The first index whose head is not below `head`.
  @inline(__always)
  private func lowerBound(_ head: UInt64, from first: Int, to end: Int, near guess: Int?) -> Int {
    let firstHead = firstHead
    if head <= firstHead { return first }
    let heads = heads
    let last = end &- 1
    let guess = guess.map { min($0, last) } ?? interpolated(head, from: first, to: last)
    var low: Int
    var high: Int
    var step = 1
    if heads.field64(guess &* 8) < head {
      low = guess &+ 1
      high = end
      while true {
        let probe = low &+ step &- 1
        if probe >= end { break }
        if heads.field64(probe &* 8) >= head {
          high = probe
          break
        }
        low = probe &+ 1
        step &*= 2
      }
    } else {
      high = guess
      low = first
      while true {
        let probe = high &- step
        if probe < first { break }
        if heads.field64(probe &* 8) < head {
          low = probe &+ 1
          break
        }
        high = probe
        step &*= 2
      }
    }
    while low < high {
      let middle = (low &+ high) >> 1
      if heads.field64(middle &* 8) < head { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  /// Where a head that is not below the first one would be, if all were spread evenly.
  @inline(__always)
  private func interpolated(_ head: UInt64, from first: Int, to last: Int) -> Int {
    let distance = Double(Int64(truncatingIfNeeded: (head &- firstHead) >> 1))
    let estimate = distance * scale
    // Written so that a scale that is no number ends at the last entry.
    return estimate < Double(last &- first) ? first &+ Int(estimate) : last
  }

  /// Among entries with the head of the key, which begin at `start`.
  @inline(never)
  private func searchEqualHeads(
    _ key: SearchKey, _ head: UInt64, from start: Int, to count: Int
  ) -> (index: Int, isFound: Bool) {
    var low = start
    var high = count
    while low < high {
      let middle = (low &+ high) >> 1
      let order = self.head(middle) != head ? 1 : compareTail(middle, key)
      if order == 0 { return (middle, true) }
      if order < 0 { low = middle &+ 1 } else { high = middle }
    }
    return (low, false)
  }

  /// The order of an entry and a key whose heads are the same.
  func compareTail(_ index: Int, _ key: SearchKey) -> Int {
    let entrySuffix = suffixBytes(index)
    let prefixCount = prefixBytes
    let keySuffix = key.count &- prefixCount
    let shorter = min(entrySuffix, keySuffix)
    if shorter > 8 {
      let order = SearchKey.compare(rest(index), key.base + (prefixCount &+ 8), shorter &- 8)
      if order != 0 { return order }
    }
    // Heads are padded with zeros: where one suffix ends within them, the shorter one comes first.
    return entrySuffix &- keySuffix
  }
}
