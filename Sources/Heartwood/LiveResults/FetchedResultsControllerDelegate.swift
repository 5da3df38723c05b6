import Foundation

/// The methods that a fetched results controller calls for changes. Every method has a default that does nothing.
///
/// A controller follows changes while it has a delegate. In each batch of changes it calls `controllerWillChangeContent(_:)`, then the
/// methods for sections, then those for objects, then `controllerDidChangeContent(_:)`.
///
/// To apply a batch to a copy: take out the deleted and the moved objects at their former paths, delete and insert sections, and put in
/// the inserted and the moved objects at their new paths. Both kinds of paths are meant as in a table's batch of updates: the former
/// ones count in the content before the batch, the new ones in that after it. Objects that were only shifted by others are not
/// reported.
///
/// A delegate that wants a snapshot or a difference instead conforms to `FetchedResultsSnapshotDelegate` or
/// `FetchedResultsDifferenceDelegate`; Core Data distinguishes them by which optional methods exist.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  /// The class of the controller's objects.
  associatedtype Object: ManagedObject

  /// Called before a batch of changes; the controller still has the former content.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

  /// Called for a section that was inserted or deleted.
  ///
  /// - Parameters:
  ///   - controller: The controller, which has the new content.
  ///   - sectionInfo: The section; of a deleted one, as it was.
  ///   - sectionIndex: The index of a deleted section before the batch, of an inserted one after it.
  ///   - type: `insert` or `delete`. Sections that change places are deleted and inserted, and their objects moved.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange sectionInfo: FetchedResultsSectionInfo<Object>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType)

  /// Called for an object.
  ///
  /// - Parameters:
  ///   - controller: The controller, which has the new content.
  ///   - object: The object.
  ///   - indexPath: The path before the batch; nil for an inserted object.
  ///   - type: The kind of the change. A moved object is not also reported as updated.
  ///   - newIndexPath: The path after the batch; nil for a deleted object.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

  /// Called after a batch of changes.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

  /// The title of a section in an index; by default what the controller's `sectionIndexTitle(forSectionName:)` says.
  func controller(
    _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName sectionName: String
  ) -> String?

  /// Called if a change could not be applied, because the store could not be read or because the objects of a section are no
  /// longer together. The controller keeps its content, and fetches everything with the next change.
  ///
  /// Core Data has no such method, and shows a wrong content.
  func controller(_ controller: FetchedResultsController<Object>, didFailWith error: any Error)
}

extension FetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}
  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>, didChange sectionInfo: FetchedResultsSectionInfo<Object>,
    atSectionIndex sectionIndex: Int, for type: FetchedResultsChangeType
  ) {}
  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}
  /// Does nothing.
  public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}
  /// The result of the controller's `sectionIndexTitle(forSectionName:)`.
  public func controller(
    _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName sectionName: String
  ) -> String? { controller.sectionIndexTitle(forSectionName: sectionName) }
  /// Does nothing.
  public func controller(_ controller: FetchedResultsController<Object>, didFailWith error: any Error) {}
}
