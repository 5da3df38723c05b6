import Foundation
import Heartwood

/// Makes a condition of the graph one that rows answer, where their own columns are enough.
struct RowConditionCompiler {
  private let store: AppleSQLiteStore
  private let table: EntityTable
  private let properties: [PropertyDescription]
  private let cells: [EntityTable.Cell]

  /// Nil if entities of the table have the properties of this one in other columns, or if it has none.
  init?(_ entity: EntityDescription, in table: EntityTable, of store: AppleSQLiteStore) {
    let readers = table.readers.values.filter { $0.entity.isKindOf(entity: entity) }
    guard let first = readers.first else { return nil }
    (self.store, self.table) = (store, table)
    properties = entity.storedProperties
    let columns = first.cells.prefix(properties.count).map(\.column)
    guard readers.allSatisfy({ $0.cells.prefix(columns.count).map(\.column) == columns }) else { return nil }
    cells = Array(first.cells.prefix(columns.count))
  }

  /// Nil for a condition that needs more than the columns of a row.
  func condition(_ condition: StoreCondition) -> RowCondition? {
    switch condition {
    case .constant(let value): return ConstantCondition(value)
    case .all(let parts): return conditions(parts).map(AllConditions.init)
    case .any(let parts): return conditions(parts).map(AnyCondition.init)
    case .not(let part): return self.condition(part).map(NotCondition.init)
    case .comparison(.attribute(let attribute, let path), let comparator, let value, let options):
      guard options.isEmpty, path.variable == 0, path.relationships.isEmpty, let column = column(attribute)
      else { return nil }
      return comparison(column, comparator, value)
    default: return nil
    }
  }

  private func conditions(_ parts: [StoreCondition]) -> [RowCondition]? {
    let made = parts.compactMap(condition)
    return made.count == parts.count ? made : nil
  }

  private func column(_ attribute: AttributeDescription) -> ConditionColumn? {
    guard let place = properties.firstIndex(where: { $0 === attribute }) else { return nil }
    return ConditionColumn(store, table, cells[place])
  }

  private func comparison(
    _ column: ConditionColumn, _ comparator: ComparisonPredicate.Operator, _ value: StoreExpression
  ) -> RowCondition? {
    switch (comparator, value) {
    case (.between, .list(let ends)) where ends.count == 2:
      let parts = [
        compared(column, .greaterThanOrEqualTo, ends[0]), compared(column, .lessThanOrEqualTo, ends[1]),
      ].compactMap { $0 }
      return parts.count == 2 ? AllConditions(parts) : nil
    case (_, .constant(let constant)): return compared(column, comparator, constant)
    default: return nil
    }
  }

  private func compared(
    _ column: ConditionColumn, _ comparator: ComparisonPredicate.Operator, _ constant: (any Sendable)?
  ) -> RowCondition? {
    switch comparator {
    case .notEqualTo: return equality(column, constant).map(NotCondition.init)
    case .equalTo: return equality(column, constant)
    case .beginsWith: return text(column, .beginsWith, constant)
    case .endsWith: return text(column, .endsWith, constant)
    case .contains: return text(column, .contains, constant)
    default: return order(column, comparator, constant)
    }
  }

  private func equality(_ column: ConditionColumn, _ constant: (any Sendable)?) -> RowCondition? {
    guard let constant else { return MissingCondition(column) }
    if case .boolean = column.kind {
      return (constant as? Bool).map { IntegerCondition(column, $0 ? 1...1 : 0...0) }
    }
    return text(column, .equal, constant) ?? order(column, .equalTo, constant)
  }

  private func text(
    _ column: ConditionColumn, _ comparison: TextCondition.Comparison, _ constant: (any Sendable)?
  ) -> RowCondition? {
    guard case .text = column.kind, let constant = constant as? String else { return nil }
    return TextCondition(column, comparison, constant)
  }

  private func order(
    _ column: ConditionColumn, _ comparator: ComparisonPredicate.Operator, _ constant: (any Sendable)?
  ) -> RowCondition? {
    switch column.kind {
    case .integer16, .integer32, .integer64:
      return (constant as? Int64).flatMap { bounds(comparator, $0) }.map { IntegerCondition(column, $0) }
    case .double, .float: return number(column, comparator, constant as? Double)
    case .date: return number(column, comparator, (constant as? Date)?.timeIntervalSinceReferenceDate)
    default: return nil
    }
  }

  /// Nil for no comparison of orders, and for one that no integer satisfies.
  private func bounds(_ comparator: ComparisonPredicate.Operator, _ constant: Int64) -> ClosedRange<Int64>? {
    switch comparator {
    case .equalTo: constant...constant
    case .lessThanOrEqualTo: .min...constant
    case .greaterThanOrEqualTo: constant ... .max
    case .lessThan where constant > .min: .min...constant - 1
    case .greaterThan where constant < .max: constant + 1 ... .max
    default: nil
    }
  }

  private func number(
    _ column: ConditionColumn, _ comparator: ComparisonPredicate.Operator, _ constant: Double?
  ) -> RowCondition? {
    guard let constant, !constant.isNaN, let accepted = AcceptedOrders(comparator) else { return nil }
    return NumberCondition(column, constant, accepted)
  }
}

extension AcceptedOrders {
  /// Nil for an operator that compares no orders.
  fileprivate init?(_ comparator: ComparisonPredicate.Operator) {
    switch comparator {
    case .lessThan: self = .less
    case .lessThanOrEqualTo: self = [.less, .equal]
    case .equalTo: self = .equal
    case .greaterThanOrEqualTo: self = [.equal, .greater]
    case .greaterThan: self = .greater
    default: return nil
    }
  }
}
