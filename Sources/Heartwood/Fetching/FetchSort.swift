/// A sort order for a fetch: `Sort` with key paths and typed values, `NamedSort` with names, `ComputedSort` with expressions as text.
///
/// Sort orders are values that any thread may use.
public protocol FetchSort: Sendable {
  /// The value that is sorted by, direction and options.
  var sortKey: SortKey { get }
}

/// A property or a computed value to sort by, and its direction.
public struct SortKey: Sendable {
  let expression: ConditionExpression
  let isAscending: Bool
  let options: ComparisonOptions

  init(expression: ConditionExpression, isAscending: Bool, options: ComparisonOptions = []) {
    self.expression = expression
    self.isAscending = isAscending
    self.options = options
  }

  /// An order by a property, by its names with dots between them.
  package init(names: String, isAscending: Bool, options: ComparisonOptions = []) {
    self.init(path: PropertyPath(names: names), isAscending: isAscending, options: options)
  }

  init(path: PropertyPath, isAscending: Bool, options: ComparisonOptions = []) {
    self.init(expression: .path(path), isAscending: isAscending, options: options)
  }
}

extension SortKey: CustomStringConvertible {
  /// The value as text, with its direction if that is descending.
  public var description: String { "\(expression)\(options.sortSuffix)\(isAscending ? "" : " descending")" }
}

/// A sort order by an attribute of the objects, by an attribute reached through to-one relationships, or by a value that is computed.
///
/// ```swift
/// sort: [.ascending(\.country?.name), .descending(\.population)]
/// sort: [.descending { $0.cities.count }, .ascending { $0.name.lowercased() }]
/// ```
///
/// Missing values come first in ascending order. Text is ordered by the Unicode scalars of its composed form.
public struct Sort<Object: ManagedObject>: FetchSort {
  /// The value that is sorted by, direction and options.
  public let sortKey: SortKey

  private init(
    _ value: (ObjectQuery<Object>) -> some RowColumn, _ isAscending: Bool, _ options: ComparisonOptions
  ) {
    sortKey = SortKey(
      expression: value(ObjectQuery<Object>()).rowExpression.expression, isAscending: isAscending,
      options: options)
  }

  private init(_ keyPath: AnyKeyPath, _ isAscending: Bool, _ options: ComparisonOptions) {
    let path = PropertyPath(.fetched).appending(keyPath)
    sortKey = SortKey(path: path, isAscending: isAscending, options: options)
  }

  /// Smallest value first.
  public static func ascending<Value: AttributeValue>(
    _ keyPath: KeyPath<Object, Value>, _ options: ComparisonOptions = []
  ) -> Sort { Sort(keyPath, true, options) }

  /// Smallest value first, missing values before it.
  public static func ascending<Value: AttributeValue>(
    _ keyPath: KeyPath<Object, Value?>, _ options: ComparisonOptions = []
  ) -> Sort { Sort(keyPath, true, options) }

  /// Greatest value first.
  public static func descending<Value: AttributeValue>(
    _ keyPath: KeyPath<Object, Value>, _ options: ComparisonOptions = []
  ) -> Sort { Sort(keyPath, false, options) }

  /// Greatest value first, missing values last.
  public static func descending<Value: AttributeValue>(
    _ keyPath: KeyPath<Object, Value?>, _ options: ComparisonOptions = []
  ) -> Sort { Sort(keyPath, false, options) }

  /// Smallest computed value first, missing values before it.
  ///
  /// The value of each object that satisfies the condition is computed once, as no index has it.
  ///
  /// - Parameters:
  ///   - options: Differences that comparing text ignores.
  ///   - value: The value, such as `{ $0.price * $0.quantity }`.
  public static func ascending(
    _ options: ComparisonOptions = [], by value: (ObjectQuery<Object>) -> some RowColumn
  ) -> Sort { Sort(value, true, options) }

  /// Greatest computed value first, missing values last.
  ///
  /// The value of each object that satisfies the condition is computed once, as no index has it.
  ///
  /// - Parameters:
  ///   - options: Differences that comparing text ignores.
  ///   - value: The value, such as `{ $0.price * $0.quantity }`.
  public static func descending(
    _ options: ComparisonOptions = [], by value: (ObjectQuery<Object>) -> some RowColumn
  ) -> Sort { Sort(value, false, options) }
}

/// A sort order by a property name, for models that exist only at run time.
public struct NamedSort: FetchSort {
  /// The property, direction and options.
  public let sortKey: SortKey

  /// A sort order by an attribute.
  ///
  /// - Parameters:
  ///   - key: The attribute's name, or a path of to-one relationships separated by dots; `objectID` for creation order.
  ///   - ascending: Whether the smallest value comes first.
  ///   - options: Differences that comparing text ignores.
  public init(_ key: String, ascending: Bool = true, options: ComparisonOptions = []) {
    sortKey = SortKey(path: PropertyPath(names: key), isAscending: ascending, options: options)
  }
}

/// A sort order by a value that is computed from each object, written as text.
///
/// ```swift
/// request.sortDescriptors = try [ComputedSort("children.@count", ascending: false), ComputedSort("lowercase(name)")]
/// ```
///
/// The value of each object that satisfies the condition is computed once, as no index has it. Missing values come first in ascending order.
public struct ComputedSort: FetchSort {
  /// The value, direction and options.
  public let sortKey: SortKey

  /// A sort order by an expression as text.
  ///
  /// - Parameters:
  ///   - format: The expression, in the language of `FormatPredicate`.
  ///   - arguments: One for each placeholder, in order.
  ///   - ascending: Whether the smallest value comes first.
  ///   - options: Differences that comparing text ignores.
  /// - Throws: `.invalidPredicate` with the column of the error in the text, or the argument that does not fit.
  public init(
    _ format: String, _ arguments: (any PredicateArgument)?..., ascending: Bool = true,
    options: ComparisonOptions = []
  ) throws(HeartwoodError) {
    self.init(try FormatParser.expression(format, arguments), ascending: ascending, options: options)
  }

  /// A sort order by an expression.
  ///
  /// - Parameters:
  ///   - expression: The value.
  ///   - ascending: Whether the smallest value comes first.
  ///   - options: Differences that comparing text ignores.
  public init(_ expression: ConditionExpression, ascending: Bool = true, options: ComparisonOptions = []) {
    sortKey = SortKey(expression: expression, isAscending: ascending, options: options)
  }
}
