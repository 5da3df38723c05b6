import CoreData
import Foundation
import Testing

/// A store in a property list, as Apple's template makes one: metadata are read in `load()`, and by the method of the class.
private class ListStore: NSAtomicStore, @unchecked Sendable {
  class var storeType: String { "ListStore" }
  nonisolated(unsafe) static var failure: (any Error)?
  nonisolated(unsafe) static var saves = 0
  /// The name of all new objects; nil for a name of their own.
  nonisolated(unsafe) static var name: String?

  override var type: String { Self.storeType }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try contents(of: url)["metadata"] as? [String: Any] ?? [:]
  }

  private static func contents(of url: URL) throws -> [String: Any] {
    try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as? [String: Any]
      ?? [:]
  }

  override func load() throws {
    guard let url, FileManager.default.fileExists(atPath: url.path) else { return }
    let contents = try Self.contents(of: url)
    metadata = contents["metadata"] as? [String: Any] ?? [:]
    let entity = persistentStoreCoordinator!.managedObjectModel.entitiesByName["Note"]!
    for (name, values) in contents["notes"] as? [String: [String: Any]] ?? [:] {
      let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: name))
      node.setValuesForKeys(values)
      addCacheNodes([node])
    }
  }

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    Self.name ?? UUID().uuidString
  }

  override func save() throws {
    if let failure = Self.failure { throw failure }
    Self.saves += 1
    var notes: [String: [String: Any]] = [:]
    for node in cacheNodes() {
      let names = Array(node.objectID.entity.attributesByName.keys)
      let values = node.dictionaryWithValues(forKeys: names).filter { !($0.value is NSNull) }
      notes[referenceObject(for: node.objectID) as! String] = values
    }
    let contents: [String: Any] = ["metadata": metadata ?? [:], "notes": notes]
    try PropertyListSerialization.data(fromPropertyList: contents, format: .binary, options: 0).write(
      to: url!)
  }
}

/// One that has the metadata and the identifier in properties of its own.
private final class OwnMetadataStore: ListStore, @unchecked Sendable {
  private var own: [String: Any] = [:]
  override class var storeType: String { "OwnMetadataStore" }
  override var metadata: [String: Any]! {
    get { own }
    set { own = newValue }
  }
  override var identifier: String! {
    get { own[NSStoreUUIDKey] as? String }
    set { own[NSStoreUUIDKey] = newValue }
  }
}

/// One whose metadata are read with its objects only.
private final class LateMetadataStore: ListStore, @unchecked Sendable {
  override class var storeType: String { "LateMetadataStore" }
  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { [:] }
}

/// A store of animals, some of which are dogs, that makes its nodes of the identifiers that it is given.
private final class KennelStore: NSIncrementalStore, @unchecked Sendable {
  static let storeType = "KennelStore"
  nonisolated(unsafe) static var animals: [String: (entity: String, values: [String: Any])] = [:]
  nonisolated(unsafe) static var versions: [String: UInt64] = [:]
  /// Whether animals are called by numbers.
  nonisolated(unsafe) static var numbers = false
  /// The error that reading an object throws.
  nonisolated(unsafe) static var failure: (any Error)?

