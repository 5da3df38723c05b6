/// Fetching typed rows: values computed by the store, without objects.
///
/// Unsaved changes of the context are included, as in other fetches.
extension ManagedObjectContext {
  /// The rows of columns of the objects of a class, or of groups of them.
  ///
  /// ```swift
  /// let best = try context.fetchRows(
  ///   InvoiceLine.self, columns: { ($0.track.album.artist.name, $0.quantity.sum()) },
  ///   sort: { [.descending($0.quantity.sum())] }, limit: 10)
  /// ```
  ///
  /// If a column, `having` or `sort` is about a group, there is one row for each group of objects: those with equal values of the columns
  /// that are not about groups, or of `groups`. If there is no such column, all objects are one group.
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - columns: The columns of a row, a tuple.
  ///   - condition: Selects the objects; nil for all.
  ///   - groups: What groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  /// - Throws: As `fetch(_:)`.
  /// - Complexity: Linear in the objects that the plan reads. Memory is that of the result, of the groups or, for windows and orders by
  ///   computed values, of all rows.
  public func fetchRows<Object: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, columns: (ObjectQuery<Object>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>) -> Condition)? = nil, sort: ((ObjectQuery<Object>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [(repeat (each Column).Result)] {
    if limit == 0 { return [] }
    let object = ObjectQuery<Object>()
    let query = RowQuery(
      columns: RowQuery.columns(repeat each columns(object)), groups: groups?(object),
      having: having?(object), sorts: sort?(object), isDistinct: distinct)
    return try rows(of: request(type, condition, [], limit, offset), query, repeat (each Column).self)
  }

  /// Calls a function with the columns of each row, without keeping them.
  ///
  /// ```swift
  /// try context.enumerateRows(Track.self, columns: { ($0.title, $0.seconds) }) { title, seconds in
  ///   print(title ?? "", seconds ?? 0)
  ///   return true
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - columns: The columns of a row, a tuple.
  ///   - condition: Selects the objects; nil for all.
  ///   - groups: What groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  ///   - body: Called with the columns of each row until it returns false.
  /// - Throws: As `fetch(_:)`, and what `body` throws.
  public func enumerateRows<Object: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, columns: (ObjectQuery<Object>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>) -> Condition)? = nil, sort: ((ObjectQuery<Object>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0,
    _ body: (repeat (each Column).Result) throws -> Bool
  ) throws {
    if limit == 0 { return }
    let object = ObjectQuery<Object>()
    let query = RowQuery(
      columns: RowQuery.columns(repeat each columns(object)), groups: groups?(object),
      having: having?(object), sorts: sort?(object), isDistinct: distinct)
    beginUse("fetching rows")
    defer { endUse() }
    try forEachRow(of: request(type, condition, [], limit, offset), query) { values, converter in
      var columns = ColumnValues(values, converter)
      return try body(repeat try columns.next((each Column).self))
    }
  }

  /// The plan of `fetchRows` with the same arguments now.
  ///
  /// - Throws: As `fetchRows`.
  public func planForRows<Object: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, columns: (ObjectQuery<Object>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>) -> Condition)? = nil, sort: ((ObjectQuery<Object>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> FetchPlan {
    beginUse("planning a fetch")
    defer { endUse() }
    try beginReading()
    let object = ObjectQuery<Object>()
    let query = RowQuery(
      columns: RowQuery.columns(repeat each columns(object)), groups: groups?(object),
      having: having?(object), sorts: sort?(object), isDistinct: distinct)
    return try rowExecution(of: request(type, condition, [], limit, offset), query, in: readingView())
      .explain()
  }

  /// The rows of an object and each destination of a to-many relationship.
  ///
  /// ```swift
  /// let genres = try context.fetchRows(
  ///   Playlist.self, joining: { $0.tracks }, columns: { list, track in (list.name, track.genre.name, RowFunction.count()) })
  /// ```
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - relationship: The relationship; objects without destinations have no row.
  ///   - columns: The columns of a row, a tuple, of the object and the destination.
  ///   - condition: Selects the rows by the object and the destination; nil for all.
  ///   - groups: What groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  /// - Throws: As `fetch(_:)`.
  public func fetchRows<Object: ManagedObject, Joined: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, joining relationship: (ObjectQuery<Object>) -> ManyQuery<Joined>,
    columns: (ObjectQuery<Object>, ObjectQuery<Joined>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> Condition)? = nil,
    sort: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) throws -> [(repeat (each Column).Result)] {
    if limit == 0 { return [] }
    let (object, scope) = (ObjectQuery<Object>(), Scope())
    let joined = ObjectQuery<Joined>(PropertyPath(scope))
    var query = RowQuery(
      columns: RowQuery.columns(repeat each columns(object, joined)), groups: groups?(object, joined),
      having: having?(object, joined), sorts: sort?(object, joined), isDistinct: distinct)
    query.joins = [RowQuery.Join(path: relationship(object)._path, scope: scope)]
    let request = request(type, nil, [], limit, offset)
    request.predicate = query.split(condition?(object, joined), joined: scope)
    return try rows(of: request, query, repeat (each Column).self)
  }

  private func rows<Object: ManagedObject, each Column: RowColumn>(
    of request: FetchRequest<Object>, _ query: RowQuery, _ types: repeat (each Column).Type
  ) throws -> [(repeat (each Column).Result)] {
    beginUse("fetching rows")
    defer { endUse() }
    var rows: [(repeat (each Column).Result)] = []
    try forEachRow(of: request, query) { values, converter in
      var columns = ColumnValues(values, converter)
      rows.append((repeat try columns.next(each types)))
      return true
    }
    return rows
  }
}

/// The columns of a row, one after the other.
private struct ColumnValues {
  private let values: [Value]
  private let converter: RowValues
  private var column = 0

  init(_ values: [Value], _ converter: RowValues) {
    self.values = values
    self.converter = converter
  }

  mutating func next<Column: RowColumn>(_ type: Column.Type) throws -> Column.Result {
    defer { column += 1 }
    return try type._result(try converter.value(values, column))
  }
}

extension RowQuery {
  /// Columns that are named by their numbers.
  fileprivate static func columns<each Column: RowColumn>(_ columns: repeat each Column) -> [RowQuery.Column]
  {
    var named: [RowQuery.Column] = []
    repeat named.append(
      RowQuery.Column(name: "\(named.count + 1)", expression: (each columns).rowExpression.expression))
    return named
  }

  /// Keeps the parts of a condition that are about joined objects, and returns the others.
  fileprivate mutating func split(_ condition: Condition?, joined scope: Scope) -> Condition? {
    guard let condition else { return nil }
    let parts = if case .and(let parts) = condition.node { parts } else { [condition] }
    let about = parts.filter { $0.mentions(scope) }
    let others = parts.filter { !$0.mentions(scope) }
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
