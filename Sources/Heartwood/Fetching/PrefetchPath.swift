/// A path that a fetch may load with its objects: the path of relationships as text, such as `albums.tracks`, or a ``RelationshipPath``.
public protocol PrefetchPath: Sendable {
  /// The relationships, one after the other.
  var prefetchedSteps: [PrefetchStep] { get }
}

/// One relationship of a path.
public struct PrefetchStep: Sendable {
  let path: PathStep
}

extension String: PrefetchPath {
  /// The relationships, whose names are separated by dots.
  public var prefetchedSteps: [PrefetchStep] {
    PropertyPath(names: self).steps.map { PrefetchStep(path: $0) }
  }
}

/// A path of relationships, as key paths.
///
/// ```swift
/// request.relationshipKeyPathsForPrefetching = [RelationshipPath(\Artist.albums).then(\.tracks)]
/// ```
public struct RelationshipPath<Object: ManagedObject, Destination: ManagedObject>: PrefetchPath {
  /// The relationships, one after the other.
  public let prefetchedSteps: [PrefetchStep]

  private init(_ keyPath: AnyKeyPath, after steps: [PrefetchStep] = []) {
    prefetchedSteps = steps + [PrefetchStep(path: .keyPath(keyPath))]
  }

  /// A to-one relationship.
  public init(_ keyPath: KeyPath<Object, Destination?>) { self.init(keyPath as AnyKeyPath) }
  /// A to-many relationship.
  public init(_ keyPath: KeyPath<Object, Set<Destination>>) { self.init(keyPath as AnyKeyPath) }
  /// An ordered to-many relationship.
  public init(_ keyPath: KeyPath<Object, [Destination]>) { self.init(keyPath as AnyKeyPath) }
  /// A to-many relationship that creates its destinations one at a time.
  public init(_ keyPath: KeyPath<Object, RelatedObjects<Destination>>) { self.init(keyPath as AnyKeyPath) }

  /// The path and a to-one relationship of its destinations.
  public func then<Next>(_ keyPath: KeyPath<Destination, Next?>) -> RelationshipPath<Object, Next> {
    RelationshipPath<Object, Next>(keyPath as AnyKeyPath, after: prefetchedSteps)
  }
  /// The path and a to-many relationship of its destinations.
  public func then<Next>(_ keyPath: KeyPath<Destination, Set<Next>>) -> RelationshipPath<Object, Next> {
    RelationshipPath<Object, Next>(keyPath as AnyKeyPath, after: prefetchedSteps)
  }
  /// The path and an ordered to-many relationship of its destinations.
  public func then<Next>(_ keyPath: KeyPath<Destination, [Next]>) -> RelationshipPath<Object, Next> {
    RelationshipPath<Object, Next>(keyPath as AnyKeyPath, after: prefetchedSteps)
  }
  /// The path and a to-many relationship of its destinations that creates its own one at a time.
  public func then<Next>(_ keyPath: KeyPath<Destination, RelatedObjects<Next>>) -> RelationshipPath<
    Object, Next
  > {
    RelationshipPath<Object, Next>(keyPath as AnyKeyPath, after: prefetchedSteps)
  }
}
