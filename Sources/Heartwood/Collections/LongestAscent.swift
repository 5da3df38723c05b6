/// The longest ascending subsequence.
enum LongestAscent {
  /// The indexes of its members.
  ///
  /// - Complexity: O(n log n); O(n) for an ascending sequence.
  static func indexes<Number: Comparable>(in numbers: [Number]) -> Set<Int> {
    if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) { return Set(numbers.indices) }
    /// The indexes of the smallest last members of the ascents of each length.
    var tails: [Int] = []
    var previous: [Int?] = []
    for (index, number) in numbers.enumerated() {
      let place = tails.partitioningIndex { numbers[$0] >= number }
      previous.append(place > 0 ? tails[place - 1] : nil)
      if place == tails.count { tails.append(index) } else { tails[place] = index }
    }
    var kept: Set<Int> = []
    var next = tails.last
    while let index = next {
      kept.insert(index)
      next = previous[index]
    }
    return kept
  }
}
