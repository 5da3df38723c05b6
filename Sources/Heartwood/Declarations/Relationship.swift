import HeartwoodBytes

/// Declares a property of a managed object's class as a relationship of its entity.
///
/// ```swift
/// @Relationship(inverse: { $0.country }, deleteRule: .cascade) var cities: Set<City>
/// @Relationship(inverse: { $0.cities }) var country: Country?
/// ```
///
/// `T?` is a to-one relationship, `Set<T>` a to-many one, `[T]` an ordered one. `RelatedObjects<T>` is a to-many
/// relationship that creates objects only on access; the projected value of every to-many property offers the same:
/// `country.$cities`.
@propertyWrapper @frozen
public struct Relationship<Wrapped: RelationshipValue>: _DeclaredProperty {
  /// Zero, except in the prototypes from which a class's declarations are read.
  public var _mark: UInt8

  /// A relationship with an inverse, which is maintained automatically.
  ///
  /// - Parameters:
  ///   - inverse: The inverse relationship: `{ $0.country }`. Naming it on one side is enough. (The two sides cannot
  ///     name each other by key paths, because the compiler rejects that as a circular reference.)
  ///   - deleteRule: The effect of deleting an object on its destinations.
  ///   - count: How many destinations a save requires.
  ///   - renamed: The former name, for migration.
  ///   - isTransient: Whether the destinations are kept in memory only: see `PropertyDescription.isTransient`. Its inverse is then, too.
  @inlinable @inline(__always)
  public init<Inverse: RelationshipValue>(
    inverse: @escaping (Wrapped.Destination) -> Inverse, deleteRule: DeleteRule = .nullify,
    count: RelationshipCount = .any, renamed: StaticString? = nil, isTransient: Bool = false
  ) {
    _mark = 0
    if _isRecording {
      _mark = _recordRelationship(
        Wrapped.self, deleteRule, renamed, count, inverse, isTransient: isTransient)
    }
  }

  /// A relationship that has no inverse, and is to have none: `@Relationship(inverse: nil)`.
  ///
  /// Two relationships that lead to each other's classes and name no inverse are two that know nothing of each other. Opening a store of such
  /// classes is noted, as most are meant to be the two sides of one, unless one of them says this.
  ///
  /// - Parameters:
  ///   - inverse: Nil.
  ///   - deleteRule: The effect of deleting an object on its destinations.
  ///   - count: How many destinations a save requires.
  ///   - renamed: The former name, for migration.
  @inlinable @inline(__always)
  public init(
    inverse: NoInverse?, deleteRule: DeleteRule = .nullify, count: RelationshipCount = .any,
    renamed: StaticString? = nil
  ) {
    _mark = 0
    if _isRecording {
      _mark = _recordRelationship(
        Wrapped.self, deleteRule, renamed, count, nil as ((Wrapped.Destination) -> Wrapped)?, isAlone: true)
    }
  }

  /// A relationship without an inverse, or one that is named as the inverse on the other side. One that is to have no inverse says so:
  /// `inverse: nil`.
  @inlinable @inline(__always)
  public init(
    deleteRule: DeleteRule = .nullify, count: RelationshipCount = .any, renamed: StaticString? = nil,
    isTransient: Bool = false
  ) {
    _mark = 0
    if _isRecording {
      _mark = _recordRelationship(
        Wrapped.self, deleteRule, renamed, count, nil as ((Wrapped.Destination) -> Wrapped)?,
        isTransient: isTransient)
    }
  }

  /// Unavailable: only a managed object has relationships.
  @available(*, unavailable, message: "@Relationship requires a class that inherits from ManagedObject")
  public var wrappedValue: Wrapped {
    get { programError("a relationship outside a managed object") }
    set { programError("a relationship outside a managed object, set to \(newValue)") }
  }

  /// Unavailable: only a managed object has relationships.
  @available(*, unavailable, message: "@Relationship requires a class that inherits from ManagedObject")
  public var projectedValue: RelatedObjects<Wrapped.Destination> {
    programError("a relationship outside a managed object")
  }

  /// The destinations in the declared type; writing also updates the inverse.
  @inlinable
  public static subscript<Object: ManagedObject>(
    _enclosingInstance object: Object, wrapped _: ReferenceWritableKeyPath<Object, Wrapped>,
    storage storage: ReferenceWritableKeyPath<Object, Self>
  ) -> Wrapped {
    @inline(__always) get {
      object._related(_WrapperPlace(&object[keyPath: storage]._mark))
    }
    @inline(__always) set {
      object._setRelated(
        _WrapperPlace(&object[keyPath: storage]._mark), newValue)
    }
  }

  /// The destinations, created one at a time on access.
  @inlinable
  public static subscript<Object: ManagedObject>(
    _enclosingInstance object: Object,
    projected _: KeyPath<Object, RelatedObjects<Wrapped.Destination>>,
    storage storage: ReferenceWritableKeyPath<Object, Self>
  ) -> RelatedObjects<Wrapped.Destination> {
    @inline(__always) get {
      object._relatedObjects(_WrapperPlace(&object[keyPath: storage]._mark))
    }
  }
}

/// The type of `nil` in `@Relationship(inverse: nil)`; it has no values.
public enum NoInverse: Sendable {}

/// How many destinations a save requires of a relationship.
public struct RelationshipCount: Sendable {
  let isOptional: Bool
  let least: Int
  let greatest: Int

  /// Any number, or none.
  public static let any = RelationshipCount(isOptional: true, least: 0, greatest: 0)
  /// At least one: the one of a to-one relationship, or one of several.
  public static let required = RelationshipCount(isOptional: false, least: 1, greatest: 0)
  /// Any number, or none, of a to-many relationship that is not optional: in model files `optional="NO"` without a minimum, which requires
  /// nothing of a save. A to-one relationship needs its destination.
  public static let notOptional = RelationshipCount(isOptional: false, least: 0, greatest: 0)

  /// A number in a range. If the range begins with 0, the relationship may be empty.
  public static func range(_ range: ClosedRange<Int>) -> RelationshipCount {
    RelationshipCount(isOptional: range.lowerBound == 0, least: range.lowerBound, greatest: range.upperBound)
  }

  /// At least this number.
  public static func atLeast(_ least: Int) -> RelationshipCount {
    RelationshipCount(isOptional: least == 0, least: least, greatest: 0)
  }

  /// At most this number, or none.
  public static func atMost(_ greatest: Int) -> RelationshipCount {
    RelationshipCount(isOptional: true, least: 0, greatest: greatest)
  }
}
