/// What to fetch: objects of an entity, which of them, in which order, how many.
///
/// A request is a plain description and may be used again and again, and changed in between.
public final class FetchRequest<Object: ManagedObject> {
  /// The entity's name; nil for the entity whose class is `Object`.
  public var entityName: String?
  /// Which objects; nil for all.
  public var predicate: (any FetchPredicate)?
  /// The order, the most significant first; nil or empty for none.
  public var sortDescriptors: [any FetchSort]?
  /// How many objects at most; 0 for all.
  public var fetchLimit = 0
  /// How many objects to leave out at the beginning.
  public var fetchOffset = 0
  /// A hint how many objects are looked at together. This version ignores it: objects are faults until they are
  /// touched, and `enumerate` goes through large results with little memory.
  public var fetchBatchSize = 0
  /// Whether objects of subentities are found too.
  public var includesSubentities = true
  /// Whether unsaved changes of the context count. When false, what matches is decided by what is saved; objects show
  /// their unsaved values nevertheless.
  public var includesPendingChanges = true
  /// Whether objects come as faults, whose values are read when first used. When false they are read at once.
  public var returnsObjectsAsFaults = true
  /// Whether objects of the context that are found again take over what is saved now, where they have no changes.
  public var shouldRefreshRefetchedObjects = false

  /// A request for all objects of the entity whose class is `Object`.
  public init() {}

  /// A request for all objects of an entity by name.
  public init(entityName: String) { self.entityName = entityName }

  /// A request for the objects that satisfy a typed condition.
  ///
  /// - Parameters:
  ///   - condition: what to ask of each object.
  ///   - sort: the order, the most significant first.
  public convenience init(
    where condition: (ObjectQuery<Object>) -> Condition, sort: [Sort<Object>] = []
  ) {
    self.init()
    predicate = Where(condition)
    if !sort.isEmpty { sortDescriptors = sort }
  }
}

extension FetchRequest: CustomStringConvertible {
  /// The request in words.
  public var description: String {
    var parts = ["\(entityName ?? String(describing: Object.self))"]
    if let predicate { parts.append("where \(predicate)") }
    if fetchOffset != 0 { parts.append("offset \(fetchOffset)") }
    if fetchLimit != 0 { parts.append("limit \(fetchLimit)") }
    return parts.joined(separator: " ")
  }
}
