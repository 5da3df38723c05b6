import Foundation
import Heartwood

/// The kind of a batch insert's result. The raw values are Core Data's.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  case statusOnly = 0
  case objectIDs = 1
  case count = 2
}

/// The kind of a batch update's result. The raw values are Core Data's.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  case statusOnlyResultType = 0
  case updatedObjectIDsResultType = 1
  case updatedObjectsCountResultType = 2
}

/// The kind of a batch delete's result. The raw values are Core Data's.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  case resultTypeStatusOnly = 0
  case resultTypeObjectIDs = 1
  case resultTypeCount = 2
}

/// Inserts rows without making objects.
open class NSBatchInsertRequest: NSPersistentStoreRequest, ExecutableRequest, BatchRequest {
  /// The name of the entity.
  public final let entityName: String
  /// The entity; nil before a request is executed that was made with a name.
  public private(set) final var entity: NSEntityDescription?
  /// The kind of the result.
  public final var resultType = NSBatchInsertRequestResultType.statusOnly
  /// The rows as dictionaries, if the request was made with them.
  public final var objectsToInsert: [[String: Any]]?
  /// Fills a row, if the request was made with it.
  public final var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// Fills an object, if the request was made with it.
  public final var managedObjectHandler: ((NSManagedObject) -> Bool)?

  /// Inserts dictionaries.
  public init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.entityName = entityName
    entity = nil
    objectsToInsert = dictionaries
    super.init()
  }
  /// Inserts dictionaries.
  public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    entityName = entity.name ?? ""
    self.entity = entity
    objectsToInsert = dictionaries
    super.init()
  }
  /// Inserts rows until the block, which fills them, returns true.
  public init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
    self.entityName = entityName
    entity = nil
    dictionaryHandler = handler
    super.init()
  }
  /// Inserts rows until the block, which fills them, returns true.
  public init(entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool)
  {
    entityName = entity.name ?? ""
    self.entity = entity
    dictionaryHandler = handler
    super.init()
  }
  /// Inserts rows until the block, which fills objects, returns true.
  public init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
    self.entityName = entityName
    entity = nil
    managedObjectHandler = handler
    super.init()
  }
  /// Inserts rows until the block, which fills objects, returns true.
  public init(entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool)
  {
    entityName = entity.name ?? ""
    self.entity = entity
    managedObjectHandler = handler
    super.init()
  }

  /// `.batchInsertRequestType`.
  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

  func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let request: BatchInsertRequest
    if let objectsToInsert {
      request = BatchInsertRequest(entityName: entityName, objects: objectsToInsert.map(Self.plain))
    } else if let dictionaryHandler {
      request = BatchInsertRequest(entityName: entityName) { (row: inout [String: Any]) -> Bool in
        let dictionary = NSMutableDictionary()
        guard !dictionaryHandler(dictionary) else { return true }
        row = Self.plain(dictionary as? [String: Any] ?? [:])
        return false
      }
    } else {
      guard let managedObjectHandler else {
        throw HeartwoodError(.coreData, "the batch insert of \(entityName) has no rows and no handler")
      }
      let entity = try context.requiredEntity(entityName)
      request = BatchInsertRequest(entityName: entityName) { (row: inout [String: Any]) -> Bool in
        let object = managed(ManagedObject.make(entity, insertInto: nil))
        guard !managedObjectHandler(object) else { return true }
        for name in object.setPropertyNames {
          guard let attribute = entity.attributesByName[name], !attribute.isTransient,
            !(attribute is NSDerivedAttributeDescription)
          else { continue }
          row[name] = object.value(forKey: name).flatMap(FoundationValue.plain) ?? NSNull()
        }
        return false
      }
    }
    request.affectedStores = affectedStores
    request.resultType = BatchInsertRequestResultType(rawValue: Int(resultType.rawValue)) ?? .statusOnly
    return NSBatchInsertResult(try context.execute(request), resultType)
  }

  final func findEntity(in context: NSManagedObjectContext) throws {
    entity = try entity ?? context.requiredEntity(entityName)
  }

  final func stores(among stores: [NSPersistentStore]) -> [NSPersistentStore] {
    stores.first { $0.mayHave(entity, onlyItself: true) && !$0.isReadOnly }.map { [$0] } ?? []
  }

  private static func plain(_ row: [String: Any]) -> [String: Any] {
    row.mapValues { FoundationValue.plain($0) ?? NSNull() }
  }
}

/// Updates rows without making objects.
open class NSBatchUpdateRequest: NSPersistentStoreRequest, ExecutableRequest, BatchRequest {
  /// The name of the entity.
  public final let entityName: String
  /// The entity.
  ///
  /// - Precondition: The request was made with it, or has been executed.
  public final var entity: NSEntityDescription {
    guard let known else {
      raise("entity", "the request for \(entityName) knows its entity once a context executes it")
    }
    return known
  }
  private final var known: NSEntityDescription?
  /// The condition; nil for all rows.
  public final var predicate: NSPredicate?
  /// Whether rows of subentities are updated.
  public final var includesSubentities = true
  /// The kind of the result.
  public final var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  /// The new values, or expressions of them, by names or by property descriptions.
  public final var propertiesToUpdate: [AnyHashable: Any]?

  /// Updates rows of an entity.
  public init(entityName: String) {
    self.entityName = entityName
    super.init()
  }
  /// Updates rows of an entity.
  public init(entity: NSEntityDescription) {
    entityName = entity.name ?? ""
    known = entity
    super.init()
  }

  /// `.batchUpdateRequestType`.
  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

