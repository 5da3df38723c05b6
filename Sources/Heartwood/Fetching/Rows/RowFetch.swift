/// A fetch of rows as a value: to execute several times, to unite with others, or to follow as a context changes.
///
/// ```swift
/// let people = RowFetch(Person.self, columns: { ($0.name, $0.city) })
/// let firms = RowFetch(Firm.self, columns: { ($0.title, $0.city) })
/// let addresses = try context.fetchRows(people.union(firms).sorted(by: .ascending(column: 0)).limited(to: 100))
/// ```
///
/// `Row` is the tuple of the columns' values, or the value of a single column.
public struct RowFetch<Row>: Sendable {
  /// The rows of one class.
  struct Part: Sendable {
    /// Compiles the fetch for a context and the state that it reads.
    let prepare: @Sendable (ManagedObjectContext, any StoreView, FetchFigures?) throws -> RowExecution
    /// The types of the columns' values; nil where a column is no value of an attribute's type.
    let types: [AttributeType?]
    let decode: @Sendable (inout ColumnValues) throws -> Row
    let extremes: RowQuery.Extremes?
  }

  /// The rows of several fetches.
  struct Combination: Sendable {
    var fetches: [RowFetch]
    var keepsDuplicates: Bool
    var order: [ColumnSort] = []
    var offset = 0
    var limit: Int?

    /// Whether it is no more than the rows of its fetches.
    var isPlain: Bool { order.isEmpty && offset == 0 && limit == nil }
  }

  indirect enum Content: Sendable {
    case part(Part)
    case combination(Combination)
  }

  let content: Content

  private init(_ content: Content) { self.content = content }

