extension Array {
  /// The place of the first element that satisfies a condition, which all after it satisfy, too; the end if none does.
  ///
  /// - Complexity: O(log n)
  @inline(__always)
  func partitioningIndex(where isAfter: (Element) -> Bool) -> Int {
    var (lower, upper) = (0, count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if isAfter(self[middle]) { upper = middle } else { lower = middle + 1 }
    }
    return lower
  }
}
