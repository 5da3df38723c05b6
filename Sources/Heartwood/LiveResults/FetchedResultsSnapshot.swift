/// The content of a fetched results controller as identifiers: what a diffable data source needs.
///
/// A value that any thread may use. An unsaved object has a temporary identifier; the save that replaces it is reported by another
/// snapshot.
public struct FetchedResultsSnapshot: Hashable, Sendable {
  /// The names of the sections, in order.
  public let sectionIdentifiers: [String]
  /// The identifiers of all objects, in order.
  public let itemIdentifiers: [ManagedObjectID]
  /// The identifiers of objects whose values have changed since the snapshot before, in order.
  public let reloadedItemIdentifiers: [ManagedObjectID]
  private let starts: [Int]

  init(_ result: TrackedResult, reloaded: [ManagedObjectID]) {
    sectionIdentifiers = result.sections.map(\.name)
    itemIdentifiers = result.tracked.map(\.identifier)
    reloadedItemIdentifiers = reloaded
    starts = TrackedResult.starts(of: result.sections)
  }

  /// The number of sections.
  public var numberOfSections: Int { sectionIdentifiers.count }
  /// The number of objects.
  public var numberOfItems: Int { itemIdentifiers.count }

  /// The number of objects of a section; 0 if there is no such section.
  ///
  /// - Complexity: Linear in the number of sections.
  public func numberOfItems(inSection section: String) -> Int { range(section).count }

  /// The identifiers of the objects of a section, in order; none if there is no such section.
  ///
  /// - Complexity: Linear in the number of sections.
  public func itemIdentifiers(inSection section: String) -> ArraySlice<ManagedObjectID> {
    itemIdentifiers[range(section)]
  }

  /// The section of an object; nil if the snapshot does not have it.
  ///
  /// - Complexity: Linear in the number of objects.
  public func sectionIdentifier(containingItem identifier: ManagedObjectID) -> String? {
    guard let index = itemIdentifiers.firstIndex(of: identifier) else { return nil }
    return sectionIdentifiers.indices.first { starts[$0 + 1] > index }.map { sectionIdentifiers[$0] }
  }

  private func range(_ section: String) -> Range<Int> {
    guard let index = sectionIdentifiers.firstIndex(of: section) else { return 0..<0 }
    return starts[index]..<starts[index + 1]
  }
}
