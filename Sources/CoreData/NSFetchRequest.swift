import Foundation
import Heartwood

/// What a fetch can return: objects, dictionaries, numbers. Identifiers are structures here, and are fetched all the same.
@_marker public protocol NSFetchRequestResult: AnyObject {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The kinds of results of a fetch. The raw values are Core Data's.
public struct NSFetchRequestResultType: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt
  /// The kinds with these bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Objects.
  public static let managedObjectResultType: NSFetchRequestResultType = []
  /// Identifiers.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// Dictionaries of properties.
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  /// The number of objects.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// A question to the stores of a context.
open class NSFetchRequest<ResultType>: FetchRequestBase, NSFetchRequestResult {
  /// A request without an entity.
  public override init() {}

  /// A request for the objects of an entity.
  public init(entityName: String) {
    super.init()
    self.entityName = entityName
  }

  init(ofClass type: NSManagedObject.Type) {
    super.init()
    objectClass = type
  }

  /// Executes the request in the context on whose queue the code runs.
  ///
  /// - Throws: As `NSManagedObjectContext.fetch(_:)`.
  public final func execute() throws -> [ResultType] { try NSManagedObjectContext.current.fetch(self) }

  /// An independent request that asks for the same.
  open func copy() -> Any {
    let copy = NSFetchRequest<ResultType>()
    copy.take(self)
    return copy
  }

  /// An independent request that asks for the same.
  open func copy(with zone: NSZone? = nil) -> Any { copy() }
}

/// What requests of all result types have.
open class FetchRequestBase: NSPersistentStoreRequest {
  /// The entity; set it or its name.
  public final var entity: NSEntityDescription? {
    didSet { entityName = entity?.name }
  }
  /// The name of the entity.
  public internal(set) final var entityName: String?
  final var objectClass: NSManagedObject.Type?
  /// The condition; nil for all objects.
  public final var predicate: NSPredicate?
  /// The order, the most significant first; nil for none.
  public final var sortDescriptors: [NSSortDescriptor]?
  /// The greatest number of results; 0 for any.
  public final var fetchLimit = 0
  /// How many results are passed over.
  public final var fetchOffset = 0
  /// How many objects are loaded at once when they are used; 0 for all.
  public final var fetchBatchSize = 0
  /// What is returned.
  public final var resultType: NSFetchRequestResultType = .managedObjectResultType
  /// Whether objects of subentities are found.
  public final var includesSubentities = true
  /// Whether unsaved changes count.
  public final var includesPendingChanges = true
  /// Whether values are loaded with the objects.
  public final var includesPropertyValues = true
  /// Whether objects are faults until they are used.
  public final var returnsObjectsAsFaults = true
  /// Whether registered objects take the newest saved values.
  public final var shouldRefreshRefetchedObjects = false
  /// Whether equal dictionaries are returned once.
  public final var returnsDistinctResults = false
  /// The properties of dictionaries: names, `NSPropertyDescription`s and `NSExpressionDescription`s.
  public final var propertiesToFetch: [Any]?
  /// What dictionaries are grouped by: names, `NSPropertyDescription`s and `NSExpressionDescription`s.
  public final var propertiesToGroupBy: [Any]?
  /// The condition on groups.
  public final var havingPredicate: NSPredicate?
  /// Paths of relationships whose destinations are loaded as well.
  public final var relationshipKeyPathsForPrefetching: [String]?

  override init() {}

  /// `.fetchRequestType`.
  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  final func take(_ other: FetchRequestBase) {
    entity = other.entity
    entityName = other.entityName
    objectClass = other.objectClass
    affectedStores = other.affectedStores
    predicate = other.predicate
    sortDescriptors = other.sortDescriptors
    fetchLimit = other.fetchLimit
    fetchOffset = other.fetchOffset
    fetchBatchSize = other.fetchBatchSize
    resultType = other.resultType
    includesSubentities = other.includesSubentities
    includesPendingChanges = other.includesPendingChanges
    includesPropertyValues = other.includesPropertyValues
    returnsObjectsAsFaults = other.returnsObjectsAsFaults
    shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
    returnsDistinctResults = other.returnsDistinctResults
    propertiesToFetch = other.propertiesToFetch
    propertiesToGroupBy = other.propertiesToGroupBy
    havingPredicate = other.havingPredicate
    relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
  }

