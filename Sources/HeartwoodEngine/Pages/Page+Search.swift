/// Searches a page. The prefix is compared once; then the head is found by interpolation, corrected by
/// galloping. Only keys with equal heads are compared beyond their heads.
extension Page {
  /// The index of a key in a leaf, or the index where it would be inserted.
  ///
  /// - Parameter guess: Where to begin instead of at the interpolated index.
  @inline(__always)
  func search(_ key: SearchKey, near guess: Int? = nil) -> (index: Int, isFound: Bool) {
    search(key, from: 0, near: guess)
  }

  /// The entry of a branch that covers a key.
  @inline(__always)
  func childIndex(_ key: SearchKey) -> Int {
    let (index, isFound) = search(key, from: 1)
    return isFound ? index : index &- 1
  }

  /// The entry of a branch that covers the key with `rank` keys before it. `rank` becomes relative to the
  /// entry.
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
      let order = Bytes.compare(key.bytes, prefix, min(prefixCount, key.count))
      if order > 0 { return (count, false) }
      if order < 0 || key.count < prefixCount { return (first, false) }
    }
    let head = key.head(from: prefixCount)
    let index = lowerBound(head, from: first, to: count, near: guess)
    if index == count || self.head(index) != head { return (index, false) }
    let suffix = key.count &- prefixCount
    let uniform = uniform
    if uniform <= 8 {
      // Two suffixes with the same head and the same length of at most eight bytes are equal.
      if suffix == Int(uniform) { return (index, true) }
      return (suffix < Int(uniform) ? index : index &+ 1, false)
    }
    return searchEqualHeads(key, head, from: index, to: count)
  }

  /// The first index whose head is not less than `head`.
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

  /// The estimated index of a head that is not less than the first, assuming evenly distributed heads.
  @inline(__always)
  private func interpolated(_ head: UInt64, from first: Int, to last: Int) -> Int {
    let distance = Double(Int64(truncatingIfNeeded: (head &- firstHead) >> 1))
    let estimate = distance * scale
    // Written so that a NaN scale yields the last entry.
    return estimate < Double(last &- first) ? first &+ Int(estimate) : last
  }

  /// Binary search among entries with the same head as the key; `start` is the first of them.
  ///
  /// Compares the eight bytes after the heads as numbers: above keys of several kinds, all heads of one kind are equal.
  @inline(never)
  private func searchEqualHeads(
    _ key: SearchKey, _ head: UInt64, from start: Int, to count: Int
  ) -> (index: Int, isFound: Bool) {
    let second = key.head(from: prefixBytes &+ 8)
    var low = start
    var high = count
    while low < high {
      let middle = (low &+ high) >> 1
      let other = self.head(middle) == head ? secondHead(middle) : .max
      if other < second {
        low = middle &+ 1
        continue
      }
      if other == second, self.head(middle) == head {
        let order = compareTail(middle, key)
        if order == 0 { return (middle, true) }
        if order < 0 {
          low = middle &+ 1
          continue
        }
      }
      high = middle
    }
    return (low, false)
  }

  /// The first eight bytes of an entry's rest as a big-endian number, padded with zeros.
  @inline(__always)
  private func secondHead(_ index: Int) -> UInt64 {
    let rest = restBytes(index)
    guard rest > 0 else { return 0 }
    let end = heapOffset(index) &+ min(rest, 8)
    // The bytes before a shorter rest are shifted out.
    return memory.field64(end &- 8).byteSwapped
      &<< UInt64(truncatingIfNeeded: 64 &- 8 &* min(rest, 8))
  }

  /// The order of an entry and a key with equal heads: negative, zero or positive.
  func compareTail(_ index: Int, _ key: SearchKey) -> Int {
    let entrySuffix = suffixBytes(index)
    let prefixCount = prefixBytes
    let keySuffix = key.count &- prefixCount
    let shorter = min(entrySuffix, keySuffix)
    if shorter > 8 {
      let order = Bytes.compare(rest(index), key.bytes.bytes(from: prefixCount &+ 8), shorter &- 8)
      if order != 0 { return order }
    }
    // Heads are padded with zeros: if one suffix ends within the head, the shorter one is first.
    return entrySuffix &- keySuffix
  }
}
