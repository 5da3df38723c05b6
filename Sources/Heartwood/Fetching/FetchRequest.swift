/// A description of a fetch: entity, condition, order and number of objects.
///
/// A request can be reused, and changed between uses. It is a class, as in Core Data, and belongs to one thread at a time;
/// `copy()` makes an independent one. Its parts are values that any thread may use: make a predicate (`Where`) and a sort order
/// (`Sort`) wherever they are known, and the request where it is executed.
///
/// `FetchRequest<ManagedObjectID>`, `FetchRequest<[String: Any]>` and `FetchRequest<Int>` are for identifiers, dictionaries and the number of
/// objects. They need the name of an entity.
public final class FetchRequest<Object: FetchRequestResult>: PersistentStoreRequest {
  // A fetch reads all of these. A request belongs to one thread at a time, so that exclusivity checks could find nothing else.
  /// The entity's name; nil for the entity whose class is `Object`.
  @exclusivity(unchecked) public var entityName: String? {
    didSet { knownEntity = nil }
  }
  /// The kind of a fetch's results; that of `Object` if it is not set. A fetch throws if it is another one.
  @exclusivity(unchecked) public var resultType = Object.fetchRequestResultType
  /// The condition; nil for all objects.
  @exclusivity(unchecked) public var predicate: (any FetchPredicate)?
  /// The sort descriptors, most significant first; nil or empty for no order.
  @exclusivity(unchecked) public var sortDescriptors: [any FetchSort]?
  /// The maximum number of objects; 0 for all.
  @exclusivity(unchecked) public var fetchLimit = 0
  /// How many of the first objects to skip.
  @exclusivity(unchecked) public var fetchOffset = 0
  /// How many objects get their rows together; 0 for all when they are fetched.
  ///
  /// With a batch size, a fetch returns faults without rows. The first use of one loads the rows of its batch in one pass, and what
  /// `relationshipKeyPathsForPrefetching` names of them. The result is an array of all objects, each of which takes about a hundred bytes;
  /// `fetchInBatches(_:)` makes objects as they are met, and `enumerate(_:batchSize:_:)` has the memory of one batch.
  @exclusivity(unchecked) public var fetchBatchSize = 0
  /// Whether objects of subentities are included.
  @exclusivity(unchecked) public var includesSubentities = true
  /// Whether unsaved changes of the context are considered. If false, the saved values decide which objects match; the
  /// objects still show their unsaved values.
  @exclusivity(unchecked) public var includesPendingChanges = true
  /// Whether objects are returned as faults, whose values are loaded at first use. If false, they are realised at once, and those of a batch
  /// when its rows are loaded.
  @exclusivity(unchecked) public var returnsObjectsAsFaults = true
  /// Whether a fetch has the rows of its objects, so that their first use does not read the store. If false, objects are faults without rows,
  /// each of which is read when it is used, with others next to it.
  @exclusivity(unchecked) public var includesPropertyValues = true
  /// The relationships whose destinations are loaded with the objects, such as `["albums.tracks"]`: one pass over the store for each, not
  /// one for each object. Nil for none.
  ///
  /// The destinations are faults with rows. As other objects, they are released at the end of an event if the program does not reference them.
  @exclusivity(unchecked) public var relationshipKeyPathsForPrefetching: [any PrefetchPath]?
  /// Whether registered objects take the newest saved values when they are fetched again. Unsaved values stay; if a saved one
  /// differs from that on which the edit was made, the save meets the conflict.
  @exclusivity(unchecked) public var shouldRefreshRefetchedObjects = false
  /// The columns of the dictionaries that `ManagedObjectContext.fetchDictionaries(_:)` returns; nil for all attributes and to-one
  /// relationships. A fetch of objects takes names of these only, and reads objects whole nevertheless: a row is in one piece, apart from
  /// large values, which are read when they are used.
  @exclusivity(unchecked) public var propertiesToFetch: [any FetchableProperty]?
  /// The columns that dictionaries are grouped by: each is then of a group of objects with equal values of these. Nil for no groups, unless
  /// a column is an aggregate.
  @exclusivity(unchecked) public var propertiesToGroupBy: [any FetchableProperty]?
  /// Selects groups, by what they are grouped by, aggregates, and names of computed columns, and then rows by columns that are windows;
  /// nil for all.
  @exclusivity(unchecked) public var havingPredicate: (any FetchPredicate)?
  /// Whether dictionaries that are equal to another are left out.
  @exclusivity(unchecked) public var returnsDistinctResults = false
  /// The description that the request was made of, for a store that executes fetches itself and knows it. It asks for the same as the request.
  @exclusivity(unchecked) package var origin: (any Sendable)?
  /// Whether objects are used in parts, as they come, and not all at once.
  @exclusivity(unchecked) var isEnumeration = false

