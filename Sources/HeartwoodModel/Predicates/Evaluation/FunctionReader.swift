import Foundation

/// Computes a function of values.
final class FunctionReader: ValueReader {
  private let function: ConditionFunction
  private let arguments: [ValueReader]

  init(_ function: ConditionFunction, _ arguments: [ValueReader]) {
    self.function = function
    self.arguments = arguments
  }

  override func read(_ place: Place) throws -> Value {
    function.apply(try arguments.map { try $0.read(place) })
  }

  override func hasNoResult(_ place: Place) throws -> Bool {
    let missing = try arguments.filter { try $0.read(place).isNull }
    return try missing.isEmpty || missing.contains { try $0.hasNoResult(place) }
  }
}

/// Computes a component of a date in a time zone.
final class DateComponentReader: ValueReader {
  private let component: ConditionFunction
  private let date: ValueReader
  private let zone: TimeZone

  init(_ component: ConditionFunction, _ date: ValueReader, _ zone: TimeZone) {
    self.component = component
    self.date = date
    self.zone = zone
  }

  override func read(_ place: Place) throws -> Value {
    component.component(of: try date.read(place), in: zone)
  }
}

/// Reads one of two values.
final class ConditionalReader: ValueReader {
  private let test: RowTest
  private let first: ValueReader
  private let second: ValueReader

  init(_ test: RowTest, _ first: ValueReader, _ second: ValueReader) {
    self.test = test
    self.first = first
    self.second = second
  }

  override func read(_ place: Place) throws -> Value {
    try test.matches(place) ? first.read(place) : second.read(place)
  }

  override func hasNoResult(_ place: Place) throws -> Bool {
    try test.matches(place) ? first.hasNoResult(place) : second.hasNoResult(place)
  }
}
