import Foundation
import Heartwood

/// A type that a fetch can return: objects, dictionaries, numbers. Identifiers are structures here, and are fetched all the same.
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

  /// Core Data's name.
  var name: String {
    switch self {
    case .managedObjectIDResultType: "NSManagedObjectIDResultType"
    case .dictionaryResultType: "NSDictionaryResultType"
    case .countResultType: "NSCountResultType"
    default: "NSManagedObjectResultType"
    }
  }
}

/// A question to the stores of a context.
///
/// Requests that were cast to another result type share what they ask for: see `_Recastable`.
open class NSFetchRequest<ResultType>: FetchRequestBase, NSFetchRequestResult, _Recastable {
  /// A request without an entity.
  public override init() { super.init() }

  /// A request for the objects of an entity.
  public init(entityName: String) {
    super.init()
    settings.entityName = entityName
  }

  convenience init(ofClass type: NSManagedObject.Type) {
    self.init()
    settings.objectClass = type
  }

  convenience init(sharing settings: SharedFetchSettings) {
    self.init()
    shared = settings
  }

  /// Executes the request in the context on whose queue the code runs.
  ///
  /// - Throws: As `NSManagedObjectContext.fetch(_:)`.
  public final func execute() throws -> [ResultType] { try NSManagedObjectContext.current.fetch(self) }

  /// An independent request that asks for the same.
  open override func copy(with zone: NSZone? = nil) -> Any {
    NSFetchRequest<ResultType>(sharing: SharedFetchSettings(settings))
  }

  /// The request for results of this type that shares what another one asks for.
  public static func _recast(_ object: AnyObject) -> AnyObject? {
    guard self == NSFetchRequest<ResultType>.self else { return nil }
    return (object as? FetchRequestBase).map { NSFetchRequest<ResultType>(sharing: $0.shared) }
  }
}

/// The settings of a request, whatever its result type is.
struct FetchSettings {
  var entity: NSEntityDescription? {
    didSet { entityName = entity?.name }
  }
  var entityName: String?
  var objectClass: NSManagedObject.Type?
  var affectedStores: [NSPersistentStore]?
  var predicate: NSPredicate?
  var sortDescriptors: [NSSortDescriptor]?
  var fetchLimit = 0
  var fetchOffset = 0
  var fetchBatchSize = 0
  var resultType: NSFetchRequestResultType = .managedObjectResultType
  var includesSubentities = true
  var includesPendingChanges = true
  var includesPropertyValues = true
  var returnsObjectsAsFaults = true
  var shouldRefreshRefetchedObjects = false
  var returnsDistinctResults = false
  var propertiesToFetch: [Any]?
  var propertiesToGroupBy: [Any]?
  var havingPredicate: NSPredicate?
  var relationshipKeyPathsForPrefetching: [String]?
}

/// Settings that several requests have, which were cast to one another.
final class SharedFetchSettings {
  var value: FetchSettings

  init(_ value: FetchSettings = FetchSettings()) { self.value = value }
}

/// The part that requests of all result types share.
open class FetchRequestBase: NSPersistentStoreRequest {
  final var shared = SharedFetchSettings()
  final var settings: FetchSettings {
    get { shared.value }
    set { shared.value = newValue }
  }

  /// A request without an entity.
  public override init() { super.init() }

