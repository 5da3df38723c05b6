import CoreData
import Foundation
import Testing

// Declarations of packages over Core Data, in the forms in which they have them.

/// Classes that know their entity and order.
protocol Managed: NSFetchRequestResult {
  static var entityName: String { get }
  static var defaultSortDescriptors: [NSSortDescriptor] { get }
}

extension Managed where Self: NSManagedObject {
  static var sortedFetchRequest: NSFetchRequest<Self> {
    let request = NSFetchRequest<Self>(entityName: entityName)
    request.sortDescriptors = defaultSortDescriptors
    return request
  }

  static func fetch(in context: NSManagedObjectContext, configure: (NSFetchRequest<Self>) -> Void = { _ in })
    -> [Self]
  {
    let request = NSFetchRequest<Self>(entityName: entityName)
    configure(request)
    return (try? context.fetch(request)) ?? []
  }

  /// An object that the context has already, without asking the store.
  static func materialized(in context: NSManagedObjectContext, matching predicate: NSPredicate) -> Self? {
    for object in context.registeredObjects where !object.isFault {
      guard let result = object as? Self, predicate.evaluate(with: result) else { continue }
      return result
    }
    return nil
  }

  static func findOrCreate(
    in context: NSManagedObjectContext, matching predicate: NSPredicate, configure: (Self) -> Void
  ) -> Self {
    let known =
      materialized(in: context, matching: predicate)
      ?? fetch(in: context) { request in
        request.predicate = predicate
        request.returnsObjectsAsFaults = false
        request.fetchLimit = 1
      }.first
    if let known { return known }
    let made: Self = context.insertObject()
    configure(made)
    return made
  }
}

extension NSManagedObjectContext {
  fileprivate func insertObject<Object: NSManagedObject>() -> Object where Object: Managed {
    guard
      let object = NSEntityDescription.insertNewObject(forEntityName: Object.entityName, into: self)
        as? Object
    else { fatalError("Wrong object type") }
    return object
  }

  fileprivate func saveOrRollback() -> Bool {
    do {
      try save()
      return true
    } catch {
      rollback()
      return false
    }
  }
}

