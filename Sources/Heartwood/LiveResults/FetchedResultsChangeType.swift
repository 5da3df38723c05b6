/// A change of an object or a section of a fetched results controller.
public enum FetchedResultsChangeType: UInt, Hashable, Sendable, CaseIterable {
  /// It is new.
  case insert = 1
  /// It is gone.
  case delete = 2
  /// The object has another place among the others, or another section. Its values may have changed, too.
  case move = 3
  /// The object's values have changed, and its place among the others has not.
  case update = 4
}