  /// The entity; set it or its name.
  public final var entity: NSEntityDescription? {
    get { settings.entity ?? settings.objectClass?.knownEntity }
    set { settings.entity = newValue }
  }
  /// The name of the entity.
  public final var entityName: String? { settings.entityName ?? settings.objectClass?.knownEntity?.name }
  /// The stores that are asked; nil for all of the context.
  open override var affectedStores: [NSPersistentStore]? {
    get { settings.affectedStores }
    set { settings.affectedStores = newValue }
  }
  /// The condition; nil for all objects.
  public final var predicate: NSPredicate? {
    get { settings.predicate }
    set { settings.predicate = newValue }
  }
  /// The order, the most significant first; nil for none.
  public final var sortDescriptors: [NSSortDescriptor]? {
    get { settings.sortDescriptors }
    set { settings.sortDescriptors = newValue }
  }
  /// The greatest number of results; 0 for any.
  public final var fetchLimit: Int {
    get { settings.fetchLimit }
    set { settings.fetchLimit = newValue }
  }
  /// How many results are passed over.
  public final var fetchOffset: Int {
    get { settings.fetchOffset }
    set { settings.fetchOffset = newValue }
  }
  /// How many objects are loaded at once when they are used; 0 for all.
  public final var fetchBatchSize: Int {
    get { settings.fetchBatchSize }
    set { settings.fetchBatchSize = newValue }
  }
  /// The kind of the results.
  public final var resultType: NSFetchRequestResultType {
    get { settings.resultType }
    set { settings.resultType = newValue }
  }
  /// Whether objects of subentities are found.
  public final var includesSubentities: Bool {
    get { settings.includesSubentities }
    set { settings.includesSubentities = newValue }
  }
  /// Whether unsaved changes count.
  public final var includesPendingChanges: Bool {
    get { settings.includesPendingChanges }
    set { settings.includesPendingChanges = newValue }
  }
  /// Whether values are loaded with the objects.
  public final var includesPropertyValues: Bool {
    get { settings.includesPropertyValues }
    set { settings.includesPropertyValues = newValue }
  }
  /// Whether objects are faults until they are used.
  public final var returnsObjectsAsFaults: Bool {
    get { settings.returnsObjectsAsFaults }
    set { settings.returnsObjectsAsFaults = newValue }
  }
  /// Whether registered objects take the newest saved values.
  public final var shouldRefreshRefetchedObjects: Bool {
    get { settings.shouldRefreshRefetchedObjects }
    set { settings.shouldRefreshRefetchedObjects = newValue }
  }
  /// Whether equal dictionaries are returned once.
  public final var returnsDistinctResults: Bool {
    get { settings.returnsDistinctResults }
    set { settings.returnsDistinctResults = newValue }
  }
  /// The properties of dictionaries: names, `NSPropertyDescription`s and `NSExpressionDescription`s.
  public final var propertiesToFetch: [Any]? {
    get { settings.propertiesToFetch }
    set { settings.propertiesToFetch = newValue }
  }
  /// The columns that dictionaries are grouped by: names, `NSPropertyDescription`s and `NSExpressionDescription`s.
  public final var propertiesToGroupBy: [Any]? {
    get { settings.propertiesToGroupBy }
    set { settings.propertiesToGroupBy = newValue }
  }
  /// The condition on groups.
  public final var havingPredicate: NSPredicate? {
    get { settings.havingPredicate }
    set { settings.havingPredicate = newValue }
  }
  /// Paths of relationships whose destinations are loaded as well.
  public final var relationshipKeyPathsForPrefetching: [String]? {
    get { settings.relationshipKeyPathsForPrefetching }
    set { settings.relationshipKeyPathsForPrefetching = newValue }
  }