  /// A request for all objects of the entity whose class is `Object`.
  public override init() {}

  /// A request for all objects of an entity by name.
  public init(entityName: String) {
    self.entityName = entityName
    super.init()
  }

  /// The entity that was set, or that a fetch has found by name or class; nil before.
  ///
  /// Unlike in Core Data, asking too early is no error.
  public var entity: EntityDescription? {
    get { knownEntity }
    set {
      entityName = newValue?.displayName
      knownEntity = newValue
    }
  }

  /// The entity, if it is known.
  @exclusivity(unchecked) var knownEntity: EntityDescription?

  /// An independent request that asks for the same.
  public func copy() -> FetchRequest {
    let copy = FetchRequest()
    copy.affectedStores = affectedStores
    copy.entityName = entityName
    copy.knownEntity = knownEntity
    copy.predicate = predicate
    copy.sortDescriptors = sortDescriptors
    copy.fetchLimit = fetchLimit
    copy.fetchOffset = fetchOffset
    copy.fetchBatchSize = fetchBatchSize
    copy.includesSubentities = includesSubentities
    copy.includesPendingChanges = includesPendingChanges
    copy.returnsObjectsAsFaults = returnsObjectsAsFaults
    copy.includesPropertyValues = includesPropertyValues
    copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    copy.propertiesToFetch = propertiesToFetch
    copy.propertiesToGroupBy = propertiesToGroupBy
    copy.havingPredicate = havingPredicate
    copy.returnsDistinctResults = returnsDistinctResults
    copy.resultType = resultType
    (copy.origin, copy.isEnumeration) = (origin, isEnumeration)
    return copy
  }
}

extension FetchRequest where Object: ManagedObject {
  /// A request for the objects that satisfy a typed condition.
  ///
  /// - Parameters:
  ///   - condition: The condition on each object.
  ///   - sort: The sort order, most significant first.
  ///   - limit: The maximum number of objects; nil for all.
  ///   - offset: How many of the first objects to skip.
  public convenience init(
    where condition: (ObjectQuery<Object>) -> Condition, sort: [Sort<Object>] = [], limit: Int? = nil,
    offset: Int = 0
  ) {
    self.init(Where(condition), sort: sort, limit: limit, offset: offset)
  }

  /// A request for the objects that satisfy a predicate.
  ///
  /// - Parameters:
  ///   - predicate: The condition on each object.
  ///   - sort: The sort order, most significant first.
  ///   - limit: The maximum number of objects; nil for all.
  ///   - offset: How many of the first objects to skip.
  public convenience init(
    _ predicate: Where<Object>, sort: [Sort<Object>] = [], limit: Int? = nil, offset: Int = 0
  ) {
    self.init(sort: sort, limit: limit, offset: offset)
    if self.predicate == nil { self.predicate = predicate }
  }

  /// A request for all objects, or for the first ones in an order.
  ///
  /// - Parameters:
  ///   - sort: The sort order, most significant first.
  ///   - limit: The maximum number of objects; nil for all. Unlike a `fetchLimit` of 0, a limit of 0 is one.
  ///   - offset: How many of the first objects to skip.
  public convenience init(sort: [Sort<Object>], limit: Int? = nil, offset: Int = 0) {
    self.init()
    if !sort.isEmpty { sortDescriptors = sort }
    if limit == 0 { predicate = Where<Object>.false }
    (fetchLimit, fetchOffset) = (limit ?? 0, offset)
  }
}

/// The classes of managed objects, each with a request for its own objects.
public protocol FetchableObject: ManagedObject {}

extension ManagedObject: FetchableObject {}

extension FetchableObject {
  /// A request for all objects of this class.
  @_disfavoredOverload public static func fetchRequest() -> FetchRequest<Self> { FetchRequest() }
}

extension FetchRequest: CustomStringConvertible {
  /// A short text of the request, for messages.
  public var description: String {
    var parts = ["\(entityName ?? String(describing: Object.self))"]
    if let predicate { parts.append("where \(predicate)") }
    if let sortDescriptors, !sortDescriptors.isEmpty {
      parts.append("by " + sortDescriptors.map { "\($0.sortKey)" }.joined(separator: ", "))
    }
    if fetchOffset != 0 { parts.append("offset \(fetchOffset)") }
    if fetchLimit != 0 { parts.append("limit \(fetchLimit)") }
    return parts.joined(separator: " ")
  }
}
