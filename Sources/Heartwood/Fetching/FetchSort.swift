/// An order that a fetch may ask for: `Sort` with key paths, `NamedSort` with names.
public protocol FetchSort {
  /// What to sort by.
  var sortKey: SortKey { get }
}

/// A property to sort by, and which way.
public struct SortKey {
  let path: PropertyPath
  let isAscending: Bool
  let options: ComparisonOptions
}

/// An order of objects by one of their attributes, or an attribute behind to-one relationships.
///
/// ```swift
/// sort: [.ascending(\.country?.name), .descending(\.population)]
/// ```
///
/// Missing values come first in ascending order. Texts stand in the order of their Unicode scalars in composed form.
public struct Sort<Object: ManagedObject>: FetchSort {
  /// What to sort by.
  public let sortKey: SortKey

  private init(_ keyPath: AnyKeyPath, _ isAscending: Bool, _ options: ComparisonOptions) {
    let path = PropertyPath(.fetched).appending(keyPath)
    sortKey = SortKey(path: path, isAscending: isAscending, options: options)
  }

  /// The smallest value first.
  public static func ascending<Value: AttributeValue>(
    _ keyPath: KeyPath<Object, Value>, _ options: ComparisonOptions = []
  ) -> Sort { Sort(keyPath, true, options) }

  /// The smallest value first, missing ones before it.
  public static func ascending<Value: AttributeValue>(
    _ keyPath: KeyPath<Object, Value?>, _ options: ComparisonOptions = []
  ) -> Sort { Sort(keyPath, true, options) }

  /// The greatest value first.
  public static func descending<Value: AttributeValue>(
    _ keyPath: KeyPath<Object, Value>, _ options: ComparisonOptions = []
  ) -> Sort { Sort(keyPath, false, options) }

  /// The greatest value first, missing ones last.
  public static func descending<Value: AttributeValue>(
    _ keyPath: KeyPath<Object, Value?>, _ options: ComparisonOptions = []
  ) -> Sort { Sort(keyPath, false, options) }
}

/// An order of objects by a property given by name, for models that exist only at run time.
public struct NamedSort: FetchSort {
  /// What to sort by.
  public let sortKey: SortKey

  /// An order by an attribute.
  ///
  /// - Parameters:
  ///   - key: the attribute's name, or a path with dots over to-one relationships; `objectID` for the order of creation.
  ///   - ascending: whether the smallest value comes first.
  ///   - options: what comparing texts disregards.
  public init(_ key: String, ascending: Bool = true, options: ComparisonOptions = []) {
    sortKey = SortKey(path: PropertyPath(names: key), isAscending: ascending, options: options)
  }
}
