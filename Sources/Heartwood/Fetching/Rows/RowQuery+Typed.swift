/// The columns of a row, one after the other.
@usableFromInline struct ColumnValues {
  private let values: [Value]
  /// Nil for values that are as they are stored.
  private let converter: RowValues?
  /// The object whose columns are read when they are asked for; nil for values that were read before.
  private var place: Place?
  private let readers: [UnownedReference<ValueReader>]
  private var column = 0

  init(_ values: [Value], _ converter: RowValues?) {
    self.values = values
    self.converter = converter
    readers = []
  }

  /// Columns of objects, to be moved to one before use.
  ///
  /// - Parameters:
  ///   - readers: The readers of the columns, which the caller keeps.
  ///   - source: Where the rows of other objects are. The caller keeps it.
  init(_ readers: [UnownedReference<ValueReader>], in source: any RowSource) {
    self.readers = readers
    place = Place(in: source)
    (values, converter) = ([], nil)
  }

  /// Goes to the first column of another object.
  mutating func move(to found: FoundRow) {
    place = place?.moved(to: found)
    column = 0
  }

  /// The value of the next column. What it is as a value of Swift is compiled into the program that fetches, for its types of columns: to look
  /// these types up for each row takes longer than to read it.
  @usableFromInline mutating func next() throws -> _Value {
    defer { column += 1 }
    if let place { return try readers[column].with { try $0.read(place) } }
    return try converter?.value(values, column) ?? values[column]
  }
}

extension RowQuery {
  /// Columns that are named by their numbers.
  static func columns<each Column: RowColumn>(_ columns: repeat each Column) -> [RowQuery.Column] {
    var named: [RowQuery.Column] = []
    repeat named.append(
      RowQuery.Column(name: "\(named.count + 1)", expression: (each columns).rowExpression.expression))
    return named
  }

  /// Keeps the parts of a condition that are about joined objects, and returns the others.
  mutating func split(_ condition: Condition?) -> Condition? {
    guard let condition else { return nil }
    let parts = if case .and(let parts) = condition.node { parts } else { [condition] }
    let about = parts.filter { part in joins.contains { part.mentions($0.scope) } }
    let others = parts.filter { part in !joins.contains { part.mentions($0.scope) } }
    joinedCondition = about.isEmpty ? nil : .all(about)
    return others.isEmpty ? nil : .all(others)
  }
}

extension Condition {
  /// Whether it is about an object.
  fileprivate func mentions(_ scope: Scope) -> Bool {
    switch node {
    case .constant, .refused: false
    case .and(let parts), .or(let parts): parts.contains { $0.mentions(scope) }
    case .not(let part): part.mentions(scope)
    case .comparison(let comparison): comparison.left.mentions(scope) || comparison.right.mentions(scope)
    case .truth(let value): value.mentions(scope)
    case .quantified(_, let path, _, let part): path.scope === scope || part.mentions(scope)
    }
  }
}

extension ConditionExpression {
  fileprivate func mentions(_ scope: Scope) -> Bool {
    contains { part in
      switch part.kind {
      case .path(let path): path.scope === scope
      case .aggregate(let aggregate):
        aggregate.path.scope === scope || aggregate.element?.mentions(scope) == true
          || aggregate.filter?.mentions(scope) == true
      case .collection(let values):
        values.path.scope === scope || values.element?.mentions(scope) == true
          || values.filter?.mentions(scope) == true
      case .group, .window: true
      default: false
      }
    }
  }
}