  private init<Object: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, _ condition: Condition?, _ query: RowQuery, _ limit: Int?, _ offset: Int,
    _ columns: repeat (each Column).Type, decode: @escaping @Sendable (inout ColumnValues) throws -> Row
  ) where Row == (repeat (each Column).Result) {
    var types: [AttributeType?] = []
    repeat types.append(((each Column).self as? any TypedColumn.Type)?.attributeType)
    let part = Part(
      prepare: { context, view, figures in
        let request = FetchRequest<Object>()
        request.predicate = condition
        request.fetchOffset = offset
        request.fetchLimit = limit ?? 0
        return try RowFetching(context).rowExecution(of: request, query, in: view, counting: figures)
      }, types: types, decode: decode,
      extremes: condition == nil && offset == 0 ? query.extremes(of: type) : nil)
    content =
      limit == 0
      ? .combination(Combination(fetches: [], keepsDuplicates: true)) : .part(part)
  }

  /// The rows of columns of the objects of a class, or of groups of them.
  ///
  /// If a column, `having` or `sort` is about a group, there is one row for each group of objects: those with equal values of the columns
  /// that are not about groups, or of `groups`. If there is no such column, all objects are one group.
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - columns: The columns of a row, a tuple.
  ///   - condition: Selects the objects; nil for all.
  ///   - groups: The columns that groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  @inlinable public init<Object: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, columns: (ObjectQuery<Object>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>) -> Condition)? = nil, sort: ((ObjectQuery<Object>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) where Row == (repeat (each Column).Result) {
    self.init(
      type, columns, condition, groups, having, sort, distinct, limit, offset,
      decode: { values in (repeat try (each Column)._result(values.next())) })
  }

  @usableFromInline init<Object: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, _ columns: (ObjectQuery<Object>) -> (repeat each Column),
    _ condition: ((ObjectQuery<Object>) -> Condition)?, _ groups: ((ObjectQuery<Object>) -> [any RowColumn])?,
    _ having: ((ObjectQuery<Object>) -> Condition)?, _ sort: ((ObjectQuery<Object>) -> [RowSort])?,
    _ distinct: Bool, _ limit: Int?, _ offset: Int,
    decode: @escaping @Sendable (inout ColumnValues) throws -> Row
  ) where Row == (repeat (each Column).Result) {
    let object = ObjectQuery<Object>()
    let query = RowQuery(
      columns: RowQuery.columns(repeat each columns(object)), groups: groups?(object),
      having: having?(object), sorts: sort?(object), isDistinct: distinct)
    self.init(type, condition?(object), query, limit, offset, repeat (each Column).self, decode: decode)
  }

  /// The rows of an object and each destination of a to-many relationship.
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - relationship: The relationship; objects without destinations have no row.
  ///   - columns: The columns of a row, a tuple, of the object and the destination.
  ///   - condition: Selects the rows by the object and the destination; nil for all.
  ///   - groups: The columns that groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  public init<Object: ManagedObject, Joined: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, joining relationship: (ObjectQuery<Object>) -> ManyQuery<Joined>,
    columns: (ObjectQuery<Object>, ObjectQuery<Joined>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> [any RowColumn])? = nil,
    having: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> Condition)? = nil,
    sort: ((ObjectQuery<Object>, ObjectQuery<Joined>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) where Row == (repeat (each Column).Result) {
    let (object, scope) = (ObjectQuery<Object>(), Scope())
    let joined = ObjectQuery<Joined>(PropertyPath(scope))
    var query = RowQuery(
      columns: RowQuery.columns(repeat each columns(object, joined)), groups: groups?(object, joined),
      having: having?(object, joined), sorts: sort?(object, joined), isDistinct: distinct)
    query.joins = [RowQuery.Join(path: relationship(object)._path, scope: scope)]
    let selected = query.split(condition?(object, joined))
    self.init(
      type, selected, query, limit, offset, repeat (each Column).self,
      decode: { values in (repeat try (each Column)._result(values.next())) })
  }

  /// The rows of an object and each pair of destinations of two to-many relationships, which may be the same one: pairs of an object's
  /// destinations.
  ///
  /// ```swift
  /// let together = RowFetch(
  ///   Playlist.self, joining: { $0.tracks }, { list, track in list.tracks },
  ///   columns: { list, first, second in (first.title, second.title, RowFunction.count()) },
  ///   where: { list, first, second in first.title < second.title })
  /// ```
  ///
  /// - Parameters:
  ///   - type: A class that has exactly one entity in the model; objects of subentities are included.
  ///   - relationship: The first relationship; objects without destinations have no row.
  ///   - second: The second relationship, of the object or of its destination; rows without destinations are left out.
  ///   - columns: The columns of a row, a tuple, of the object and both destinations.
  ///   - condition: Selects the rows by the object and the destinations; nil for all.
  ///   - groups: The columns that groups are formed by; nil for the columns that are not about groups.
  ///   - having: Selects the groups, and the rows by windows; nil for all.
  ///   - sort: The order of the rows, most significant first; nil for no order.
  ///   - distinct: Whether rows that are equal to another are left out.
  ///   - limit: The maximum number of rows; nil for all.
  ///   - offset: How many of the first rows to skip.
  public init<Object: ManagedObject, First: ManagedObject, Second: ManagedObject, each Column: RowColumn>(
    _ type: Object.Type, joining relationship: (ObjectQuery<Object>) -> ManyQuery<First>,
    _ second: (ObjectQuery<Object>, ObjectQuery<First>) -> ManyQuery<Second>,
    columns: (ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> (repeat each Column),
    where condition: ((ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> Condition)? = nil,
    groupedBy groups: ((ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> [any RowColumn])? =
      nil,
    having: ((ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> Condition)? = nil,
    sort: ((ObjectQuery<Object>, ObjectQuery<First>, ObjectQuery<Second>) -> [RowSort])? = nil,
    distinct: Bool = false, limit: Int? = nil, offset: Int = 0
  ) where Row == (repeat (each Column).Result) {
    let (object, scopes) = (ObjectQuery<Object>(), [Scope(), Scope()])
    let one = ObjectQuery<First>(PropertyPath(scopes[0]))
    let other = ObjectQuery<Second>(PropertyPath(scopes[1]))
    var query = RowQuery(
      columns: RowQuery.columns(repeat each columns(object, one, other)), groups: groups?(object, one, other),
      having: having?(object, one, other), sorts: sort?(object, one, other), isDistinct: distinct)
    query.joins = [
      RowQuery.Join(path: relationship(object)._path, scope: scopes[0]),
      RowQuery.Join(path: second(object, one)._path, scope: scopes[1]),
    ]
    let selected = query.split(condition?(object, one, other))
    self.init(
      type, selected, query, limit, offset, repeat (each Column).self,
      decode: { values in (repeat try (each Column)._result(values.next())) })
  }
}

/// Rows of several fetches, and their order.
extension RowFetch {
  private var combination: Combination {
    if case .combination(let combination) = content { return combination }
    return Combination(fetches: [self], keepsDuplicates: true)
  }

  /// The rows of both fetches: those of this one first, unless they get another order.
  ///
  /// Their own orders, limits and offsets count for the rows of each.
  ///
  /// - Parameters:
  ///   - other: A fetch whose columns have the same types.
  ///   - keepingDuplicates: Whether rows that are equal to another are kept, as with `UNION ALL`.
  public func union(_ other: RowFetch, keepingDuplicates: Bool = false) -> RowFetch {
    var all = Combination(fetches: [self, other], keepsDuplicates: keepingDuplicates)
    if case .combination(let own) = content, own.isPlain, own.keepsDuplicates == keepingDuplicates {
      all.fetches = own.fetches + [other]
    }
    return RowFetch(.combination(all))
  }

  /// The rows in the order of columns. Rows that are equal in these stay in the order that they have.
  ///
  /// - Parameter order: The columns, most significant first.
  public func sorted(by order: ColumnSort...) -> RowFetch {
    var all = combination
    if !all.isPlain { all = Combination(fetches: [self], keepsDuplicates: true) }
    all.order = order
    return RowFetch(.combination(all))
  }

  /// Some of the rows.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of rows.
  ///   - offset: How many of the first rows to skip.
  public func limited(to limit: Int, offset: Int = 0) -> RowFetch {
    var all = combination
    if all.limit != nil || all.offset != 0 { all = Combination(fetches: [self], keepsDuplicates: true) }
    (all.limit, all.offset) = (limit, offset)
    return RowFetch(.combination(all))
  }
}

/// An order of rows by one of their columns.
public struct ColumnSort: Sendable {
  /// The number of the column, from 0.
  let column: Int
  let isAscending: Bool
  let options: ComparisonOptions

  /// Smallest value first, missing values before it.
  ///
  /// - Parameters:
  ///   - column: The number of the column, from 0, as in the names of a tuple's elements.
  ///   - options: Differences that comparing text ignores.
  public static func ascending(column: Int, _ options: ComparisonOptions = []) -> ColumnSort {
    ColumnSort(column: column, isAscending: true, options: options)
  }

  /// Greatest value first, missing values last.
  ///
  /// - Parameters:
  ///   - column: The number of the column, from 0, as in the names of a tuple's elements.
  ///   - options: Differences that comparing text ignores.
  public static func descending(column: Int, _ options: ComparisonOptions = []) -> ColumnSort {
    ColumnSort(column: column, isAscending: false, options: options)
  }
}

/// A column whose values are of the type of an attribute.
private protocol TypedColumn { static var attributeType: AttributeType { get } }
extension ValueQuery: TypedColumn {
  fileprivate static var attributeType: AttributeType { Value.attributeType }
}
