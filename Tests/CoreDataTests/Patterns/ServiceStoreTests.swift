import CoreData
import Foundation
import Testing

/// A store over a service that has its records in a dictionary, as applications write them.
final class ServiceStore: NSIncrementalStore, @unchecked Sendable {
  struct Record {
    var entity: String
    var values: [String: Any] = [:]
    var links: [String: [String]] = [:]
  }

  static let storeType = "ServiceStore"
  nonisolated(unsafe) static var records: [String: Record] = [:]
  nonisolated(unsafe) static var requests: [String] = []
  nonisolated(unsafe) static var used = 0
  nonisolated(unsafe) static var failure: (any Error)?

  override init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    Self.requests.append("init \(url.lastPathComponent)")
    super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
  }

  override var type: String { Self.storeType }

  override func loadMetadata() throws {
    metadata = [
      NSStoreUUIDKey: "6F9619FF-8B86-D011-B42D-00C04FC964FF", NSStoreTypeKey: Self.storeType,
    ]
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
    -> Any
  {
    if let failure = Self.failure { throw failure }
    switch request.requestType {
    case .fetchRequestType:
      guard let fetch = request as? NSFetchRequest<NSFetchRequestResult>, let entity = fetch.entity,
        let context
      else { throw CocoaError(.persistentStoreUnsupportedRequestType) }
      let found = Self.records.filter { key, record in
        guard record.entity == entity.name else { return false }
        return fetch.predicate?.evaluate(with: NSDictionary(dictionary: record.values)) ?? true
      }
      var keys = found.keys.sorted()
      if let descriptors = fetch.sortDescriptors {
        let rows = keys.map {
          NSDictionary(dictionary: found[$0]!.values.merging(["key": $0]) { old, _ in old })
        }
        keys = NSArray(array: rows).sortedArray(using: descriptors).map {
          ($0 as! NSDictionary)["key"] as! String
        }
      }
      Self.requests.append(
        "fetch \(entity.name!) \(fetch.predicate.map { $0 is NSCompoundPredicate ? "joined" : "one" } ?? "all")"
      )
      keys = Array(keys.dropFirst(fetch.fetchOffset))
      if fetch.fetchLimit > 0 { keys = Array(keys.prefix(fetch.fetchLimit)) }
      if fetch.resultType == .countResultType { return [NSNumber(value: keys.count)] }
      let identifiers = keys.map { newObjectID(for: entity, referenceObject: $0) }
      if fetch.resultType == .managedObjectIDResultType { return identifiers }
      return identifiers.map { context.object(with: $0) }
    case .saveRequestType:
      let save = request as! NSSaveChangesRequest
      for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) { write(object) }
      for object in save.deletedObjects ?? [] {
        Self.records[referenceObject(for: object.objectID) as! String] = nil
      }
      Self.requests.append("save")
      return []
    case .batchInsertRequestType:
      let insert = request as! NSBatchInsertRequest
      for values in insert.objectsToInsert ?? [] {
        Self.records[UUID().uuidString] = Record(entity: insert.entity!.name!, values: values)
      }
      Self.requests.append("insert \(insert.entityName)")
      return Inserted(insert.objectsToInsert?.count ?? 0)
    case .batchUpdateRequestType:
      let update = request as! NSBatchUpdateRequest
      var count = 0
      for (key, record) in Self.records where record.entity == update.entity.name {
        guard update.predicate?.evaluate(with: NSDictionary(dictionary: record.values)) ?? true else {
          continue
        }
        for (name, value) in update.propertiesToUpdate ?? [:] {
          Self.records[key]?.values[name as! String] = value
        }
        count += 1
      }
      return Updated(count)
    case .batchDeleteRequestType where Self.refusesDeletes:
      throw CocoaError(.persistentStoreUnsupportedRequestType)
    case .batchDeleteRequestType:
      let fetch = (request as! NSBatchDeleteRequest).fetchRequest
      let old = Self.records.filter { _, record in
        record.entity == fetch.entity?.name
          && fetch.predicate?.evaluate(with: NSDictionary(dictionary: record.values)) ?? true
      }
      for key in old.keys { Self.records[key] = nil }
      return Deleted(old.count)
    }
  }

  nonisolated(unsafe) static var refusesDeletes = false

  final class Inserted: NSBatchInsertResult {
    let count: Int
    init(_ count: Int) { self.count = count; super.init() }
    override var result: Any? { NSNumber(value: count) }
    override var resultType: NSBatchInsertRequestResultType { .count }
  }
  final class Updated: NSBatchUpdateResult {
    let count: Int
    init(_ count: Int) { self.count = count; super.init() }
    override var result: Any? { NSNumber(value: count) }
    override var resultType: NSBatchUpdateRequestResultType { .updatedObjectsCountResultType }
  }
  final class Deleted: NSBatchDeleteResult {
    let count: Int
    init(_ count: Int) { self.count = count; super.init() }
    override var result: Any? { NSNumber(value: count) }
    override var resultType: NSBatchDeleteRequestResultType { .resultTypeCount }
  }

  private func write(_ object: NSManagedObject) {
    let key = referenceObject(for: object.objectID) as! String
    var record = Record(entity: object.entity.name!)
    for name in object.entity.attributesByName.keys { record.values[name] = object.value(forKey: name) }
    for (name, relationship) in object.entity.relationshipsByName {
      let objects =
        relationship.isToMany
        ? (object.value(forKey: name) as? NSSet)?.allObjects as? [NSManagedObject]
        : (object.value(forKey: name) as? NSManagedObject).map { [$0] }
      record.links[name] = objects?.map { referenceObject(for: $0.objectID) as! String }.sorted()
    }
    Self.records[key] = record
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let key = referenceObject(for: objectID) as! String
    guard let record = Self.records[key] else { throw CocoaError(.managedObjectReferentialIntegrity) }
    return NSIncrementalStoreNode(objectID: objectID, withValues: record.values, version: 1)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let key = referenceObject(for: objectID) as! String
    let entity = relationship.destinationEntity!
    let identifiers = (Self.records[key]?.links[relationship.name] ?? []).map {
      newObjectID(for: entity, referenceObject: $0)
    }
    return relationship.isToMany ? identifiers as Any : (identifiers.first as Any?) ?? NSNull()
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
  }

  override class func identifierForNewStore(at storeURL: URL) -> Any {
    ProcessInfo.processInfo.globallyUniqueString
  }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    Self.used += objectIDs.count
  }
}

