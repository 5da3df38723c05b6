/// A fetch of rows: values computed from objects, or from groups of objects, without making objects.
struct RowQuery: Sendable {
  struct Column: Sendable {
    var name: String
    var expression: ConditionExpression
  }

  /// The destinations of a to-many relationship that each row is about, too.
  struct Join: Sendable {
    var path: PropertyPath
    /// The destination, for paths.
    var scope: Scope
  }

  var columns: [Column]
  var joins: [Join] = []
  /// Selects rows by the joined objects. What is about the fetched object alone is a part of the request's predicate.
  var joinedCondition: Condition?
  /// Rows with equal values of these are one group; nil to group by all columns that are not about groups, if any is.
  var groups: [ConditionExpression]?
  /// Selects groups.
  private(set) var having: Condition?
  /// Selects rows after windows are computed, as QUALIFY in SQL dialects.
  private(set) var qualifying: Condition?
  var sorts: [RowSortKey] = []
  var isDistinct = false

  init(columns: [Column]) { self.columns = columns }

  /// A query from its typed parts.
  init(
    columns: [Column], groups: [any RowColumn]?, having: Condition?, sorts: [RowSort]?, isDistinct: Bool
  ) {
    self.columns = columns
    self.groups = groups?.map(\.rowExpression.expression)
    self.sorts = sorts?.map(\.key) ?? []
    self.isDistinct = isDistinct
    select(having)
  }

  /// Selects groups by the parts of a condition that are not about windows, and then rows by those that are.
  mutating func select(_ condition: Condition?) {
    guard let condition else { return }
    let parts = if case .and(let parts) = condition.node { parts } else { [condition] }
    let (late, early) = (parts.filter(\.isAboutWindow), parts.filter { !$0.isAboutWindow })
    having = early.isEmpty ? nil : .all(early)
    qualifying = late.isEmpty ? nil : .all(late)
  }

  /// Replaces all expressions and conditions.
  mutating func rewrite(
    _ expression: (ConditionExpression) -> ConditionExpression, _ condition: (Condition) -> Condition
  ) {
    for place in columns.indices { columns[place].expression = expression(columns[place].expression) }
    for place in sorts.indices { sorts[place].expression = expression(sorts[place].expression) }
    groups = groups?.map(expression)
    joinedCondition = joinedCondition.map(condition)
    having = having.map(condition)
    qualifying = qualifying.map(condition)
  }

  /// Whether another fetch has to be executed first.
  var needsFetch: Bool {
    columns.contains { $0.expression.needsFetch } || sorts.contains { $0.expression.needsFetch }
      || groups?.contains(where: \.needsFetch) == true
      || [joinedCondition, having, qualifying].contains { $0?.needsFetch == true }
  }

  /// A class, and the properties whose least or greatest values are asked for.
  typealias Extremes = (type: ManagedObject.Type, values: [(property: PathStep, isGreatest: Bool)])

  /// Those that are all that is asked for, of all objects of a class; nil if more is.
  func extremes(of type: ManagedObject.Type) -> Extremes? {
    let found = columns.compactMap(\.expression.extreme)
    let isAll = groups == nil && joins.isEmpty && having == nil && qualifying == nil && sorts.isEmpty
    return isAll && !isDistinct && found.count == columns.count ? (type, found) : nil
  }

  /// Whether the rows of the result are groups.
  var isGrouped: Bool {
    groups != nil || columns.contains { $0.expression.isAboutGroup }
      || sorts.contains { $0.expression.isAboutGroup }
      || having != nil || qualifying?.isAboutGroup == true
  }

  var usesWindows: Bool {
    columns.contains { $0.expression.isAboutWindow } || sorts.contains { $0.expression.isAboutWindow }
      || qualifying != nil
  }

  /// The values that groups are formed by.
  var groupKeys: [ConditionExpression] {
    groups ?? columns.map(\.expression).filter { !$0.isAboutGroup && !$0.isAboutWindow }
  }
}

extension ConditionExpression {
  /// The property, if this is the least or the greatest value that all fetched objects have of one of theirs.
  fileprivate var extreme: (property: PathStep, isGreatest: Bool)? {
    guard case .group(let aggregate) = kind, aggregate.function == .min || aggregate.function == .max,
      aggregate.filter == nil, case .path(let path)? = aggregate.element?.kind,
      path.scope === Scope.fetched, path.steps.count == 1
    else { return nil }
    return (path.steps[0], aggregate.function == .max)
  }
}
