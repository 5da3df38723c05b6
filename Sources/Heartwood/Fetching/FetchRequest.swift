/// A description of a fetch: entity, condition, order and number of objects.
///
/// A request can be reused, and changed between uses.
public final class FetchRequest<Object: ManagedObject> {
  /// The entity's name; nil for the entity whose class is `Object`.
  public var entityName: String?
  /// The condition; nil for all objects.
  public var predicate: (any FetchPredicate)?
  /// The sort descriptors, most significant first; nil or empty for no order.
  public var sortDescriptors: [any FetchSort]?
  /// The maximum number of objects; 0 for all.
  public var fetchLimit = 0
  /// How many of the first objects to skip.
  public var fetchOffset = 0
  /// A hint for the number of objects that are processed together. Unlike Core Data, this version ignores it: objects are
  /// faults until they are used, and `enumerate` iterates over large results with little memory.
  public var fetchBatchSize = 0
  /// Whether objects of subentities are included.
  public var includesSubentities = true
  /// Whether unsaved changes of the context are considered. If false, the saved values decide which objects match; the
  /// objects still show their unsaved values.
  public var includesPendingChanges = true
  /// Whether objects are returned as faults, whose values are loaded at first use. If false, they are loaded at once.
  public var returnsObjectsAsFaults = true
  /// Whether registered objects take the newest saved values when they are fetched again. Unsaved values stay; if a saved one
  /// differs from that on which the edit was made, the save meets the conflict.
  public var shouldRefreshRefetchedObjects = false

  /// A request for all objects of the entity whose class is `Object`.
  public init() {}

  /// A request for all objects of an entity by name.
  public init(entityName: String) { self.entityName = entityName }

  /// A request for the objects that satisfy a typed condition.
  ///
  /// - Parameters:
  ///   - condition: The condition on each object.
  ///   - sort: The sort order, most significant first.
  public convenience init(
    where condition: (ObjectQuery<Object>) -> Condition, sort: [Sort<Object>] = []
  ) {
    self.init()
    predicate = Where(condition)
    if !sort.isEmpty { sortDescriptors = sort }
  }
}

extension FetchRequest: CustomStringConvertible {
  /// A short text of the request, for messages.
  public var description: String {
    var parts = ["\(entityName ?? String(describing: Object.self))"]
    if let predicate { parts.append("where \(predicate)") }
    if fetchOffset != 0 { parts.append("offset \(fetchOffset)") }
    if fetchLimit != 0 { parts.append("limit \(fetchLimit)") }
    return parts.joined(separator: " ")
  }
}
