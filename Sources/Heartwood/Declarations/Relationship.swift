import HeartwoodBytes

/// Makes a property of a managed object's class a relationship of its entity.
///
/// ```swift
/// @Relationship(inverse: { $0.country }, deleteRule: .cascade) var cities: Set<City>
/// @Relationship(inverse: { $0.cities }) var country: Country?
/// ```
///
/// `T?` is a to-one relationship, `Set<T>` a to-many one, `[T]` an ordered one. `RelatedObjects<T>` is a
/// to-many one that makes objects only as they are asked for; every to-many property offers the same by
/// its projected value: `country.$cities`.
@propertyWrapper @frozen
public struct Relationship<Wrapped: RelationshipValue>: _DeclaredProperty {
  /// Zero, except in the prototypes by which a class is learned.
  public var _mark: UInt8

  /// A relationship whose other side is kept at the same time.
  ///
  /// - Parameters:
  ///   - inverse: the relationship back: `{ $0.country }`. Naming it on one side is enough. (The two sides
  ///     cannot both name each other by key paths, which the compiler calls a circular reference.)
  ///   - deleteRule: what deleting an object does to its destinations.
  ///   - renamed: the former name, for migration.
  @inlinable @inline(__always)
  public init<Inverse: RelationshipValue>(
    inverse: @escaping (Wrapped.Destination) -> Inverse, deleteRule: DeleteRule = .nullify,
    renamed: StaticString? = nil
  ) {
    _mark = 0
    if _isRecording { _mark = _recordRelationship(Wrapped.self, deleteRule, renamed, inverse) }
  }

  /// A relationship without an inverse, or whose inverse names this one.
  @inlinable @inline(__always)
  public init(deleteRule: DeleteRule = .nullify, renamed: StaticString? = nil) {
    _mark = 0
    if _isRecording {
      _mark = _recordRelationship(
        Wrapped.self, deleteRule, renamed, nil as ((Wrapped.Destination) -> Wrapped)?)
    }
  }

  /// Only a managed object has relationships.
  @available(*, unavailable, message: "@Relationship belongs into a class that inherits from ManagedObject")
  public var wrappedValue: Wrapped {
    get { programError("a relationship outside a managed object") }
    set { programError("a relationship outside a managed object, set to \(newValue)") }
  }

  /// Only a managed object has relationships.
  @available(*, unavailable, message: "@Relationship belongs into a class that inherits from ManagedObject")
  public var projectedValue: RelatedObjects<Wrapped.Destination> {
    programError("a relationship outside a managed object")
  }

  /// Destinations as the declared type; writing keeps the other side.
  @inlinable
  public static subscript<Object: ManagedObject>(
    _enclosingInstance object: Object, wrapped _: ReferenceWritableKeyPath<Object, Wrapped>,
    storage storage: ReferenceWritableKeyPath<Object, Self>
  ) -> Wrapped {
    @inline(__always) get {
      object._related(withUnsafePointer(to: &object[keyPath: storage]._mark) { UnsafeRawPointer($0) })
    }
    @inline(__always) set {
      object._setRelated(
        withUnsafePointer(to: &object[keyPath: storage]._mark) { UnsafeRawPointer($0) }, newValue)
    }
  }

  /// The destinations, made one at a time as they are asked for.
  @inlinable
  public static subscript<Object: ManagedObject>(
    _enclosingInstance object: Object,
    projected _: KeyPath<Object, RelatedObjects<Wrapped.Destination>>,
    storage storage: ReferenceWritableKeyPath<Object, Self>
  ) -> RelatedObjects<Wrapped.Destination> {
    @inline(__always) get {
      object._relatedObjects(withUnsafePointer(to: &object[keyPath: storage]._mark) { UnsafeRawPointer($0) })
    }
  }
}
