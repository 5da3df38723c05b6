import Foundation

/// A description of a fetch: the models of a class that satisfy a predicate, in an order.
public struct FetchDescriptor<T: PersistentModel>: Equatable {
  /// The condition; nil for all models.
  public var predicate: Predicate<T>?
  /// The order, the most significant first.
  public var sortBy: [SortDescriptor<T>]
  /// How many models at most; nil for all.
  public var fetchLimit: Int?
  /// How many of the first to leave out; nil for none.
  public var fetchOffset: Int?
  /// Whether changes that are not saved count.
  public var includePendingChanges = true
  /// The properties that are needed. A store on the engine reads whole rows in any case; a custom store may read less.
  public var propertiesToFetch: [PartialKeyPath<T>] = []
  /// The relationships whose models are loaded with those that are fetched.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

  /// A description of a fetch.
  public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }

  /// Whether both are of the same form. Predicates are compared by what they print.
  public static func == (left: FetchDescriptor<T>, right: FetchDescriptor<T>) -> Bool {
    left.predicate.map { "\($0)" } == right.predicate.map { "\($0)" } && left.sortBy == right.sortBy
      && left.fetchLimit == right.fetchLimit && left.fetchOffset == right.fetchOffset
      && left.includePendingChanges == right.includePendingChanges
      && left.propertiesToFetch == right.propertiesToFetch
      && left.relationshipKeyPathsForPrefetching == right.relationshipKeyPathsForPrefetching
  }
}

// Key paths from literals are immutable values, which the compiler cannot assume of all.
extension FetchDescriptor: @unchecked Sendable {}
