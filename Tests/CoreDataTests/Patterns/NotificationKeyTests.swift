import CoreData
import Synchronization
import Testing

/// The notifications that were posted while a body ran, with the keys of their user info.
private func posted(
  _ name: NSNotification.Name, by object: AnyObject? = nil, _ body: () throws -> Void
) rethrows -> [AnyHashable: Any] {
  let found = Mutex<[UncheckedBox<[AnyHashable: Any]>]>([])
  let token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
    notification in
    let info = UncheckedBox(notification.userInfo ?? [:])
    found.withLock { $0.append(info) }
  }
  defer { NotificationCenter.default.removeObserver(token) }
  try body()
  return found.withLock { $0.map(\.value) }.reduce(into: [:]) { $0.merge($1) { $1 } }
}

/// The error of a save.
private func failure(of context: NSManagedObjectContext) throws -> NSError {
  do {
    try context.save()
  } catch {
    return error as NSError
  }
  throw CocoaError(.featureUnsupported)
}

// One row for each key that Apple documents, by its constant.
@Suite struct `Documented keys of notifications and errors` {
  let container: NSPersistentContainer
  let context: NSManagedObjectContext

  init() throws {
    container = try Library.makeContainer()
    context = container.newBackgroundContext()
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
  }

  private func objects(_ info: [AnyHashable: Any], _ key: String) -> Set<NSManagedObject> {
    info[key] as? Set<NSManagedObject> ?? []
  }
  private func identifiers(_ info: [AnyHashable: Any], _ key: String) -> Set<NSManagedObjectID> {
    info[key] as? Set<NSManagedObjectID> ?? []
  }

  @Test func `a change of a context has the objects of each kind`() throws {
    try context.performAndWait {
      let (kept, gone) = (Author(name: "kept", context: context), Author(name: "gone", context: context))
      let name = NSNotification.Name.NSManagedObjectContextObjectsDidChange
      var info = posted(name, by: context) { context.processPendingChanges() }
      #expect(objects(info, NSInsertedObjectsKey) == [kept, gone])
      try context.save()
      info = posted(name, by: context) {
        kept.name = "changed"
        context.delete(gone)
        context.processPendingChanges()
      }
      #expect(objects(info, NSUpdatedObjectsKey) == [kept] && objects(info, NSDeletedObjectsKey) == [gone])
      try context.save()
      info = posted(name, by: context) {
        context.refresh(kept, mergeChanges: true)
        context.processPendingChanges()
      }
      #expect(objects(info, NSRefreshedObjectsKey) == [kept])
      info = posted(name, by: context) {
        context.refresh(kept, mergeChanges: false)
        context.processPendingChanges()
      }
      #expect(objects(info, NSInvalidatedObjectsKey).union(objects(info, NSRefreshedObjectsKey)) == [kept])
      info = posted(name, by: context) { context.reset() }
      #expect(info[NSInvalidatedAllObjectsKey] != nil)
    }
  }

  @Test func `a save has its objects, their identifiers, and its generation`() throws {
    try context.performAndWait {
      let (kept, gone) = (Author(name: "kept", context: context), Author(name: "gone", context: context))
      var ids: [AnyHashable: Any] = [:]
      var info = try posted(.NSManagedObjectContextDidSave, by: context) {
        ids = try posted(.NSManagedObjectContextDidSaveObjectIDs, by: context) { try context.save() }
      }
      #expect(objects(info, NSInsertedObjectsKey) == [kept, gone])
      #expect(info[NSManagedObjectContextQueryGenerationKey] is NSQueryGenerationToken)
      #expect(identifiers(ids, NSInsertedObjectIDsKey) == [kept.objectID, gone.objectID])
      kept.name = "changed"
      context.delete(gone)
      let id = gone.objectID
      info = try posted(.NSManagedObjectContextDidSave, by: context) {
        ids = try posted(.NSManagedObjectContextDidSaveObjectIDs, by: context) { try context.save() }
      }
      #expect(objects(info, NSUpdatedObjectsKey) == [kept] && objects(info, NSDeletedObjectsKey) == [gone])
      #expect(identifiers(ids, NSUpdatedObjectIDsKey) == [kept.objectID])
      #expect(identifiers(ids, NSDeletedObjectIDsKey) == [id])
    }
  }

