import Foundation

/// The values of functions. They are the same wherever a function is computed: in a store, in memory, and of constants once.
extension ConditionFunction {
  /// The value for arguments in the order of the function's name; null if there is none.
  ///
  /// Arguments of another kind than the function takes give null; compiling a condition refuses them before.
  func apply(_ arguments: [Value]) -> Value {
    guard arity.contains(arguments.count) else { return .null }
    if self == .coalesce { return arguments.first { !$0.isNull } ?? .null }
    if let aggregate {
      // A single value is a list of one.
      var state = AggregateState(aggregate)
      for value in arguments[0].parts { state.add(value) }
      return state.value()
    }
    guard let first = arguments.first else {
      return self == .random ? .double(.random(in: 0..<1)) : .date(Self.current)
    }
    guard !first.isNull else { return .null }
    switch self {
    case .union, .intersect, .minus: return combine(first.parts, arguments[1].parts)
    case .item: return item(first.elements, arguments[1])
    case .cast: return arguments[1].text.flatMap(CastType.init(name:))?.cast(first) ?? .null
    case .uppercase: return first.text.map { .string($0.normalizedForComparison.uppercased()) } ?? .null
    case .lowercase: return first.text.map { .string($0.normalizedForComparison.lowercased()) } ?? .null
    case .canonical:
      return first.text.map { .string($0.folded([.caseInsensitive, .diacriticInsensitive])) } ?? .null
    case .length: return first.length
    case .distance: return Self.distance(first.elements, arguments[1].elements)
    case _ where isDateComponent:
      guard let second = arguments.dropFirst().first else { return component(of: first, in: nil) }
      guard let zone = second.text.flatMap(Self.timeZone) else { return .null }
      return component(of: first, in: zone)
    default: return number(first, arguments.dropFirst().first)
    }
  }

  /// The current time in seconds since the reference date.
  static var current: Double { Date().timeIntervalSinceReferenceDate }

  // MARK: Lists

  /// The members of both lists, of both at once, or of the first only, each once.
  private func combine(_ left: [Value], _ right: [Value]) -> Value {
    let others = Set(right)
    switch self {
    case .intersect: return .list(left.withoutRepetitions.filter { others.contains($0) })
    case .minus: return .list(left.withoutRepetitions.filter { !others.contains($0) })
    default: return .list((left + right).withoutRepetitions)
    }
  }

  private func item(_ values: [Value], _ index: Value) -> Value {
    switch index {
    case .int(let index): values.indices.contains(Int(index)) ? values[Int(index)] : .null
    case .string(let name):
      switch name.uppercased() {
      case "FIRST": values.first ?? .null
      case "LAST": values.last ?? .null
      case "SIZE": .int(Int64(values.count))
      default: .null
      }
    default: .null
    }
  }

  // MARK: Places on Earth

  /// The distance in metres between two pairs of latitude and longitude in degrees, on a sphere of the Earth's mean radius.
  private static func distance(_ left: [Value], _ right: [Value]) -> Value {
    let degrees = (left + right).compactMap(\.doubleValue)
    guard left.count == 2, right.count == 2, degrees.count == 4 else { return .null }
    let radians = degrees.map { $0 * .pi / 180 }
    let (latitude, longitude) = (sin((radians[2] - radians[0]) / 2), sin((radians[3] - radians[1]) / 2))
    let share = latitude * latitude + cos(radians[0]) * cos(radians[2]) * longitude * longitude
    let metres = 2 * 6_371_008.8 * asin(Swift.min(1, share.squareRoot()))
    return metres.isFinite ? .double(metres) : .null
  }

  // MARK: Dates

  /// The time zone with an identifier such as `Europe/Berlin`, or with an abbreviation such as `GMT+2`.
  static func timeZone(_ name: String) -> TimeZone? {
    TimeZone(identifier: name) ?? TimeZone(abbreviation: name)
  }

  func component(of value: Value, in zone: TimeZone?) -> Value {
    guard case .date(let seconds) = value, seconds.isFinite, Swift.abs(seconds) < 1e14 else { return .null }
    let offset = zone?.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: seconds)) ?? 0
    return .int(CivilTime(seconds: Int64(seconds.rounded(.down)) + Int64(offset)).component(self))
  }
}

extension Value {
  /// The members of a list; a value that is no list is one, and a missing value none.
  var parts: [Value] {
    switch self {
    case .list(let values): values
    case .null: []
    default: [self]
    }
  }

  /// The number of characters of a text, of bytes of data, or of members of a list.
  fileprivate var length: Value {
    switch self {
    case .string(let text), .url(let text): .int(Int64(text.count))
    case .data(let data): .int(Int64(data.count))
    case .list(let values): .int(Int64(values.count))
    default: .null
    }
  }
}
