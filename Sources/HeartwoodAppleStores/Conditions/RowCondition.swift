import Heartwood
import HeartwoodSQLite

/// A condition that the own columns of a row answer: it is evaluated on the record, and no object is made. Its results are those of the graph.
///
/// Subclasses are small and final, so that a row takes a few calls without allocations.
class RowCondition {
  /// The last column that is read; -1 if none is.
  let lastColumn: Int

  init(lastColumn: Int) { self.lastColumn = lastColumn }

  func holds(for row: SQLiteRow) throws -> Bool { false }
}

final class ConstantCondition: RowCondition {
  private let value: Bool

  init(_ value: Bool) {
    self.value = value
    super.init(lastColumn: -1)
  }

  override func holds(for row: SQLiteRow) -> Bool { value }
}

final class AllConditions: RowCondition {
  private let parts: [RowCondition]

  init(_ parts: [RowCondition]) {
    self.parts = parts
    super.init(lastColumn: parts.map(\.lastColumn).max() ?? -1)
  }

  override func holds(for row: SQLiteRow) throws -> Bool {
    for part in parts where try !part.holds(for: row) { return false }
    return true
  }
}

final class AnyCondition: RowCondition {
  private let parts: [RowCondition]

  init(_ parts: [RowCondition]) {
    self.parts = parts
    super.init(lastColumn: parts.map(\.lastColumn).max() ?? -1)
  }

  override func holds(for row: SQLiteRow) throws -> Bool {
    for part in parts where try part.holds(for: row) { return true }
    return false
  }
}

final class NotCondition: RowCondition {
  private let part: RowCondition

  init(_ part: RowCondition) {
    self.part = part
    super.init(lastColumn: part.lastColumn)
  }

  override func holds(for row: SQLiteRow) throws -> Bool { try !part.holds(for: row) }
}

/// Whether a value is missing.
final class MissingCondition: RowCondition {
  private let column: ConditionColumn

  init(_ column: ConditionColumn) {
    self.column = column
    super.init(lastColumn: column.column)
  }

  override func holds(for row: SQLiteRow) throws -> Bool { try column.isMissing(in: row) }
}

/// Whether an integer or a Boolean is within bounds. A missing value is within none.
final class IntegerCondition: RowCondition {
  private let column: ConditionColumn
  private let bounds: ClosedRange<Int64>

  init(_ column: ConditionColumn, _ bounds: ClosedRange<Int64>) {
    (self.column, self.bounds) = (column, bounds)
    super.init(lastColumn: column.column)
  }

  override func holds(for row: SQLiteRow) throws -> Bool {
    guard let number = try column.integer(of: row) else { return false }
    return bounds.contains(number)
  }
}

/// Whether a floating-point number or a date has an order to a constant. A missing value has none, and NaN comes last.
final class NumberCondition: RowCondition {
  private let column: ConditionColumn
  private let constant: Double
  private let accepts: AcceptedOrders

  init(_ column: ConditionColumn, _ constant: Double, _ accepts: AcceptedOrders) {
    (self.column, self.constant, self.accepts) = (column, constant, accepts)
    super.init(lastColumn: column.column)
  }

  override func holds(for row: SQLiteRow) throws -> Bool {
    guard let number = try column.number(of: row) else { return false }
    if number < constant { return accepts.contains(.less) }
    if number == constant { return accepts.contains(.equal) }
    return accepts.contains(.greater)
  }
}

/// Which orders of a value to a constant satisfy a comparison.
struct AcceptedOrders: OptionSet {
  let rawValue: UInt8

  static let less = AcceptedOrders(rawValue: 1)
  static let equal = AcceptedOrders(rawValue: 2)
  static let greater = AcceptedOrders(rawValue: 4)
}

/// Compares a text with a constant, both in composed form. A missing text equals none, and begins with none. The empty text is in none.
final class TextCondition: RowCondition {
  enum Comparison { case equal, beginsWith, endsWith, contains }

  private let column: ConditionColumn
  private let comparison: Comparison
  private let constant: [UInt8]

  init(_ column: ConditionColumn, _ comparison: Comparison, _ constant: String) {
    (self.column, self.comparison) = (column, comparison)
    self.constant = Array(constant.normalizedForComparison.utf8)
    super.init(lastColumn: column.column)
  }

  override func holds(for row: SQLiteRow) throws -> Bool {
    // ASCII is in composed form, and is most of what there is.
    if let found = column.withASCII(of: row, holds) { return found }
    guard let text = try column.text(of: row) else { return false }
    return Array(text.normalizedForComparison.utf8).withUnsafeBytes(holds)
  }

  private func holds(_ text: UnsafeRawBufferPointer) -> Bool {
    switch comparison {
    case .equal: text.count == constant.count && text.elementsEqual(constant)
    case .beginsWith: !constant.isEmpty && text.starts(with: constant)
    case .endsWith:
      !constant.isEmpty && text.count >= constant.count && text.suffix(constant.count).elementsEqual(constant)
    case .contains: contains(text)
    }
  }

  private func contains(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let first = constant.first else { return false }
    var rest = text[...]
    while rest.count >= constant.count, let place = rest.firstIndex(of: first) {
      rest = rest[place...]
      if rest.starts(with: constant) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}
