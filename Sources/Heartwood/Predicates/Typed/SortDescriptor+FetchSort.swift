import Foundation

/// Foundation's sort descriptors are orders of fetches, if they are made with key paths.
///
/// Where Foundation's comparators of strings know locales, so do the orders: there a descriptor of a string orders by `localizedStandard` unless
/// it is made with the comparator `lexical`, and only that order is served by an index.
extension SortDescriptor: FetchSort {
  /// The property and the direction. Without a key path, as of a comparison of whole objects, the fetch is refused.
  public var sortKey: SortKey {
    let path = PropertyPath(.fetched)
    return SortKey(
      path: keyPath.map { path.appending($0) } ?? PropertyPath(names: "a comparison of whole objects"),
      isAscending: order == .forward, options: options)
  }

  private var options: ComparisonOptions {
    #if canImport(Darwin)
      switch stringComparator {
      case .some(.localizedStandard): return .localizedStandard
      case .some(.localized): return .localized
      default: return []
      }
    #else
      return []
    #endif
  }
}