  /// `.fetchRequestType`.
  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// Whether both ask for the same.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? FetchRequestBase else { return false }
    return shared === other.shared || "\(self)" == "\(other)"
  }
  /// A hash of the entity's name.
  open override var hash: Int { entityName.hashValue }

  /// The settings of the request, without those that have their defaults.
  open override var description: String {
    var parts = [
      "entity: \(entityName ?? "none")", "predicate: (\(predicate.map { "\($0)" } ?? "none"))",
      "sortDescriptors: (\(sortDescriptors.map { $0.map { "\($0)" }.joined(separator: ", ") } ?? "none"))",
    ]
    if fetchLimit != 0 { parts.append("limit: \(fetchLimit)") }
    if fetchOffset != 0 { parts.append("offset: \(fetchOffset)") }
    if fetchBatchSize != 0 { parts.append("batch size: \(fetchBatchSize)") }
    parts.append("type: \(resultType.name)")
    if !includesSubentities { parts.append("includesSubentities: NO") }
    if !includesPendingChanges { parts.append("includesPendingChanges: NO") }
    if returnsDistinctResults { parts.append("returnsDistinctResults: YES") }
    for (name, properties) in [
      ("propertiesToFetch", propertiesToFetch), ("propertiesToGroupBy", propertiesToGroupBy),
    ] {
      if let properties {
        let names = properties.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
        parts.append("\(name): (\(names.joined(separator: ", ")))")
      }
    }
    return "<NSFetchRequest> (\(parts.joined(separator: "; ")); )"
  }

  /// The entity of the request in the model of a context.
  ///
  /// - Throws: `.coreData` if the request names none, or one that the model does not have.
  final func entity(in context: NSManagedObjectContext) throws -> NSEntityDescription {
    guard let model = context.persistentStoreCoordinator?.managedObjectModel else {
      throw HeartwoodError(
        .coreData, "a context without a coordinator cannot fetch: set its coordinator or parent")
    }
    if let entity = settings.entity, entity.owningModel === model { return entity }
    let name =
      settings.entityName
      ?? settings.objectClass.flatMap { type in model.entities.first { $0.managedObjectClass == type }?.name }
    guard let name else {
      throw HeartwoodError(
        .coreData,
        settings.objectClass.map { "no entity of the context's model has the class \($0)" }
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
    try take(into: request)
    if Object.self != [String: Any].self {
      try checkProperties(of: request.entity)
    } else {
      request.propertiesToFetch = try propertiesToFetch?.map { try Self.column($0, of: request.entity) }
      request.propertiesToGroupBy = try propertiesToGroupBy?.map { try Self.column($0) }
      request.havingPredicate = try havingPredicate.map { try columnNames($0).storeCondition() }
      request.returnsDistinctResults = returnsDistinctResults
    }
    return request
  }

  /// - Throws: `.coreData` for what only dictionaries have, or a property that the entity does not have, in a request for others.
  private final func checkProperties(of entity: NSEntityDescription?) throws {
    guard resultType != .dictionaryResultType else { return }
    let name = entity?.name ?? "?"
    guard propertiesToGroupBy?.isEmpty != false, havingPredicate == nil else {
      throw HeartwoodError(
        .coreData,
        "the fetch request for \(name) groups its results by propertiesToGroupBy or havingPredicate, which only dictionaries can be: set "
          + "its resultType to dictionaryResultType")
    }
    for property in propertiesToFetch ?? [] {
      guard let path = try Self.column(property) as? String else {
        throw HeartwoodError(
          .coreData,
          "the fetch request for \(name) has a computed column in propertiesToFetch: set its resultType to dictionaryResultType"
        )
      }
      let first = String(path.prefix { $0 != "." })
      guard first == "objectID" || first == "self" || entity?.propertiesByName[first] != nil else {
        throw HeartwoodError(
          .coreData,
          "the fetch request for \(name) has \(path) in propertiesToFetch, which the entity does not have"
        )
      }
    }
  }

  /// Whether the results are not one for each object.
  final var unitesObjects: Bool {
    resultType == .dictionaryResultType
      && (propertiesToGroupBy?.isEmpty == false || havingPredicate != nil || returnsDistinctResults)
  }

  /// The request as one of a model, which has no context.
  final func template(in model: NSManagedObjectModel? = nil) throws -> FetchRequest<ManagedObject> {
    let request = FetchRequest<ManagedObject>(entityName: entityName ?? "")
    try take(into: request)
    let entity = model?.entitiesByName[entityName ?? ""]
    request.propertiesToFetch = try propertiesToFetch?.map { try Self.column($0, of: entity) }
    request.propertiesToGroupBy = try propertiesToGroupBy?.map { try Self.column($0) }
    request.havingPredicate = try havingPredicate?.storeCondition()
    request.returnsDistinctResults = returnsDistinctResults
    return request
  }

  private final func take<Object: FetchRequestResult>(into request: FetchRequest<Object>) throws {
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
  }

  private static func column(_ any: Any, of entity: NSEntityDescription? = nil) throws
    -> any FetchableProperty
  {
    switch any {
    case let name as String: name
    case let expression as NSExpressionDescription: try expression.column(of: entity)
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
  init(_ results: [Any]) {
    self.results = results
    super.init()
  }
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
