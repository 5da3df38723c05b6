import Workload

extension DiskRecord {
  /// Where a disk is cut: after so many of its events. Half of the positions are drawn from all those after the store was
  /// opened, a quarter lies before a flush, the likelier the more it would have made durable, and a quarter after an acknowledgement has arrived,
  /// where nothing may be late. The last is the end, where the machine was killed.
  ///
  /// - Parameter count: The most positions; at least 1.
  /// - Returns: Them, ascending, each once.
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