  /// The entity of the request in the model of a context.
  ///
  /// - Throws: `.coreData` if the request names none, or one that the model does not have.
  final func entity(in context: NSManagedObjectContext) throws -> NSEntityDescription {
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else {
      throw HeartwoodError(
        .coreData, "a context without a coordinator cannot fetch: set its coordinator or parent")
    }
    if let entity, entity.owningModel === model { return entity }
    let name =
      entityName
      ?? objectClass.flatMap { type in model.entities.first { $0.managedObjectClass == type }?.name }
    guard let name else {
      throw HeartwoodError(
        .coreData,
        objectClass.map { "no entity of the context's model has the class \($0)" }
          ?? "a fetch request needs an entity: use NSFetchRequest(entityName:)")
    }
    guard let found = model.entitiesByName[name] else {
      throw HeartwoodError(
        .coreData,
        "the context's model has no entity called \"\(name)\"; it has \(model.entitiesByName.keys.sorted().joined(separator: ", "))"
      )
    }
    return found
  }

  /// The request as Heartwood executes it.
  final func converted<Object: FetchRequestResult>(
    in context: NSManagedObjectContext, as type: Object.Type = Object.self
  ) throws -> FetchRequest<Object> {
    let request = FetchRequest<Object>()
    request.entity = try entity(in: context)
    request.affectedStores = affectedStores
    request.predicate = try predicate.map { try $0.storeCondition() }
    request.sortDescriptors = try sortDescriptors.flatMap {
      try $0.isEmpty ? nil : $0.map { try $0.storeOrder() }
    }
    request.fetchLimit = fetchLimit
    request.fetchOffset = fetchOffset
    request.fetchBatchSize = fetchBatchSize
    request.includesSubentities = includesSubentities
    request.includesPendingChanges = includesPendingChanges
    request.returnsObjectsAsFaults = returnsObjectsAsFaults
    request.includesPropertyValues = includesPropertyValues
    request.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    request.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    if Object.self == [String: Any].self {
      request.propertiesToFetch = try propertiesToFetch?.map(Self.column)
      request.propertiesToGroupBy = try propertiesToGroupBy?.map(Self.column)
      request.havingPredicate = try havingPredicate.map { try columnNames($0).storeCondition() }
      request.returnsDistinctResults = returnsDistinctResults
    }
    return request
  }

  private static func column(_ any: Any) throws -> any FetchableProperty {
    switch any {
    case let name as String: name
    case let expression as NSExpressionDescription: try expression.column()
    case let property as NSPropertyDescription: property.name
    case let expression as NSExpression: try expression.column()
    default:
      throw HeartwoodError(
        .coreData, "a fetched property is a name or a description, not \(Swift.type(of: any))")
    }
  }
}

extension FetchRequestBase: ExecutableRequest {
  func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    FetchResult(try context.results(of: self))
  }
}

/// The result of a fetch request that is executed as any request.
final class FetchResult: NSPersistentStoreResult {
  let results: [Any]
  init(_ results: [Any]) { self.results = results }
}

extension FetchRequestBase {
  /// A condition on groups in which computed columns are named, where Core Data's programs write variables of their names.
  fileprivate final func columnNames(_ predicate: NSPredicate) -> NSPredicate {
    let columns = (propertiesToFetch ?? []).compactMap { ($0 as? NSExpressionDescription)?.name }
    guard !columns.isEmpty else { return predicate }
    return predicate.withSubstitutionVariables(
      Dictionary(columns.map { ($0, NSExpression(forKeyPath: $0)) }, uniquingKeysWith: { first, _ in first }))
  }
}