  func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let request = BatchUpdateRequest(entityName: entityName)
    request.affectedStores = affectedStores
    request.predicate = try predicate?.storeCondition()
    request.includesSubentities = includesSubentities
    request.resultType = BatchUpdateRequestResultType(rawValue: Int(resultType.rawValue)) ?? .statusOnly
    var values: [String: Any] = [:]
    for (key, value) in propertiesToUpdate ?? [:] {
      guard let name = key.base as? String ?? (key.base as? NSPropertyDescription)?.name else {
        throw HeartwoodError(
          .coreData, "a property to update is a name or a description, not \(type(of: key.base))")
      }
      values[name] = try Self.newValue(value)
    }
    request.propertiesToUpdate = values
    return NSBatchUpdateResult(try context.execute(request), resultType)
  }

  final func findEntity(in context: NSManagedObjectContext) throws {
    known = try known ?? context.requiredEntity(entityName)
  }

  final func stores(among stores: [NSPersistentStore]) -> [NSPersistentStore] {
    stores.filter { $0.mayHave(known) }
  }

  private static func newValue(_ value: Any) throws -> Any {
    guard let expression = (value as? NSExpression)?.expression else {
      return FoundationValue.plain(value) ?? NSNull()
    }
    return expression.expressionType == .constantValue
      ? expression.constantValue ?? NSNull() : try FormatExpression("\(expression)")
  }
}

/// Deletes rows without making objects.
open class NSBatchDeleteRequest: NSPersistentStoreRequest, ExecutableRequest, BatchRequest {
  /// The kind of the result.
  public final var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly
  /// The request whose objects are deleted.
  public final let fetchRequest: NSFetchRequest<any NSFetchRequestResult>
  private let identifiers: [NSManagedObjectID]?

  /// Deletes what a request finds.
  public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
    fetchRequest = fetch
    identifiers = nil
    super.init()
  }
  /// Deletes what a request finds, whatever its results are: no cast is needed here.
  @_disfavoredOverload
  public convenience init<Result>(fetchRequest fetch: NSFetchRequest<Result>) {
    self.init(fetchRequest: fetch ~~>! NSFetchRequest<any NSFetchRequestResult>.self)
  }
  /// Deletes objects by their identifiers.
  public init(objectIDs objects: [NSManagedObjectID]) {
    fetchRequest = NSFetchRequest<any NSFetchRequestResult>(entityName: objects.first?.entity.name ?? "")
    fetchRequest.predicate = NSPredicate(format: "SELF IN %@", objects)
    identifiers = objects
    super.init()
  }

  /// `.batchDeleteRequestType`.
  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

  func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let request =
      try identifiers.map { BatchDeleteRequest(objectIDs: $0) }
      ?? BatchDeleteRequest(fetchRequest: fetchRequest.converted(in: context, as: ManagedObject.self))
    request.affectedStores = affectedStores
    request.resultType = BatchDeleteRequestResultType(rawValue: Int(resultType.rawValue)) ?? .statusOnly
    return NSBatchDeleteResult(try context.execute(request), resultType)
  }

  final func findEntity(in context: NSManagedObjectContext) throws {
    guard fetchRequest.entity == nil, identifiers?.isEmpty != true else { return }
    if let name = fetchRequest.entityName { fetchRequest.entity = try context.requiredEntity(name) }
  }

  final func stores(among stores: [NSPersistentStore]) -> [NSPersistentStore] {
    guard let identifiers else { return stores.filter { $0.mayHave(fetchRequest.entity) } }
    return stores.filter { store in identifiers.contains { $0.persistentStore === store } }
  }
}

extension BatchResult {
  fileprivate var foundationResult: Any? {
    switch resultType {
    case .statusOnly: NSNumber(value: true)
    case .objectIDs: objectIDs
    case .count: NSNumber(value: count)
    }
  }
}

/// The result of a batch insert.
open class NSBatchInsertResult: NSPersistentStoreResult {
  /// A Boolean, identifiers or a number, as the request asked for. A custom store returns a subclass that overrides it.
  open var result: Any? { found }
  /// The kind of the result.
  open var resultType: NSBatchInsertRequestResultType { type }
  private let found: Any?
  private let type: NSBatchInsertRequestResultType

  /// A result that says nothing, for subclasses.
  public override init() {
    (found, type) = (nil, .statusOnly)
    super.init()
  }

  init(_ batch: BatchResult, _ type: NSBatchInsertRequestResultType) {
    (found, self.type) = (batch.foundationResult, type)
    super.init()
  }
}

/// The result of a batch update.
open class NSBatchUpdateResult: NSPersistentStoreResult {
  /// A Boolean, identifiers or a number, as the request asked for. A custom store returns a subclass that overrides it.
  open var result: Any? { found }
  /// The kind of the result.
  open var resultType: NSBatchUpdateRequestResultType { type }
  private let found: Any?
  private let type: NSBatchUpdateRequestResultType

  /// A result that says nothing, for subclasses.
  public override init() {
    (found, type) = (nil, .statusOnlyResultType)
    super.init()
  }

  init(_ batch: BatchResult, _ type: NSBatchUpdateRequestResultType) {
    (found, self.type) = (batch.foundationResult, type)
    super.init()
  }
}

/// The result of a batch delete.
open class NSBatchDeleteResult: NSPersistentStoreResult {
  /// A Boolean, identifiers or a number, as the request asked for. A custom store returns a subclass that overrides it.
  open var result: Any? { found }
  /// The kind of the result.
  open var resultType: NSBatchDeleteRequestResultType { type }
  private let found: Any?
  private let type: NSBatchDeleteRequestResultType

  /// A result that says nothing, for subclasses.
  public override init() {
    (found, type) = (nil, .resultTypeStatusOnly)
    super.init()
  }

  init(_ batch: BatchResult, _ type: NSBatchDeleteRequestResultType) {
    (found, self.type) = (batch.foundationResult, type)
    super.init()
  }
}