/// One test: the service is one for all.
@Suite(.serialized) struct `Incremental stores by Core Data's names` {
  static func coordinator() throws -> NSPersistentStoreCoordinator {
    ServiceStore.records = [:]
    ServiceStore.requests = []
    NSPersistentStoreCoordinator.registerStoreClass(
      ServiceStore.self, forStoreType: ServiceStore.storeType)
    let author = NSEntityDescription()
    author.name = "Writer"
    let work = NSEntityDescription()
    work.name = "Work"
    let works = Library.relationship("works", work, many: true, .nullifyDeleteRule)
    let writer = Library.relationship("writer", author, many: false, .nullifyDeleteRule)
    works.inverseRelationship = writer
    writer.inverseRelationship = works
    author.properties = [Library.attribute("name", .stringAttributeType), works]
    work.properties = [
      Library.attribute("title", .stringAttributeType), Library.attribute("year", .integer64AttributeType),
      writer,
    ]
    let model = NSManagedObjectModel()
    model.entities = [author, work]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(
      ofType: ServiceStore.storeType, configurationName: nil,
      at: URL(string: "https://example.org/works")!, options: nil)
    return coordinator
  }

  @Test func `fetches, counts, faults, relationships and saves go through the methods of the class`() throws {
    let coordinator = try Self.coordinator()
    #expect(ServiceStore.requests == ["init works"])
    let store = try #require(coordinator.persistentStores.first as? ServiceStore)
    #expect(store.type == "ServiceStore")
    #expect(
      coordinator.metadata(for: store)[NSStoreUUIDKey] as? String == "6F9619FF-8B86-D011-B42D-00C04FC964FF")
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let writer = NSEntityDescription.insertNewObject(forEntityName: "Writer", into: context)
      writer.setValue("Ursula", forKey: "name")
      for (index, title) in ["Dispossessed", "Lathe", "Earthsea"].enumerated() {
        let work = NSEntityDescription.insertNewObject(forEntityName: "Work", into: context)
        work.setValue(title, forKey: "title")
        work.setValue(1970 + index, forKey: "year")
        work.setValue(writer, forKey: "writer")
      }
      try context.save()
      #expect(ServiceStore.records.count == 4)
      #expect(!writer.objectID.isTemporaryID)
      #expect(store.referenceObject(for: writer.objectID) is String)

