/// A sort order for a fetch: `Sort` with key paths, `NamedSort` with names.
///
/// Sort orders are values that any thread may use.
public protocol FetchSort: Sendable {
  /// The property, direction and options.
  var sortKey: SortKey { get }
}

/// A property to sort by, and its direction.
public struct SortKey: Sendable {
  let path: PropertyPath
  let isAscending: Bool
  let options: ComparisonOptions
}

/// A sort order by an attribute of the objects, or by an attribute reached through to-one relationships.
///
/// ```swift
/// sort: [.ascending(\.country?.name), .descending(\.population)]
/// ```
///
/// Missing values come first in ascending order. Text is ordered by the Unicode scalars of its composed form.
public struct Sort<Object: ManagedObject>: FetchSort {
  /// The property, direction and options.
  public let sortKey: SortKey

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
