/// A request that changes rows in a store in one transaction, without making objects.
///
/// ```swift
/// let request = BatchUpdateRequest(Track.self)
/// request.predicate = Where<Track> { $0.album.genre == .jazz }
/// request.set(\Track.price) { $0.price * 1.1 }
/// request.resultType = .count
/// try context.execute(request)
/// ```
///
/// Expressions read the values before the request. An integer attribute takes a fraction without its decimals, as `Int(_:)` does.
/// Where an expression has no result, because of an overflow or a division by zero, or one that is too large for the attribute, the
/// request fails; a missing operand gives nil.
///
/// Violations of uniqueness constraints make the request fail, whatever the merge policy. No life-cycle methods are called.
public final class BatchUpdateRequest: PersistentStoreRequest {
  /// The entity's name.
  public let entityName: String
  /// The condition; nil for all objects.
  public var predicate: (any FetchPredicate)?
  /// Whether objects of subentities are included.
  public var includesSubentities = true
  /// The kind of the result. Objects whose values were the wanted ones already are counted, but not written.
  public var resultType = BatchUpdateRequestResultType.statusOnly
  /// Whether the values are checked by the rules of the model, as a save does it. Methods of the class are not called.
  public var validates = false

  /// The new values by the name of the property, in the types of `ManagedObject.setValue(_:forKey:)`, `NSNull` for nil; a
  /// `FormatExpression` is computed for each object. A to-one relationship is given as in a `BatchInsertRequest`.
  public var propertiesToUpdate: [String: Any]?

  /// Whether an integer attribute takes the fraction that an expression gives, without its decimals. Otherwise the request fails.
  package var truncatesFractions = true

  private(set) var typed: [(AnyKeyPath, NewValue)] = []

  enum NewValue {
    case value(Value)
    case expression(ConditionExpression)
  }

  /// A request that changes objects of an entity by name.
  public init(entityName: String) {
    self.entityName = entityName
    super.init()
  }

  /// A request that changes objects of an entity.
  public convenience init(entity: EntityDescription) { self.init(entityName: entity.displayName) }

  /// A request that changes objects of a class.
  ///
  /// - Precondition: A model in use has exactly one entity with this class.
  public convenience init(_ type: ManagedObject.Type) { self.init(entity: type.entity()) }

  public override var requestType: PersistentStoreRequestType { .batchUpdateRequestType }
}

/// New values by key paths.
extension BatchUpdateRequest {
  /// Sets an attribute to a value.
  public func set<Object: ManagedObject, Value: AttributeValue>(
    _ property: KeyPath<Object, Value>, to value: Value
  ) { typed.append((property, .value(value._value))) }

  /// Sets an attribute that may be nil to a value, or to nil.
  public func set<Object: ManagedObject, Value: AttributeValue>(
    _ property: KeyPath<Object, Value?>, to value: Value?
  ) { typed.append((property, .value(value?._value ?? .null))) }

  /// Sets an attribute to an expression, which is computed for each object.
  public func set<Object: ManagedObject, Value: AttributeValue>(
    _ property: KeyPath<Object, Value>, _ expression: (ObjectQuery<Object>) -> ValueQuery<Value>
  ) { typed.append((property, .expression(expression(ObjectQuery())._expression))) }

  /// Sets an attribute that may be nil to an expression, which is computed for each object.
  public func set<Object: ManagedObject, Value: AttributeValue>(
    _ property: KeyPath<Object, Value?>, _ expression: (ObjectQuery<Object>) -> ValueQuery<Value>
  ) { typed.append((property, .expression(expression(ObjectQuery())._expression))) }
}
