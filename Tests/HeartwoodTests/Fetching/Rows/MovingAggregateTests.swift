import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Aggregates over moving frames beside aggregates over the rows of each frame.
@Suite struct MovingAggregateTests {
  @Test(
    arguments: [Aggregate.Function.count, .sum, .min, .max, .average],
    1...4 as ClosedRange<UInt64>)
  func `a frame that moves has the value of all its rows`(function: Aggregate.Function, seed: UInt64) throws {
    print("moving aggregate \(function) with seed \(seed)")
    var random = SplitMix64(seed: 0x6d6f_7669 + seed)
    let values = (0..<500).map { _ in random.below(5) == 0 ? Value.null : .int(Int64(random.below(40)) - 20) }
    let countsRows = random.below(2) == 0 && function == .count
    var moving = MovingAggregate(function, countsRows: countsRows)
    var frame = 0..<0
    while frame.upperBound < values.count {
      // Now and then it leaves all of the last one behind.
      let lower = frame.lowerBound + random.below(random.below(8) == 0 ? 30 : 4)
      let upper = max(frame.upperBound, lower) + random.below(4)
      frame = min(lower, values.count)..<min(upper, values.count)
      moving.move(to: frame, of: values)
      var whole = AggregateState(function)
      for value in values[frame] {
        if countsRows { whole.addObject() } else { whole.add(value) }
      }
      try #require(moving.value == whole.value(), "seed \(seed), \(frame)")
    }
  }
}
