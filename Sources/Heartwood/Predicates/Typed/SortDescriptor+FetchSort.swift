import Foundation

/// Foundation's sort descriptors are orders of fetches, if they are made with key paths.
extension SortDescriptor: FetchSort {
  /// The property and the direction. Without a key path, as of a comparison of whole objects, the fetch is refused.
  public var sortKey: SortKey {
    let path = PropertyPath(.fetched)
    return SortKey(
      path: keyPath.map { path.appending($0) } ?? PropertyPath(names: "a comparison of whole objects"),
      isAscending: order == .forward)
  }
}
