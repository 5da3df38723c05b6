/// An object in a typed condition. Its properties are accessed by name.
///
/// ```swift
/// context.fetch(City.self, where: { $0.population > 100_000 && $0.country.code == "FR" })
/// ```
///
/// Attributes are compared with `==`, `<` and so on; a Boolean attribute is a condition by itself. To-one
/// relationships lead to further properties, without optional chaining: a property of a missing object is
/// nil. To-many relationships have `contains`, `allSatisfy`, `isEmpty` and `count`.
///
/// Only modelled properties can be used. A computed property compiles, but the fetch refuses it.
@dynamicMemberLookup
public struct ObjectQuery<Object: ManagedObject>: Sendable {
  let _path: PropertyPath

  /// The fetched object.
  public init() { _path = PropertyPath(.fetched) }

  init(_ path: PropertyPath) { _path = path }

  /// An attribute.
  public subscript<Value: AttributeValue>(dynamicMember keyPath: KeyPath<Object, Value>) -> ValueQuery<Value>
  {
    ValueQuery(.path(_path.appending(keyPath)))
  }

  /// An attribute that may be nil.
  public subscript<Value: AttributeValue>(dynamicMember keyPath: KeyPath<Object, Value?>) -> ValueQuery<Value>
  {
    ValueQuery(.path(_path.appending(keyPath)))
  }

  /// Whether a Boolean attribute is true.
  public subscript(dynamicMember keyPath: KeyPath<Object, Bool>) -> Condition {
    .isTrue(_path.appending(keyPath))
  }

  /// Whether a Boolean attribute that may be nil is true.
  public subscript(dynamicMember keyPath: KeyPath<Object, Bool?>) -> Condition {
    .isTrue(_path.appending(keyPath))
  }

  /// The destination of a to-one relationship.
  public subscript<Destination: ManagedObject>(
    dynamicMember keyPath: KeyPath<Object, Destination?>
  ) -> ObjectQuery<Destination> {
    ObjectQuery<Destination>(_path.appending(keyPath))
  }

  /// The destinations of a to-many relationship.
  public subscript<Destination: ManagedObject>(
    dynamicMember keyPath: KeyPath<Object, Set<Destination>>
  ) -> ManyQuery<Destination> {
    ManyQuery(_path.appending(keyPath))
  }

  /// The destinations of an ordered to-many relationship.
  public subscript<Destination: ManagedObject>(
    dynamicMember keyPath: KeyPath<Object, [Destination]>
  ) -> ManyQuery<Destination> {
    ManyQuery(_path.appending(keyPath))
  }

  /// The destinations of a to-many relationship declared as `RelatedObjects`.
  public subscript<Destination: ManagedObject>(
    dynamicMember keyPath: KeyPath<Object, RelatedObjects<Destination>>
  ) -> ManyQuery<Destination> {
    ManyQuery(_path.appending(keyPath))
  }
}

/// Subclasses.
extension ObjectQuery {
  /// The object as one of a subclass, or none if it is of another class. In the format language `CAST(owner, "Captain").ship`.
  ///
  /// ```swift
  /// context.fetch(Book.self, where: { $0.as(Comic.self).artist == "Moebius" })
  /// ```
  ///
  /// A property of none is nil, as it is of a relationship without a destination: `{ $0.as(Comic.self) != nil }` is true for comics only.
  ///
  /// - Parameter type: A class whose entity is a subentity of this object's, or this object's own.
  public func `as`<Other: ManagedObject>(_ type: Other.Type) -> ObjectQuery<Other> {
    ObjectQuery<Other>(PropertyPath(_path.scope, _path.steps + [.kind(.type(type))], column: _path.column))
  }
}

/// Identity of objects.
extension ObjectQuery {
  /// Whether it is this object; nil tests whether there is none.
  public static func == (left: ObjectQuery, right: Object?) -> Condition {
    .identity(left._path, .equal, right)
  }
  /// Whether it is an object other than this one, or none; nil tests whether there is one.
  public static func != (left: ObjectQuery, right: Object?) -> Condition {
    .identity(left._path, .notEqual, right)
  }
  /// Whether it is the object with this identifier.
  public static func == (left: ObjectQuery, right: ManagedObjectID) -> Condition {
    .comparing(.path(left._path), .equal, right.predicateConstant.expression)
  }
  /// Whether it is an object other than the one with this identifier, or none.
  public static func != (left: ObjectQuery, right: ManagedObjectID) -> Condition {
    .comparing(.path(left._path), .notEqual, right.predicateConstant.expression)
  }
  /// Whether both paths lead to the same object, or both to none.
  public static func == (left: ObjectQuery, right: ObjectQuery) -> Condition {
    .comparing(.path(left._path), .equal, .path(right._path))
  }
  /// Whether the paths lead to different objects.
  public static func != (left: ObjectQuery, right: ObjectQuery) -> Condition {
    .comparing(.path(left._path), .notEqual, .path(right._path))
  }

  /// Whether it is one of these objects.
  public func isIn(_ objects: some Sequence<Object>) -> Condition {
    .comparing(
      .path(_path), .isIn, ConditionExpression(list: objects.map { ConditionExpression($0) }))
  }

  /// Whether it is one of the objects with these identifiers.
  public func isIn(_ identifiers: some Sequence<ManagedObjectID>) -> Condition {
    .comparing(.path(_path), .isIn, .list(identifiers.map(Value.object)))
  }

  /// Whether it is a destination of a to-many relationship.
  public func isIn(_ objects: ManyQuery<Object>) -> Condition {
    .comparing(.path(_path), .isIn, .path(objects._path))
  }
}

extension Sequence where Element: ManagedObject {
  /// Whether it is one of these objects.
  public func contains(_ object: ObjectQuery<Element>) -> Condition { object.isIn(self) }
}

extension Condition {
  fileprivate static func isTrue(_ path: PropertyPath) -> Condition {
    .comparing(.path(path), .equal, .value(.bool(true)))
  }

  fileprivate static func identity(
    _ path: PropertyPath, _ comparator: ComparisonOperator, _ object: ManagedObject?
  ) -> Condition {
    .comparing(.path(path), comparator, object.map { ConditionExpression($0) } ?? .value(.null))
  }
}

/// Boolean attributes compared with constants.
extension Condition {
  /// Whether the condition has this result. A Boolean attribute without a value equals only nil.
  public static func == (left: Condition, right: Bool?) -> Condition {
    if case .comparison(var comparison) = left.node, case .value(.bool(true)) = comparison.right.kind,
      comparison.comparator == .equal
    {
      comparison.right = .value(right.map(Value.bool) ?? .null)
      return Condition(.comparison(comparison))
    }
    guard let right else { return .always(false) }
    return right ? left : !left
  }

  /// Whether the condition has a different result.
  public static func != (left: Condition, right: Bool?) -> Condition { !(left == right) }
}
