/// Computes a value from the destinations of a to-many relationship.
final class AggregateReader: ValueReader {
  private let function: Aggregate.Function
  private let destinations: Destinations
  private let element: ValueReader?
  private let filter: RowTest?
  /// Keeps values for objects from which many places lead to the same owner; nil if the value also depends on the place.
  private let memo: AggregateMemo?
  /// The sum of no values.
  private let zero: Value

  init(
    _ function: Aggregate.Function, _ destinations: Destinations, _ element: ValueReader?, _ filter: RowTest?,
    _ memo: AggregateMemo?, zero: Value
  ) {
    self.zero = zero
    self.function = function
    self.destinations = destinations
    self.element = element
    self.filter = filter
    self.memo = memo
  }

  override func read(_ place: Place) throws -> Value {
    guard let memo, memo.isActive, let owner = try destinations.owner(place)?.key else {
      return try compute(place)
    }
    if let value = memo[owner] { return value }
    let value = try compute(place)
    memo[owner] = value
    return value
  }

  private func compute(_ place: Place) throws -> Value {
    if element == nil, filter == nil { return .int(Int64(try destinations.count(place))) }
    var state = AggregateState(function)
    try destinations.forEach(place) { destination in
      if let filter, try !filter.matches(destination) { return true }
      guard let element else {
        state.addObject()
        return true
      }
      let value = try element.read(destination)
      // A path over several to-many relationships has a list for each destination of the first one.
      if case .list(let members) = value {
        for member in members { state.add(member) }
      } else {
        state.add(value)
      }
      return true
    }
    return state.value(zero: zero)
  }
}

/// The values of an aggregate by the object whose relationship it is over, during one fetch: `$0.genre.tracks.average { … }` is computed once
/// for each genre, not for each track.
///
/// It keeps values only while a fetch has activated it, as they are valid as long as no row changes.
@usableFromInline package final class AggregateMemo {
  private var values: [UInt64: Value] = [:]
  private(set) var isActive = false
  /// Bounds the memory; what is not kept is computed again.
  private static let capacity = 100_000

  subscript(owner: UInt64) -> Value? {
    get { values[owner] }
    set { if values.count < Self.capacity { values[owner] = newValue } }
  }

  @usableFromInline func activate() { isActive = true }

  @usableFromInline func deactivate() { (isActive, values) = (false, [:]) }
}

extension [AggregateMemo] {
  /// Calls `body`, during which no row may change, with the memos activated.
  @inlinable package func whileActive<Result>(_ body: () throws -> Result) rethrows -> Result {
    for memo in self { memo.activate() }
    defer { for memo in self { memo.deactivate() } }
    return try body()
  }
}

/// Reads the values of the destinations of a to-many relationship as a list; without missing ones, as they are in no list.
final class DestinationValuesReader: ValueReader {
  private let destinations: Destinations
  private let element: ValueReader?
  private let filter: RowTest?
  private let isDistinct: Bool

  /// - Parameter element: nil for the destinations' keys.
  init(_ destinations: Destinations, _ element: ValueReader?, _ filter: RowTest?, isDistinct: Bool) {
    self.destinations = destinations
    self.element = element
    self.filter = filter
    self.isDistinct = isDistinct
  }

  override func read(_ place: Place) throws -> Value {
    var values: [Value] = []
    try destinations.forEach(place) { destination in
      if let filter, try !filter.matches(destination) { return true }
      let value = try element?.read(destination) ?? .int(Int64(bitPattern: destination.key))
      values += value.parts
      return true
    }
    return .list(isDistinct ? values.withoutRepetitions : values)
  }
}

/// Reads a list.
final class ListReader: ValueReader {
  private let members: [ValueReader]

  init(_ members: [ValueReader]) { self.members = members }
  override func read(_ place: Place) throws -> Value { .list(try members.map { try $0.read(place) }) }
}