extension Author: Managed {
  static var entityName: String { "Author" }
  static var defaultSortDescriptors: [NSSortDescriptor] {
    [NSSortDescriptor(key: #"name"#, ascending: true, selector: Selector("localizedStandardCompare:"))]
  }
}

/// A notification of a save with its objects by their kinds.
private struct ContextDidSave {
  private let notification: Notification
  init(_ notification: Notification) {
    guard notification.name == .NSManagedObjectContextDidSave else { fatalError() }
    self.notification = notification
  }
  var context: NSManagedObjectContext { notification.object as! NSManagedObjectContext }
  func objects(_ key: String) -> AnyIterator<NSManagedObject> {
    guard let set = notification.userInfo?[key] as? NSSet else { return AnyIterator { nil } }
    let iterator = set.makeIterator()
    return AnyIterator { iterator.next() as? NSManagedObject }
  }
}

extension CodingUserInfoKey {
  fileprivate static let managedObjectContext = CodingUserInfoKey(rawValue: "managedObjectContext")!
}

/// An object that is decoded from what a server sends.
final class Card: NSManagedObject, Codable {
  enum CodingKeys: String, CodingKey { case title, count }
  var title: String? {
    get { _managedGet("title") }
    set { _managedSet("title", newValue) }
  }
  var count: Int32 {
    get { _managedGet("count") }
    set { _managedSet("count", newValue) }
  }

  required convenience init(from decoder: Decoder) throws {
    guard let context = decoder.userInfo[.managedObjectContext] as? NSManagedObjectContext else {
      throw CocoaError(.coderInvalidValue)
    }
    self.init(context: context)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    title = try container.decodeIfPresent(String.self, forKey: .title)
    count = try container.decode(Int32.self, forKey: .count)
  }

  func encode(to encoder: Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(title, forKey: .title)
    try container.encode(count, forKey: .count)
  }
}

@Suite struct `Patterns of packages` {
  @Test func `generic repositories find what is registered or stored, or make it`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    context.performAndWait {
      for name in ["Author 10", "Author 9"] {
        let author = Author.findOrCreate(in: context, matching: NSPredicate(format: "name == %@", name)) {
          $0.name = name
        }
        #expect(author.isInserted)
      }
      #expect(context.saveOrRollback())
      context.refreshAllObjects()
      let nine = NSPredicate(format: "%K == %@", #"name"#, "Author 9")
      #expect(Author.materialized(in: context, matching: nine) == nil)
      let found = Author.findOrCreate(in: context, matching: nine) { _ in Issue.record("it is there") }
      #expect(!found.isFault)
      #expect(Author.materialized(in: context, matching: nine) === found)
      let sorted = try? context.fetch(Author.sortedFetchRequest)
      #expect(sorted?.map(\.name) == ["Author 9", "Author 10"])
    }
  }

  @Test func `a save tells of its objects in sets, and a context keeps what a program gives it`() throws {
    let context = try Library.makeContainer().newBackgroundContext()
    nonisolated(unsafe) var told: [String] = []
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { notification in
      let save = ContextDidSave(notification)
      for (name, key) in [
        ("insert", NSInsertedObjectsKey), ("update", NSUpdatedObjectsKey), ("delete", NSDeletedObjectsKey),
      ] {
        for object in save.objects(key) { told.append("\(name) \(object.entity.name ?? "")") }
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.performAndWait {
      let author = Author(name: "A", context: context)
      try context.save()
      author.name = "B"
      try context.save()
      context.userInfo["current"] = author.objectID
      let known = (context.userInfo["current"] as? NSManagedObjectID).map(context.object(with:))
      #expect(known === author)
      context.delete(author)
      try context.save()
    }
    #expect(told == ["insert Author", "update Author", "delete Author"])
  }

  @Test func `objects are decoded into a context, and encoded`() throws {
    let entity = NSEntityDescription()
    entity.name = "Card"
    entity.managedObjectClassName = "Card"
    entity.properties = [
      Library.attribute("title", .stringAttributeType), Library.attribute("count", .integer32AttributeType),
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let container = NSPersistentContainer(name: "Cards", managedObjectModel: model)
    container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let decoder = JSONDecoder()
      decoder.userInfo[.managedObjectContext] = context
      let text = #"[{"title": "one", "count": 1}, {"title": null, "count": 2}]"#
      let cards = try decoder.decode([Card].self, from: Data(text.utf8))
      #expect(context.insertedObjects.count == 2)
      try context.save()
      #expect(cards.map(\.count) == [1, 2])
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      #expect(
        String(decoding: try encoder.encode(cards), as: UTF8.self)
          == #"[{"count":1,"title":"one"},{"count":2,"title":null}]"#)
      #expect(throws: (any Error).self) { try JSONDecoder().decode([Card].self, from: Data(text.utf8)) }
    }
  }

  @Test func `a tracker merges the history of others since the token that it has kept in a file`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tracker-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.makeModel())
    let description = NSPersistentStoreDescription(url: folder.appending(path: "Library.sqlite"))
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    let tokenFile = folder.appending(path: "token.data")
    let reading = container.newBackgroundContext()
    let writing = container.newBackgroundContext()
    writing.transactionAuthor = "import"

    func lastToken() throws -> NSPersistentHistoryToken? {
      guard let data = try? Data(contentsOf: tokenFile) else { return nil }
      return try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data)
    }
    func track() throws -> Int {
      let context = container.newBackgroundContext()
      return try context.performAndWait {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: try lastToken())
        if let fetch = NSPersistentHistoryTransaction.fetchRequest {
          fetch.predicate = NSPredicate(format: "%K != %@", "author", "view")
          request.fetchRequest = fetch
        }
        guard let result = try context.execute(request) as? NSPersistentHistoryResult,
          let transactions = result.result as? [NSPersistentHistoryTransaction], !transactions.isEmpty
        else { return 0 }
        for transaction in transactions {
          guard let userInfo = transaction.objectIDNotification().userInfo else { continue }
          NSManagedObjectContext.mergeChanges(fromRemoteContextSave: userInfo, into: [reading])
        }
        let data = try NSKeyedArchiver.archivedData(
          withRootObject: transactions.last!.token, requiringSecureCoding: true)
        try data.write(to: tokenFile)
        return transactions.count
      }
    }
    try writing.performAndWait {
      let author = Author(name: "Old", context: writing)
      try writing.save()
      let read = try reading.performAndWait { try reading.fetch(Author.sortedFetchRequest).first }
      let name = reading.performAndWait { read?.name }
      #expect(name == "Old")
      let first = try track()
      #expect(first == 1)
      author.name = "New"
      try writing.save()
      let second = try track()
      #expect(second == 1)
      let third = try track()
      #expect(third == 0)
      let merged = reading.performAndWait { read?.name }
      #expect(merged == "New")
    }
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}
