public import CoreData

// A library over Core Data as others have it: public extensions, generic functions that clients inline, and defaults that name cases.

extension NSManagedObjectContext {
  @inlinable
  public func all<Object: NSManagedObject>(
    _ type: Object.Type = Object.self,
    where predicate: NSPredicate? = nil,
    sortedBy sorts: [NSSortDescriptor] = [],
    as resultType: NSFetchRequestResultType = .managedObjectResultType,
    including properties: [NSAttributeType: Bool] = [.stringAttributeType: true]
  ) throws -> [Object] {
    let request = NSFetchRequest<Object>(entityName: Object.entity().name ?? String(describing: type))
    request.predicate = predicate
    request.sortDescriptors = sorts
    request.resultType = resultType
    request.returnsObjectsAsFaults = properties.isEmpty
    return try fetch(request)
  }

  @inlinable
  public func first<Object: NSManagedObject, Value>(
    _ type: Object.Type, _ key: String, _ comparison: NSComparisonPredicate.Operator = .equalTo,
    _ value: Value
  ) throws -> Object? {
    let predicate = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: key), rightExpression: NSExpression(forConstantValue: value),
      modifier: .direct, type: comparison)
    return try all(type, where: NSCompoundPredicate(andPredicateWithSubpredicates: [predicate])).first
  }

  @discardableResult
  @inlinable
  public func remove<Object: NSManagedObject>(
    allOf type: Object.Type, result: NSBatchDeleteRequestResultType = .resultTypeCount
  ) throws -> Int {
    let found = NSFetchRequest<NSFetchRequestResult>(entityName: Object.entity().name!)
    let request = NSBatchDeleteRequest(fetchRequest: found)
    request.resultType = result
    return (try execute(request) as? NSBatchDeleteResult)?.result as? Int ?? 0
  }

  public static func make(
    _ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType,
    mergingBy policy: NSMergePolicy = .mergeByPropertyObjectTrump, parent: NSManagedObjectContext? = nil
  ) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: type)
    context.mergePolicy = policy
    context.parent = parent
    return context
  }
}

extension Collection where Element: NSManagedObject {
  @inlinable
  public func deleteAll() {
    for object in self { object.managedObjectContext?.delete(object) }
  }

  @inlinable
  public var objectIDs: [NSManagedObjectID] { map(\.objectID) }
}

extension Sequence where Element == NSManagedObjectID {
  @inlinable
  public func objects<Object: NSManagedObject>(in context: NSManagedObjectContext) -> [Object] {
    compactMap { try? context.existingObject(with: $0) as? Object }
  }
}

/// A protocol that a client's entity adopts.
public protocol Named: NSManagedObject {
  static var nameKey: String { get }
}

extension Named {
  public static var nameKey: String { "name" }

  @inlinable
  public static func request(
    named name: String, options: NSComparisonPredicate.Options = [.caseInsensitive]
  ) -> NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entity().name!)
    request.predicate = NSPredicate(format: options.isEmpty ? "%K == %@" : "%K ==[c] %@", nameKey, name)
    return request
  }
}

@usableFromInline
struct Kept<Object: NSManagedObject> {
  @usableFromInline let request: NSFetchRequest<Object>
  @usableFromInline init(_ request: NSFetchRequest<Object>) { self.request = request }
}