  override var type: String { Self.storeType }
  override func loadMetadata() throws {
    let uuid = KennelStore.identifierForNewStore(at: url!)
    metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: uuid]
  }

  override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws
    -> Any
  {
    if let fetch = request as? NSFetchRequest<NSFetchRequestResult>, let entity = fetch.entity, let context {
      let model = persistentStoreCoordinator!.managedObjectModel
      let found = Self.animals.sorted { $0.key < $1.key }.compactMap { key, animal in
        model.entitiesByName[animal.entity].flatMap { own in
          own.isKindOf(entity: entity)
            ? newObjectID(for: own, referenceObject: Self.numbers ? Int(key) ?? 0 : key) : nil
        }
      }
      if fetch.resultType == .countResultType { return [found.count] }
      return fetch.resultType == .managedObjectIDResultType ? found : found.map(context.object(with:))
    }
    guard let save = request as? NSSaveChangesRequest else {
      return try super.execute(request, with: context)
    }
    for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
      let key = referenceObject(for: object.objectID) as! String
      let names = object.entity.attributesByName.keys
      Self.animals[key] = (
        object.entity.name!,
        object.dictionaryWithValues(forKeys: Array(names)).filter { !($0.value is NSNull) }
      )
      Self.versions[key, default: 0] += 10
    }
    for object in save.deletedObjects ?? [] {
      Self.animals[referenceObject(for: object.objectID) as! String] = nil
    }
    return []
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    if let failure = Self.failure { throw failure }
    let key = "\(referenceObject(for: objectID))"
    guard let animal = Self.animals[key] else { throw CocoaError(.managedObjectReferentialIntegrity) }
    return NSIncrementalStoreNode(
      objectID: objectID, withValues: animal.values, version: Self.versions[key] ?? 1)
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    array.map { newObjectID(for: $0.entity, referenceObject: "\($0.value(forKey: "name") ?? "")") }
  }
}

