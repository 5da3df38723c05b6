/// A delegate that gets snapshots of identifiers, and is called by no other method.
public protocol FetchedResultsSnapshotDelegate<Object>: FetchedResultsControllerDelegate {
  /// Called after each fetch and each batch of changes, also if only identifiers have changed.
  ///
  /// - Parameters:
  ///   - controller: The controller, which has the new content.
  ///   - snapshot: The new content.
  func controller(
    _ controller: FetchedResultsController<Object>, didChangeContentWith snapshot: FetchedResultsSnapshot)
}

/// A delegate that is called for each change, and gets the difference before the last call.
package protocol FetchedResultsDifferenceFollower: AnyObject {
  func note(_ difference: CollectionDifference<ManagedObjectID>)
}

/// A delegate that gets differences of identifiers, and is called by no other method. That of a controller with sections is called by
/// the methods of `FetchedResultsControllerDelegate`.
public protocol FetchedResultsDifferenceDelegate<Object>: FetchedResultsControllerDelegate {
  /// Called after each batch of changes, also if only identifiers have changed.
  ///
  /// - Parameters:
  ///   - controller: The controller, which has the new content.
  ///   - difference: The difference that makes the new list of identifiers of the former one. A moved object is removed and inserted, each
  ///     associated with the other; so is an updated one, at its former and its new place.
  func controller(
    _ controller: FetchedResultsController<Object>,
    didChangeContentWith difference: CollectionDifference<ManagedObjectID>)
}
