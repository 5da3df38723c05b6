/// An aggregate over a frame that moves forward over the values of a partition.
///
/// A queue of two stacks: values enter at the end of the one, with the state of all of them, and leave from the other, which has the state
/// of each of its values and those behind it. No value is ever subtracted, which would leave rounding errors, and could not be for a
/// minimum.
///
/// - Invariant: The values at `start..<middle` are in `leaving`, the first one at its end, and those at `middle..<end` in `entered`.
struct MovingAggregate {
  private let function: Aggregate.Function
  private let countsRows: Bool
  private var (start, middle, end) = (0, 0, 0)
  private var leaving: [AggregateState] = []
  private var entered: AggregateState

  /// - Parameter countsRows: Whether rows count, and not values.
  init(_ function: Aggregate.Function, countsRows: Bool) {
    self.function = function
    self.countsRows = countsRows
    entered = AggregateState(function)
  }

  /// Moves to another frame, which neither begins nor ends before the last one.
  ///
  /// - Complexity: Amortised constant for each value that enters or leaves.
  mutating func move(to positions: Range<Int>, of values: [Value]) {
    if positions.lowerBound >= end {
      // Nothing of the last frame is in this one.
      (start, middle, end) = (positions.lowerBound, positions.lowerBound, positions.lowerBound)
      leaving = []
      entered = AggregateState(function)
    }
    while end < positions.upperBound {
      add(values[end], to: &entered)
      end += 1
    }
    while start < positions.lowerBound {
      if leaving.isEmpty { turn(values) }
      leaving.removeLast()
      start += 1
    }
    assert(
      leaving.count == middle - start && middle <= end,
      "a frame has other values than those that have entered")
  }

  var value: Value { (leaving.last?.combined(with: entered) ?? entered).value() }

  /// Makes the values that have entered those that leave.
  private mutating func turn(_ values: [Value]) {
    var state = AggregateState(function)
    for position in (middle..<end).reversed() {
      var first = AggregateState(function)
      add(values[position], to: &first)
      state = first.combined(with: state)
      leaving.append(state)
    }
    middle = end
    entered = AggregateState(function)
  }

  private func add(_ value: Value, to state: inout AggregateState) {
    if countsRows { state.addObject() } else { state.add(value) }
  }
}
