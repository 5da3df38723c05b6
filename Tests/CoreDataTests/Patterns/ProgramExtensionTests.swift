import CoreData
import Foundation
import Testing

// Members that programs and their libraries add to Core Data's classes. Heartwood's functions of like names are visible too, and must not
// be in the way: this file compiles without an ambiguous use.

extension NSManagedObjectContext {
  fileprivate func count<T: NSManagedObject>(_ type: T.Type, predicate: NSPredicate? = nil) throws -> Int {
    let request = NSFetchRequest<T>(entityName: type.entity().name ?? "")
    request.predicate = predicate
    return try count(for: request)
  }
  fileprivate func fetch<T: NSManagedObject>(
    _ type: T.Type, predicate: NSPredicate? = nil, sort: [NSSortDescriptor] = [], limit: Int? = nil
  ) throws -> [T] {
    let request = NSFetchRequest<T>(entityName: type.entity().name ?? "")
    request.predicate = predicate
    request.sortDescriptors = sort
    request.fetchLimit = limit ?? 0
    return try fetch(request)
  }
  fileprivate func fetchIdentifiers<T: NSManagedObject>(_ type: T.Type, limit: Int = 0) throws -> [String] {
    ["\(type)"]
  }
  fileprivate func first<T: NSManagedObject>(_ type: T.Type) throws -> T? { try fetch(type, limit: 1).first }
  fileprivate func insert<T: NSManagedObject>(_ type: T.Type) -> T { T(context: self) }
  fileprivate func delete<T: NSManagedObject>(_ objects: [T]) { for object in objects { delete(object) } }
  fileprivate func enumerate<T: NSManagedObject>(_ type: T.Type, _ body: (T) -> Void) throws {
    for object in try fetch(type) { body(object) }
  }
  fileprivate func batches<T: NSManagedObject>(of type: T.Type, size: Int = 2) throws -> [[T]] {
    [try fetch(type)]
  }
  fileprivate func plan<T: NSManagedObject>(for type: T.Type, limit: Int = 0) -> String { "\(type)" }
  fileprivate func saveIfNeeded() throws { if hasChanges { try save() } }
  fileprivate var saves: Int { 1 }
  fileprivate var merges: Int { 2 }
}

extension NSManagedObject {
  fileprivate func snapshot(_ depth: Int = 1) -> String { "snapshot" }
  fileprivate func validate(_ value: Any?, forKey key: String, strictly: Bool = true) -> String { key }
  fileprivate func assign(_ value: Any?, forKey key: String, quietly: Bool = true) -> Bool { true }
  fileprivate func refresh() { managedObjectContext?.refresh(self, mergeChanges: true) }
  fileprivate func delete() { managedObjectContext?.delete(self) }
}

extension NSPersistentContainer {
  fileprivate func history(after token: NSPersistentHistoryToken? = nil, limit: Int = 0) -> String {
    "history"
  }
  fileprivate func close(_ isFinal: Bool = true) -> Bool { isFinal }
  fileprivate func loadPersistentStores(retries: Int = 1) -> Int { retries }
}

extension NSPersistentStoreCoordinator {
  fileprivate func backup(to url: URL, compressed: Bool = true) -> Bool { compressed }
  fileprivate func statistics(_ detailed: Bool = true) -> String { "statistics" }
  fileprivate func verify(_ deep: Bool = true) -> Bool { deep }
}

extension NSEntityDescription {
  fileprivate var storedProperties: [String] { ["mine"] }
}

@Suite struct `Extensions of programs` {
  @Test func `a program's functions win over Heartwood's of the same name`() throws {
    let container = try Library.makeContainer()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let author = context.insert(Author.self)
      author.name = "A"
      #expect(try context.count(Author.self) == 1)
      #expect(try context.count(Author.self, predicate: NSPredicate(format: "name == %@", "B")) == 0)
      #expect(try context.fetch(Author.self) == [author] && context.first(Author.self) === author)
      let identifiers: [String] = try context.fetchIdentifiers(Author.self)
      #expect(identifiers == ["Author"] && context.plan(for: Author.self) == "Author")
      var names: [String] = []
      try context.enumerate(Author.self) { names.append($0.name) }
      #expect(names == ["A"])
      #expect(try context.batches(of: Author.self).count == 1)
      #expect(context.saves + context.merges == 3)
      #expect(author.snapshot() == "snapshot" && author.validate(nil, forKey: "name") == "name")
      #expect(author.assign(nil, forKey: "name") && author.entity.storedProperties == ["mine"])
      author.refresh()
      context.delete([author])
      try context.saveIfNeeded()
    }
    let coordinator = container.persistentStoreCoordinator
    #expect(container.history() == "history" && container.close() && container.loadPersistentStores() == 1)
    #expect(coordinator.backup(to: URL(filePath: "/")) && coordinator.verify())
    #expect(coordinator.statistics() == "statistics")
  }
}
