/// Computes a value from the destinations of a to-many relationship.
final class AggregateReader: ValueReader {
  private let function: Aggregate.Function
  private let destinations: Destinations
  private let element: ValueReader?
  private let filter: RowTest?

  init(
    _ function: Aggregate.Function, _ destinations: Destinations, _ element: ValueReader?, _ filter: RowTest?
  ) {
    self.function = function
    self.destinations = destinations
    self.element = element
    self.filter = filter
  }

  override func read(_ place: Place) throws -> Value {
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
    return state.value()
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