  @Test func `a merge has the identifiers of what it has changed`() throws {
    let other = container.newBackgroundContext()
    var saved: Notification?
    let id = try context.performAndWait {
      let author = Author(name: "A", context: context)
      try context.save()
      return author.objectID
    }
    try other.performAndWait { _ = try (other.existingObject(with: id) as? Author)?.name }
    try context.performAndWait {
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSaveObjectIDs, object: context, queue: nil
      ) { notification in
        Holder.last.withLock { $0 = UncheckedBox(notification) }
      }
      defer { NotificationCenter.default.removeObserver(token) }
      (try context.existingObject(with: id) as? Author)?.name = "B"
      try context.save()
      saved = Holder.last.withLock { $0?.value }
    }
    let notification = try #require(saved)
    other.performAndWait {
      let info = posted(.NSManagedObjectContextDidMergeChangesObjectIDs, by: other) {
        other.mergeChanges(fromContextDidSave: notification)
        other.processPendingChanges()
      }
      let merged = [NSUpdatedObjectIDsKey, NSRefreshedObjectIDsKey].map { identifiers(info, $0) }
      #expect(merged.contains([id]))
      #expect(
        identifiers(info, NSInsertedObjectIDsKey).isEmpty && identifiers(info, NSDeletedObjectIDsKey).isEmpty)
      #expect(info[NSInvalidatedObjectIDsKey] == nil)
    }
  }

  private enum Holder {
    static let last = Mutex<UncheckedBox<Notification>?>(nil)
    static let names = Mutex<[String]>([])
  }

  @Test func `a predicate finds an object that a save has deleted, by its last values`() throws {
    try context.performAndWait {
      for name in ["Ada", "Bob"] { _ = Author(name: name, context: context) }
      try context.save()
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextDidSave, object: context, queue: nil
      ) { notification in
        let deleted = notification.userInfo?[NSDeletedObjectsKey] as? Set<NSManagedObject> ?? []
        let isAda = NSPredicate(format: "name CONTAINS[cd] 'AD'")
        Holder.names.withLock {
          $0 = deleted.filter { isAda.evaluate(with: $0) }.compactMap { ($0 as? Author)?.name }
        }
      }
      defer { NotificationCenter.default.removeObserver(token) }
      for author in try context.fetch(Author.fetchRequest() as NSFetchRequest<Author>) {
        context.delete(author)
      }
      try context.save()
      #expect(Holder.names.withLock { $0 } == ["Ada"])
    }
  }

  @Test func `coordinators name the stores that come, go and are replaced`() throws {
    let coordinator = container.persistentStoreCoordinator
    let folder = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.remove(store)
    let url = folder.appending(path: "a")
    var added: NSPersistentStore?
    var info = try posted(.NSPersistentStoreCoordinatorStoresDidChange, by: coordinator) {
      added = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    }
    #expect(info[NSAddedPersistentStoresKey] as? [NSPersistentStore] == [added].compactMap { $0 })
    var moved: NSPersistentStore?
    info = try posted(.NSPersistentStoreCoordinatorStoresDidChange, by: coordinator) {
      moved = try coordinator.migratePersistentStore(
        try #require(added), to: folder.appending(path: "b"), withType: NSSQLiteStoreType)
    }
    #expect((info[NSUUIDChangedPersistentStoresKey] as? [NSPersistentStore])?.last === moved)
    let last = try #require(moved)
    var going: [AnyHashable: Any] = [:]
    let ofClouds = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresWillChange, object: nil, queue: nil
    ) { _ in Issue.record("a notification of stores in iCloud") }
    defer { NotificationCenter.default.removeObserver(ofClouds) }
    info = try posted(.NSPersistentStoreCoordinatorStoresDidChange, by: coordinator) {
      going = try posted(.NSPersistentStoreCoordinatorWillRemoveStore, by: last) {
        try coordinator.remove(last)
      }
    }
    for told in [info, going] {
      #expect(told[NSRemovedPersistentStoresKey] as? [NSPersistentStore] == [last])
    }
  }

  @Test func `a remote change names its store, its place and the position in the history`() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "remote-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: url) }
    let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.makeModel())
    let description = NSPersistentStoreDescription(url: url)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    let changes = NotificationCenter.default.notifications(
      named: .NSPersistentStoreRemoteChange, object: coordinator)
    let context = container.newBackgroundContext()
    try await context.perform {
      _ = Author(name: "A", context: context)
      try context.save()
    }
    var iterator = changes.makeAsyncIterator()
    let notification = await iterator.next()
    #expect(notification?.userInfo?[NSStoreUUIDKey] as? String == store.identifier)
    #expect(notification?.userInfo?[NSPersistentStoreURLKey] as? URL == store.url)
    #expect(notification?.userInfo?[NSPersistentHistoryTokenKey] is NSPersistentHistoryToken)
    try coordinator.remove(store)
  }

  @Test func `errors have objects, keys, values, predicates and conflicts`() throws {
    let other = container.newBackgroundContext()
    try context.performAndWait {
      let author = Author(name: "A", context: context)
      author.setValue(nil, forKey: "name")
      let second = Author(context: context)
      second.setValue(nil, forKey: "name")
      let error = try failure(of: context)
      let details = try #require(error.userInfo[NSDetailedErrorsKey] as? [NSError])
      #expect(details.count == 2)
      #expect(details.first?.userInfo[NSValidationKeyErrorKey] as? String == "name")
      #expect(details.first?.userInfo[NSValidationObjectErrorKey] is Author)
      context.rollback()

      let kept = Author(name: "B", context: context)
      try context.save()
      let id = kept.objectID
      try other.performAndWait {
        (try other.existingObject(with: id) as? Author)?.name = "C"
        try other.save()
      }
      context.mergePolicy = NSErrorMergePolicy
      kept.name = "D"
      let conflict = try failure(of: context)
      let conflicts = conflict.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
      #expect(conflicts?.first?.sourceObject === kept)
      #expect(conflicts?.first?.persistedSnapshot?["name"] as? String == "C")
      #expect(conflict.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [kept])
    }
  }

  @Test func `a refused value is in its error with the predicate`() throws {
    let entity = NSEntityDescription()
    entity.name = "Rated"
    let stars = Library.attribute("stars", .integer16AttributeType)
    stars.setValidationPredicates([NSPredicate(format: "SELF <= 5")], withValidationWarnings: ["too many"])
    entity.properties = [stars]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try Library.makeContext(model)
    try context.performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: "Rated", into: context)
      object.setValue(6, forKey: "stars")
      let error = try failure(of: context)
      #expect(error.userInfo[NSValidationValueErrorKey] as? Int == 6)
      #expect(
        error.userInfo[NSValidationPredicateErrorKey] as? NSPredicate == NSPredicate(format: "SELF <= 5"))
      #expect(error.localizedDescription == "too many")
    }
  }
}
