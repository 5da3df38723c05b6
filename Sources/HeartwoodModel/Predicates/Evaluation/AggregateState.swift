import Foundation

/// The value of an aggregate function over the values that were added so far. Missing values are not counted.
///
/// A sum that overflows is nil. Averages, medians, percentiles and standard deviations of integers are doubles;
/// the standard deviation is that of the whole population.
package struct AggregateState {
  let function: Aggregate.Function
  private(set) var count: Int64 = 0
  private var result = Value.null
  private var deviation = Deviation()
  /// The values that functions keep which need all of them, or none twice.
  private var kept: KeptValues?

  package init(_ function: Aggregate.Function, isDistinct: Bool = false) {
    self.function = function
    if isDistinct || function == .median || function == .mode {
      kept = KeptValues(isDistinct: isDistinct)
    }
  }

  /// Counts an object, whatever its values are.
  package mutating func addObject() { count += 1 }

  /// Counts several objects.
  package mutating func addObjects(_ number: Int) { count += Int64(number) }

  package mutating func add(_ value: Value) {
    guard !value.isNull else { return }
    if let kept, !kept.insert(value, for: function) { return }
    count += 1
    if function == .standardDeviation { deviation.add(value.doubleValue ?? .nan) }
    guard count > 1 else {
      result = value
      return
    }
    join(value)
  }

  /// Joins a further value, or the result of further values, with the result.
  private mutating func join(_ value: Value) {
    switch function {
    case .count, .median, .mode, .standardDeviation: break
    case .sum: result = ArithmeticOperator.add.apply(result, value)
    case .average: addToAverage(value)
    case .min: if Value.compare(value, result) ?? 0 < 0 { result = value }
    case .max: if Value.compare(value, result) ?? 0 > 0 { result = value }
    }
  }

  /// The state of the values of both.
  ///
  /// - Precondition: The function is neither the median nor the mode, and values count as often as they are there.
  package func combined(with other: AggregateState) -> AggregateState {
    if other.count == 0 { return self }
    if count == 0 { return other }
    var both = self
    both.count += other.count
    both.deviation.add(other.deviation)
    both.join(other.result)
    return both
  }

  /// An average exists where the sum overflows.
  private mutating func addToAverage(_ value: Value) {
    let sum = ArithmeticOperator.add.apply(result, value)
    result = sum.isNull ? .double((result.doubleValue ?? 0) + (value.doubleValue ?? 0)) : sum
  }

  /// The value of the function. The sum of no values is 0, their number too; all else is nil.
  ///
  /// - Parameters:
  ///   - fraction: For a percentile, the part of the values that are not above it; one half is the median.
  ///   - zero: The sum of no values.
  package func value(fraction: Double = 0.5, zero: Value = .int(0)) -> Value {
    switch function {
    case .count: return .int(count)
    case .sum: return count == 0 ? zero : result
    case .min, .max: return result
    case .average:
      guard count > 0 else { return .null }
      if case .int(let sum) = result { return .double(Double(sum) / Double(count)) }
      return ArithmeticOperator.divide.apply(result, .int(count))
    case .median: return kept?.percentile(fraction) ?? .null
    case .mode: return kept?.mode ?? .null
    case .standardDeviation: return deviation.value
    }
  }
}

extension AttributeType {
  /// The sum of no values of this type.
  package var zero: Value {
    switch self {
    case .double, .float: .double(0)
    case .decimal: .decimal(0)
    default: .int(0)
    }
  }
}

extension Aggregate.Function {
  /// Whether the function is about numbers only.
  var needsNumbers: Bool {
    switch self {
    case .sum, .average, .median, .standardDeviation: true
    case .count, .min, .max, .mode: false
    }
  }

  /// Whether the result is one of the values, and no number computed from them.
  package var selectsValue: Bool { self == .min || self == .max || self == .mode }
}

/// The number of values, their mean, and the sum of the squares of their distances from it, by Welford's algorithm.
private struct Deviation {
  private var (count, mean, squares) = (0.0, 0.0, 0.0)

  mutating func add(_ number: Double) {
    let distance = number - mean
    count += 1
    mean += distance / count
    squares += distance * (number - mean)
  }

  mutating func add(_ other: Deviation) {
    guard other.count > 0 else { return }
    let (distance, both) = (other.mean - mean, count + other.count)
    squares += other.squares + distance * distance * count * other.count / both
    mean += distance * other.count / both
    count = both
  }

  /// The standard deviation of the whole population.
  var value: Value { count == 0 ? .null : .double((squares / count).squareRoot()) }
}

/// The values that an aggregate has seen.
private final class KeptValues {
  private var values: [Value] = []
  private var distinct: Set<Value>?

  init(isDistinct: Bool) { distinct = isDistinct ? [] : nil }

  /// Returns false for a value that was there before, if each counts once.
  func insert(_ value: Value, for function: Aggregate.Function) -> Bool {
    if distinct?.insert(value).inserted == false { return false }
    switch function {
    case .median, .mode: values.append(value)
    case .count, .sum, .min, .max, .average, .standardDeviation: break
    }
    return true
  }

  /// The value at a fraction of the ordered values, between two neighbours if it falls between them.
  func percentile(_ fraction: Double) -> Value {
    guard !values.isEmpty, !fraction.isNaN else { return .null }
    let ordered = values.sorted { Value.compare($0, $1) ?? 0 < 0 }
    let place = Double(ordered.count - 1) * min(max(fraction, 0), 1)
    let below = Int(place.rounded(.down))
    let part = place - Double(below)
    let low = Self.fractional(ordered[below])
    guard part > 0 else { return low }
    let distance = ArithmeticOperator.subtract.apply(Self.fractional(ordered[below + 1]), low)
    return ArithmeticOperator.add.apply(
      low, ArithmeticOperator.multiply.apply(distance, Self.part(part, of: distance)))
  }

  /// The most frequent value, the least of several.
  var mode: Value {
    var counts: [Value: Int] = [:]
    for value in values { counts[value, default: 0] += 1 }
    return counts.min { left, right in
      left.value != right.value ? left.value > right.value : Value.compare(left.key, right.key) ?? 0 < 0
    }?.key ?? .null
  }

  /// Integers as doubles, so that a fraction of them exists.
  private static func fractional(_ value: Value) -> Value {
    if case .int(let number) = value { return .double(Double(number)) }
    return value
  }

  private static func part(_ part: Double, of distance: Value) -> Value {
    if case .decimal = distance { return .decimal(Decimal(part)) }
    return .double(part)
  }
}