      // The same object is changed several times, by a store whose nodes have one version.
      writer.setValue("U. Le Guin", forKey: "name")
      try context.save()
      writer.setValue("Ursula Le Guin", forKey: "name")
      try context.save()
      context.reset()

      let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
      request.predicate = NSPredicate(format: "year >= 1970 AND title BEGINSWITH %@", "D")
      let found = try context.fetch(request)
      #expect(found.map { $0.value(forKey: "title") as? String } == ["Dispossessed"])
      #expect(ServiceStore.requests.last == "fetch Work joined")
      let again = try #require(found.first?.value(forKey: "writer") as? NSManagedObject)
      #expect(again.value(forKey: "name") as? String == "Ursula Le Guin")
      #expect((again.value(forKey: "works") as? NSSet)?.count == 3)

      request.predicate = nil
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
      request.fetchLimit = 2
      #expect(
        try context.fetch(request).compactMap { $0.value(forKey: "title") as? String } == [
          "Lathe", "Earthsea",
        ])
      request.fetchLimit = 0
      #expect(try context.count(for: request) == 3)
      let uri = again.objectID.uriRepresentation()
      #expect(coordinator.managedObjectID(forURIRepresentation: uri) == again.objectID)
      #expect(ServiceStore.used > 0)

      context.delete(found[0])
      try context.save()
      #expect(ServiceStore.records.count == 3)
      #expect((again.value(forKey: "works") as? NSSet)?.count == 2)
    }
  }

  @Test func `a child context reads through its parent, and a failure of the store reaches the caller`()
    throws
  {
    let coordinator = try Self.coordinator()
    let parent = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    parent.persistentStoreCoordinator = coordinator
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      let writer = NSEntityDescription.insertNewObject(forEntityName: "Writer", into: child)
      writer.setValue("Octavia", forKey: "name")
      try child.save()
      try parent.performAndWait { try parent.save() }
      child.reset()
      let found = try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Writer"))
      #expect(found.map { $0.value(forKey: "name") as? String } == ["Octavia"])
    }
    ServiceStore.failure = NSError(domain: "Service", code: 503)
    defer { ServiceStore.failure = nil }
    child.performAndWait {
      child.reset()
      do {
        _ = try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Writer"))
        Issue.record("the fetch has not failed")
      } catch {
        let all = "\(error as NSError) \((error as NSError).userInfo)"
        #expect(all.contains("503"))
      }
    }
  }

  @Test func `batch requests reach the store, and what it does not know is an error`() throws {
    let coordinator = try Self.coordinator()
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let insert = NSBatchInsertRequest(
        entityName: "Work", objects: [["title": "Kindred", "year": 1979], ["title": "Dawn", "year": 1987]])
      insert.resultType = .count
      let inserted = try context.execute(insert) as? NSBatchInsertResult
      #expect(inserted?.result as? Int == 2 && inserted?.resultType == .count)
      #expect(insert.entity?.name == "Work")

      let update = NSBatchUpdateRequest(entityName: "Work")
      update.predicate = NSPredicate(format: "year < %d", 1980)
      update.propertiesToUpdate = ["title": "Old"]
      update.resultType = .updatedObjectsCountResultType
      let updated = try context.execute(update) as! NSBatchUpdateResult
      #expect(updated.result as? Int == 1)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
      request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
      let titles = try context.fetch(request).map { $0.value(forKey: "title") as? String }
      #expect(titles == ["Old", "Dawn"])

      let fetch = NSFetchRequest<NSFetchRequestResult>(entityName: "Work")
      fetch.predicate = NSPredicate(format: "title == 'Old'")
      let delete = NSBatchDeleteRequest(fetchRequest: fetch)
      #expect((try context.execute(delete) as! NSBatchDeleteResult).result as? Int == 1)
      #expect(try context.count(for: request) == 1)

      ServiceStore.refusesDeletes = true
      defer { ServiceStore.refusesDeletes = false }
      do {
        try context.execute(NSBatchDeleteRequest(fetchRequest: fetch))
        Issue.record("the store has executed it")
      } catch {
        let all = "\(error as NSError) \((error as NSError).userInfo)"
        #expect(all.contains("\(NSPersistentStoreUnsupportedRequestTypeError)"))
      }
    }
  }
}
