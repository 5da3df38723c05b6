/// A condition whose names are resolved and whose constants have the types of what they are compared with, for an ``IncrementalStore`` that
/// translates it into a language of its own: `IncrementalStore.condition(of:)`.
///
/// A missing value equals only nil, is unequal to everything else, and has no order: `<`, `>`, `BETWEEN` and comparisons of texts are false for
/// it. Negation is plain: `not` of a comparison that is false for a missing value is true.
public indirect enum StoreCondition: Sendable {
  /// True or false for every object.
  case constant(Bool)
  /// True if all parts are.
  case all([StoreCondition])
  /// True if any part is.
  case any([StoreCondition])
  /// True if the part is false.
  case not(StoreCondition)
  /// A comparison. The right side of `in` is a list, and that of `between` a list of two.
  case comparison(StoreExpression, ComparisonPredicate.Operator, StoreExpression, ComparisonOptions)
  /// True if there is any of the destinations.
  case exists(StoreDestinations)
}

/// A value in a ``StoreCondition``.
public indirect enum StoreExpression: Sendable {
  /// A constant in the type of `ManagedObject.value(forKey:)`, an identifier for an object; nil for a missing value.
  case constant((any Sendable)?)
  /// Constants.
  case list([(any Sendable)?])
  /// An attribute of an object.
  case attribute(AttributeDescription, of: StorePath)
  /// An object, by its identifier.
  case object(StorePath)
  /// The name of the entity of an object.
  case entityName(of: StorePath)
  /// A value of the destinations of a relationship: `count`, `sum`, `min`, `max` or `avg` of the element of each.
  case aggregate(String, StoreDestinations)
  /// `+`, `-`, `*` or `/`.
  case arithmetic(String, StoreExpression, StoreExpression)
  /// A function by its name in the format language, such as `lowercase:`.
  case function(String, [StoreExpression])
  /// The first value if the condition holds, otherwise the second.
  case conditional(StoreCondition, StoreExpression, StoreExpression)
}

/// An object in a ``StoreCondition``: the fetched one, a destination of a to-many relationship, or one to which to-one relationships lead from there.
public struct StorePath: Sendable {
  /// 0 for the fetched object; otherwise that of `StoreDestinations`.
  public let variable: Int
  /// The to-one relationships that lead from there to the object.
  public let relationships: [RelationshipDescription]
  /// The entity of the object, or a superentity of it.
  public let entity: EntityDescription
}

/// The destinations of a to-many relationship in a ``StoreCondition``.
public struct StoreDestinations: Sendable {
  /// The object whose destinations they are.
  public let source: StorePath
  /// The to-many relationship.
  public let relationship: RelationshipDescription
  /// Stands for a destination in `filter` and `element`.
  public let variable: Int
  /// The entity of the destinations, or a superentity of it.
  public let entity: EntityDescription
  /// Selects destinations; nil for all.
  public let filter: StoreCondition?
  /// The value of a destination; nil for the destination itself.
  public let element: StoreExpression?
}

/// A part of the order of a fetch, for an ``IncrementalStore`` that translates it. Missing values come first in ascending order; objects that
/// are equal in all parts come in the order of their references, in the direction of the last part.
public struct StoreSort: Sendable {
  /// The value that is sorted by.
  public let value: StoreExpression
  /// Whether the smallest value comes first.
  public let isAscending: Bool
  /// Differences of texts that are ignored.
  public let options: ComparisonOptions
}

extension IncrementalStore {
  /// The condition of a fetch request, resolved; nil for all objects.
  ///
  /// - Throws: `.coreData` for a predicate that does not fit the model; `.persistentStoreUnsupportedRequestType`, naming the part, if it has one that
  ///   a ``StoreCondition`` cannot say.
  public final func condition(of request: FetchRequest<ManagedObject>) throws -> StoreCondition? {
    guard let predicate = request.predicate, let entity = request.entity else { return nil }
    return try condition(predicate, on: entity)
  }

  /// A predicate on objects of an entity, resolved.
  ///
  /// - Throws: As `condition(of:)`.
  public final func condition(
    _ predicate: any FetchPredicate, on entity: EntityDescription
  ) throws -> StoreCondition {
    // First: what is wrong with it, as any other store says it.
    let compiled = try CompiledPredicate(predicate, entity: entity)
    var lowering = StoreConditionLowering(entity, in: identityOfObjects)
    return try lowering.condition(compiled.condition)
  }

  /// The order of a fetch request, resolved.
  ///
  /// - Throws: As `condition(of:)`.
  public final func order(of request: FetchRequest<ManagedObject>) throws -> [StoreSort] {
    guard let sorts = request.sortDescriptors, !sorts.isEmpty, let entity = request.entity else { return [] }
    _ = try CompiledSort(sorts, entity: entity, store: objectStore.identity)
    var lowering = StoreConditionLowering(entity, in: identityOfObjects)
    return try sorts.map { sort in
      let key = sort.sortKey
      return StoreSort(
        value: try lowering.expression(key.expression), isAscending: key.isAscending, options: key.options)
    }
  }
}
