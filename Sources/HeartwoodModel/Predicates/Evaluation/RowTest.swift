/// A compiled condition on one object.
///
/// Subclasses are small and final, one for each form of comparison, so that evaluating a condition is a few
/// calls without allocations and without a `Value`.
@usableFromInline package class RowTest {
  @usableFromInline package func matches(_ place: Place) throws -> Bool { false }

  /// Whether the test reads the row, and not only the key.
  var readsRow: Bool { true }
}

final class ConstantTest: RowTest {
  private let value: Bool

  init(_ value: Bool) { self.value = value }
  override func matches(_ place: Place) -> Bool { value }
  override var readsRow: Bool { false }
}

final class BothTest: RowTest {
  private let first: RowTest
  private let second: RowTest

  init(_ first: RowTest, _ second: RowTest) {
    self.first = first
    self.second = second
  }

  override func matches(_ place: Place) throws -> Bool {
    try first.matches(place) && second.matches(place)
  }
}

final class EitherTest: RowTest {
  private let first: RowTest
  private let second: RowTest

  init(_ first: RowTest, _ second: RowTest) {
    self.first = first
    self.second = second
  }

  override func matches(_ place: Place) throws -> Bool {
    try first.matches(place) || second.matches(place)
  }
}

extension RowTest {
  /// The conjunction of the tests; true for none.
  static func all(_ tests: [RowTest]) -> RowTest { joined(tests[...], BothTest.init) ?? ConstantTest(true) }

  /// The disjunction of the tests; false for none.
  static func any(_ tests: [RowTest]) -> RowTest {
    joined(tests[...], EitherTest.init) ?? ConstantTest(false)
  }

  /// Splits the list into halves, so that the tree of a long list stays flat.
  private static func joined(_ tests: ArraySlice<RowTest>, _ join: (RowTest, RowTest) -> RowTest) -> RowTest?
  {
    guard tests.count > 1 else { return tests.first }
    let middle = tests.startIndex + tests.count / 2
    guard let first = joined(tests[..<middle], join), let second = joined(tests[middle...], join) else {
      return nil
    }
    return join(first, second)
  }
}

final class NotTest: RowTest {
  private let test: RowTest

  init(_ test: RowTest) { self.test = test }
  override func matches(_ place: Place) throws -> Bool { try !test.matches(place) }
  override var readsRow: Bool { test.readsRow }
}

/// Whether a value is missing.
final class NullTest: RowTest {
  private let column: Column
  private let isNullWanted: Bool

  init(_ column: Column, isNullWanted: Bool) {
    self.column = column
    self.isNullWanted = isNullWanted
  }

  override func matches(_ place: Place) -> Bool { place.row.isNull(column) == isNullWanted }
}

/// Whether the object is one of those with these keys.
final class IdentityTest: RowTest {
  private let keys: Set<UInt64>
  private let isMemberWanted: Bool

  init(_ keys: Set<UInt64>, isMemberWanted: Bool) {
    self.keys = keys
    self.isMemberWanted = isMemberWanted
  }

  override func matches(_ place: Place) -> Bool { keys.contains(place.key) == isMemberWanted }
  override var readsRow: Bool { false }
}

/// Whether the object is of one of the entities with these numbers.
final class EntityTest: RowTest {
  private let numbers: Set<UInt16>
  private let isMemberWanted: Bool

  init(_ numbers: Set<UInt16>, isMemberWanted: Bool) {
    self.numbers = numbers
    self.isMemberWanted = isMemberWanted
  }

  override func matches(_ place: Place) -> Bool { numbers.contains(place.row.entityNumber) == isMemberWanted }
}