@Suite(.serialized) struct `Classes of stores as applications write them` {
  private func place() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("list-\(UUID().uuidString)")
  }

  private func open(
    _ type: String, at url: URL, _ model: NSManagedObjectModel = Library.makeModel()
  ) throws -> (NSManagedObjectContext, NSPersistentStore) {
    NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.storeType)
    NSPersistentStoreCoordinator.registerStoreClass(
      OwnMetadataStore.self, forStoreType: OwnMetadataStore.storeType)
    NSPersistentStoreCoordinator.registerStoreClass(
      LateMetadataStore.self, forStoreType: LateMetadataStore.storeType)
    NSPersistentStoreCoordinator.registerStoreClass(KennelStore.self, forStoreType: KennelStore.storeType)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      ])
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return (context, store)
  }

  @Test(arguments: ["ListStore", "OwnMetadataStore", "LateMetadataStore"])
  func `the class saves metadata that a program sets, and the coordinator has those that it loads`(
    type: String
  ) throws {
    let url = place()
    defer { try? FileManager.default.removeItem(at: url) }
    var (context, store) = try open(type, at: url)
    var uri: URL?
    try context.performAndWait {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      note.setValue("one", forKey: "text")
      try context.save()
      uri = note.objectID.uriRepresentation()
      let coordinator = try #require(context.persistentStoreCoordinator)
      var metadata = coordinator.metadata(for: store)
      metadata["shelf"] = "upper"
      coordinator.setMetadata(metadata, for: store)
      #expect(coordinator.metadata(for: store)["shelf"] as? String == "upper")
      let saves = ListStore.saves
      try context.save()
      #expect(ListStore.saves == saves + 1)
    }
    let identifier = store.identifier
    for _ in 0..<2 {
      (context, store) = try open(type, at: url)
      let coordinator = try #require(context.persistentStoreCoordinator)
      #expect(coordinator.metadata(for: store)["shelf"] as? String == "upper")
      #expect(store.metadata[NSStoreUUIDKey] as? String == identifier)
      #expect(store.identifier == identifier)
      try context.performAndWait {
        let id = try #require(uri.flatMap(coordinator.managedObjectID(forURIRepresentation:)))
        #expect(try context.existingObject(with: id).value(forKey: "text") as? String == "one")
      }
    }
  }

  @Test(arguments: ["ListStore", "OwnMetadataStore", "LateMetadataStore"])
  func `a store whose class asks the coordinator for entities is migrated, and copied with its metadata`(
    type: String
  ) throws {
    func model(isNew: Bool) -> NSManagedObjectModel {
      let note = NSEntityDescription()
      note.name = "Note"
      note.properties = [
        Library.attribute("text", .stringAttributeType),
        Library.attribute("count", isNew ? .doubleAttributeType : .integer64AttributeType),
      ]
      if isNew {
        note.properties.append(Library.attribute("extra", .stringAttributeType, optional: true, "X"))
      }
      let model = NSManagedObjectModel()
      model.entities = [note]
      return model
    }
    let (url, copy) = (place(), place())
    defer { for url in [url, copy] { try? FileManager.default.removeItem(at: url) } }
    var (context, store) = try open(type, at: url, model(isNew: false))
    try context.performAndWait {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      note.setValue("one", forKey: "text")
      note.setValue(7, forKey: "count")
      context.persistentStoreCoordinator?.setMetadata(["shelf": "upper"], for: store)
      try context.save()
    }
    (context, store) = try open(type, at: url, model(isNew: true))
    try context.performAndWait {
      func check() throws {
        let note = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).first)
        #expect(note.value(forKey: "count") as? Double == 7 && note.value(forKey: "extra") as? String == "X")
      }
      try check()
      let coordinator = try #require(context.persistentStoreCoordinator)
      let moved = try coordinator.migratePersistentStore(
        store, to: copy, options: nil, withType: NSSQLiteStoreType)
      #expect(coordinator.metadata(for: moved)["shelf"] as? String == "upper")
      context.reset()
      try check()
    }
  }

  @Test func `the values of a node are a dictionary that the program casts, keeps and changes`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    let object = context.performAndWait { Author(name: "Ada", context: context).objectID }
    let node = NSAtomicStoreCacheNode(objectID: object)
    #expect(node.propertyCache == nil && node.value(forKey: "name") == nil)
    let other = NSAtomicStoreCacheNode(objectID: object)
    node.setValue("Ada", forKey: "name")
    node.setValue(5, forKey: "count")
    node.setValue(Set([other]), forKey: "friends")
    let cast = try #require(node.propertyCache as? [String: Any])
    #expect(cast["name"] as? String == "Ada" && cast["count"] as? Int == 5 && cast.count == 3)
    #expect(node.value(forKey: "friends") as? Set<NSAtomicStoreCacheNode> == [other])
    node.propertyCache?["name"] = "Eve"
    #expect(node.value(forKey: "name") as? String == "Eve")
    let given = NSMutableDictionary()
    node.propertyCache = given
    given["name"] = "Bob"
    #expect(node.propertyCache === given && node.value(forKey: "name") as? String == "Bob")
    node.setValue(nil, forKey: "name")
    node.setValue(7, forKey: "count")
    #expect(given["name"] == nil && given["count"] as? Int == 7)
  }

  @Test func `what the save of a class throws reaches the program as it is, and the context can save again`()
    throws
  {
    let url = place()
    defer { try? FileManager.default.removeItem(at: url) }
    let (context, _) = try open(ListStore.storeType, at: url)
    try context.performAndWait {
      let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      note.setValue("one", forKey: "text")
      ListStore.failure = NSError(domain: "Lists", code: 7)
      defer { ListStore.failure = nil }
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.domain == "Lists" && error?.code == 7)
      ListStore.failure = nil
      try context.save()
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1)
    }
  }

  @Test func `a class that gives two new objects one name is named, and the save succeeds with two`() throws {
    let url = place()
    defer { try? FileManager.default.removeItem(at: url) }
    let (context, _) = try open(ListStore.storeType, at: url)
    try context.performAndWait {
      for text in ["one", "two"] {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(
          text, forKey: "text")
      }
      ListStore.name = "same"
      defer { ListStore.name = nil }
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.localizedDescription.contains("ListStore calls a new object same") == true)
      ListStore.name = nil
      context.rollback()
      for text in ["one", "two"] {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(
          text, forKey: "text")
      }
      try context.save()
    }
  }

  @Test func `a store of a class that has a configuration moves to other kinds`() throws {
    for type in [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType] {
      let (url, target) = (place(), place())
      defer { for url in [url, target] { try? FileManager.default.removeItem(at: url) } }
      let model = Library.makeModel()
      let notes = try #require(model.entitiesByName["Note"])
      model.setEntities([notes], forConfigurationName: "Notes")
      NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.storeType)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store = try coordinator.addPersistentStore(
        ofType: ListStore.storeType, configurationName: "Notes", at: url, options: nil)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(
          "one", forKey: "text")
        try context.save()
        context.reset()
        let moved = try coordinator.migratePersistentStore(store, to: target, options: nil, withType: type)
        #expect(moved.configurationName == "Notes" && moved.type == type)
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        #expect(found.map { $0.value(forKey: "text") as? String } == ["one"])
      }
    }
  }

  private func kennel() throws -> NSManagedObjectModel {
    let (animal, dog) = (NSEntityDescription(), NSEntityDescription())
    (animal.name, dog.name) = ("Animal", "Dog")
    animal.properties = [
      Library.attribute("name", .stringAttributeType), Library.attribute("age", .integer64AttributeType),
    ]
    dog.properties = [Library.attribute("tricks", .integer64AttributeType)]
    animal.subentities = [dog]
    let model = NSManagedObjectModel()
    model.entities = [animal, dog]
    return model
  }

  @Test func `an incremental store is asked for an object by the identifier that it made for it`() throws {
    KennelStore.animals = ["Rex": ("Dog", ["name": "Rex", "tricks": 3]), "Tom": ("Animal", ["name": "Tom"])]
    let (context, _) = try open(KennelStore.storeType, at: place(), try kennel())
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Animal")
      let found = try context.fetch(request)
      #expect(found.map(\.entity.name) == ["Dog", "Animal"])
      #expect(found.first?.value(forKey: "tricks") as? Int == 3)
      let id = try #require(found.first?.objectID)
      context.reset()
      #expect(try context.existingObject(with: id).value(forKey: "tricks") as? Int == 3)
      let dog = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
      dog.setValue("Ada", forKey: "name")
      dog.setValue(5, forKey: "tricks")
      try context.save()
      context.refresh(dog, mergeChanges: false)
      #expect(dog.value(forKey: "tricks") as? Int == 5)
      dog.setValue(6, forKey: "tricks")
      try context.save()
      #expect(KennelStore.animals["Ada"]?.values["tricks"] as? Int == 6)
    }
  }

  // EXT-06
  @Test func `an incremental store stands beside one of type SQLite, each with a configuration`() throws {
    KennelStore.animals = ["Rex": ("Dog", ["name": "Rex", "tricks": 3]), "Tom": ("Animal", ["name": "Tom"])]
    NSPersistentStoreCoordinator.registerStoreClass(KennelStore.self, forStoreType: KennelStore.storeType)
    let model = try kennel()
    let note = NSEntityDescription()
    note.name = "Note"
    note.properties = [Library.attribute("text", .stringAttributeType)]
    let animals = model.entities
    model.entities = animals + [note]
    model.setEntities(animals, forConfigurationName: "Kennel")
    model.setEntities([note], forConfigurationName: "Local")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let local = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: "Local", at: place(), options: nil)
    let kennel = try coordinator.addPersistentStore(
      ofType: KennelStore.storeType, configurationName: "Kennel", at: place(), options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let dogs = NSFetchRequest<NSManagedObject>(entityName: "Animal")
      #expect(try context.fetch(dogs).map(\.entity.name) == ["Dog", "Animal"])
      let dog = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
      dog.setValue("Ada", forKey: "name")
      dog.setValue(5, forKey: "tricks")
      let text = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
      text.setValue("a", forKey: "text")
      try context.save()
      #expect(dog.objectID.persistentStore === kennel && text.objectID.persistentStore === local)
      context.reset()
      #expect(try context.existingObject(with: dog.objectID).value(forKey: "tricks") as? Int == 5)
      let found = try context.fetch(dogs)
      #expect(found.map { $0.value(forKey: "name") as? String } == ["Ada", "Rex", "Tom"])
      #expect(try context.count(for: dogs) == 3)
      #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 1)
      found[0].setValue(7, forKey: "tricks")
      context.delete(found[2])
      try context.save()
      #expect(KennelStore.animals["Ada"]?.values["tricks"] as? Int == 7 && KennelStore.animals.count == 2)
      // A batch goes to the store of its entity.
      let update = NSBatchUpdateRequest(entityName: "Note")
      update.propertiesToUpdate = ["text": "b"]
      update.resultType = .updatedObjectsCountResultType
      #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 1)
      let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Animal"))
      let error = #expect(throws: CocoaError.self) { try context.execute(delete) }
      #expect(error?.localizedDescription.contains("KennelStore") == true)
      // One coordinator's reads without a context, by a child.
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      try child.performAndWait {
        let names = try child.fetch(dogs).map { $0.value(forKey: "name") as? String }
        #expect(names == ["Ada", "Rex"])
      }
    }
  }

  @Test func `an object of a subentity is found by its identifier as text before anything was fetched`()
    throws
  {
    KennelStore.animals = ["1": ("Dog", ["name": "Rex", "tricks": 3])]
    KennelStore.numbers = true
    defer { KennelStore.numbers = false }
    let url = place()
    let (context, _) = try open(KennelStore.storeType, at: url, try kennel())
    let uri = try context.performAndWait {
      try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Animal")).first).objectID
        .uriRepresentation()
    }
    let (again, store) = try open(KennelStore.storeType, at: url, try kennel())
    let text = uri.absoluteString.replacingOccurrences(of: uri.host ?? "", with: store.identifier)
    try again.performAndWait {
      let id = try #require(
        URL(string: text).flatMap {
          again.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: $0)
        })
      #expect(id.entity.name == "Dog")
      #expect(try again.existingObject(with: id).value(forKey: "tricks") as? Int == 3)
    }
  }

  @Test func `two contexts that change one object of an incremental store conflict`() throws {
    KennelStore.animals = ["Tom": ("Animal", ["name": "Tom", "age": 1])]
    KennelStore.versions = [:]
    let (first, _) = try open(KennelStore.storeType, at: place(), try kennel())
    let second = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    second.persistentStoreCoordinator = first.persistentStoreCoordinator
    func tom(_ context: NSManagedObjectContext) throws -> NSManagedObject {
      let tom = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Animal")).first)
      _ = tom.value(forKey: "age")
      return tom
    }
    let theirs = try second.performAndWait { try tom(second) }
    try first.performAndWait {
      let mine = try tom(first)
      for age in [2, 3] {
        mine.setValue(age, forKey: "age")
        try first.save()
      }
    }
    try second.performAndWait {
      theirs.setValue(9, forKey: "age")
      let error = #expect(throws: NSError.self) { try second.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      #expect(KennelStore.animals["Tom"]?.values["age"] as? Int == 3)
      second.refresh(theirs, mergeChanges: false)
      theirs.setValue(9, forKey: "age")
      try second.save()
      #expect(KennelStore.animals["Tom"]?.values["age"] as? Int == 9)
    }
  }

  @Test func `a save whose comparison cannot be read fails with the reason, and nothing is overwritten`()
    throws
  {
    KennelStore.animals = ["Tom": ("Animal", ["name": "Tom", "age": 1])]
    KennelStore.versions = [:]
    let (context, _) = try open(KennelStore.storeType, at: place(), try kennel())
    try context.performAndWait {
      let tom = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Animal")).first)
      tom.setValue(2, forKey: "age")
      KennelStore.failure = NSError(domain: "Net", code: -1005)
      defer { KennelStore.failure = nil }
      let error = #expect(throws: NSError.self) { try context.save() }
      let text = "\(String(describing: error)) \(error?.userInfo ?? [:])"
      #expect(text.contains("Net"))
      #expect(KennelStore.animals["Tom"]?.values["age"] as? Int == 1 && context.hasChanges)
      KennelStore.failure = nil
      try context.save()
      #expect(KennelStore.animals["Tom"]?.values["age"] as? Int == 2)
    }
  }

  @Test func `a request that a class passes on is refused by its name`() throws {
    let (context, _) = try open(KennelStore.storeType, at: place(), try kennel())
    context.performAndWait {
      let error = #expect(throws: NSError.self) {
        try context.execute(NSBatchUpdateRequest(entityName: "Animal"))
      }
      #expect(error?.code == NSPersistentStoreUnsupportedRequestTypeError)
      #expect(error?.localizedDescription.contains("KennelStore") == true)
    }
  }
}
