import Workload

extension DiskRecord {
  /// The cut positions, as numbers of events. Half of them are drawn from all events after the store was
  /// opened. A quarter are just before a flush, with a probability proportional to the number of writes that
  /// the flush makes durable. A quarter are just after an acknowledgement, when everything acknowledged must
  /// be durable. The last position is the end, where the machine was killed.
  ///
  /// - Parameter count: The maximum number of positions; at least 1.
  /// - Returns: The positions in ascending order, without duplicates.
  public func cutPositions(_ count: Int, _ random: inout RandomNumbers) -> [Int] {
    let first = openedAt ?? 0
    // Each write counts once for the flush that covers it.
    var covered: [Int] = []
    for flush in events.indices where flush > first && events[flush] == .flush {
      covered += [Int](repeating: flush, count: flush - firstUncertain(at: flush))
    }
    let acknowledged = acknowledgements.map(\.position)
    var positions: Set<Int> = [events.count]
    for index in 1..<max(count, 1) {
      switch index % 4 {
      case 0: positions.insert(covered.randomElement(using: &random) ?? first)
      case 1: positions.insert(acknowledged.randomElement(using: &random) ?? first)
      default: positions.insert(Int.random(in: first...events.count, using: &random))
      }
    }
    return positions.sorted()
  }
}
