import CoreData
import Foundation
import TestSupport
import Testing

/// A program that starts with the store that it has on Apple's systems.
@Suite struct `A first start with a store of Core Data` {
  private let folder: TemporaryFolder
  private let url: URL
  private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/AppleStores")

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "Ledger.sqlite")
    try FileManager.default.copyItem(at: Self.fixtures.appending(path: "history.sqlite"), to: url)
  }

  /// - Parameter isNewer: Whether accounts have an attribute more than those of the store.
  private func model(isNewer: Bool = false) -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      return attribute
    }
    let (account, entry) = (NSEntityDescription(), NSEntityDescription())
    (account.name, entry.name) = ("Account", "Entry")
    let (entries, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
    (entries.name, entries.destinationEntity, entries.inverseRelationship) = ("entries", entry, owner)
    (owner.name, owner.destinationEntity, owner.inverseRelationship) = ("account", account, entries)
    (owner.maxCount, entries.isOptional, owner.isOptional) = (1, true, true)
    account.properties =
      [
        attribute("id", .stringAttributeType), attribute("amount", .integer64AttributeType),
        attribute("note", .stringAttributeType),
      ]
      + (isNewer ? [attribute("currency", .stringAttributeType)] : []) + [entries]
    entry.properties = [attribute("text", .stringAttributeType), owner]
    let model = NSManagedObjectModel()
    model.entities = [account, entry]
    return model
  }

  private func load(
    _ model: NSManagedObjectModel, _ adapt: (NSPersistentStoreDescription) -> Void = { _ in }
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Ledger", managedObjectModel: model)
    let description = NSPersistentStoreDescription(url: url)
    adapt(description)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  private func amounts(_ container: NSPersistentContainer) throws -> [Int64] {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
      request.sortDescriptors = [NSSortDescriptor(key: "id", ascending: true)]
      return try context.fetch(request).map { $0.value(forKey: "amount") as? Int64 ?? -1 }
    }
  }

  private func close(_ container: NSPersistentContainer) throws {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  // STO-26
  @Test func `the store is copied once, and saves go to the copy`() throws {
    let before = try Data(contentsOf: url)
    let container = try load(model())
    #expect(try amounts(container) == [0, 1, 2])
    let context = container.newBackgroundContext()
    let uri = try context.performAndWait {
      let entry = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry")).first)
      let account = try #require(entry.value(forKey: "account") as? NSManagedObject)
      account.setValue(40 as Int64, forKey: "amount")
      try context.save()
      return account.objectID.uriRepresentation()
    }
    #expect(uri.path == "/Account/p1")
    let store = try #require(container.persistentStoreCoordinator.persistentStore(for: url))
    #expect(store.url?.lastPathComponent == "Ledger.sqlite.heartwood")
    try close(container)
    let again = try load(model())
    #expect(try amounts(again) == [40, 1, 2])
    try close(again)
    #expect(try Data(contentsOf: url) == before)
  }

  @Test func `the store of a former model is migrated`() throws {
    let container = try load(model(isNewer: true))
    #expect(try amounts(container) == [0, 1, 2])
    let entity = container.managedObjectModel.entitiesByName["Account"]
    #expect(entity?.attributesByName["currency"] != nil)
    try close(container)
  }

  @Test func `a renamed relationship keeps its links`() throws {
    let newer = model()
    let entries = try #require(newer.entitiesByName["Account"]?.relationshipsByName["entries"])
    (entries.name, entries.renamingIdentifier) = ("lines", "entries")
    let container = try load(newer)
    let context = container.newBackgroundContext()
    let counts = try context.performAndWait {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Account")).map {
        ($0.value(forKey: "lines") as? Set<NSManagedObject>)?.count ?? 0
      }
    }
    #expect(try links(container) == counts.reduce(0, +) && counts.reduce(0, +) > 0)
    try close(container)
  }

  /// The number of entries that have an account.
  private func links(_ container: NSPersistentContainer) throws -> Int {
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Entry")).count {
        $0.value(forKey: "account") != nil
      }
    }
  }

  @Test func `a change that could lose values is refused, as for any store`() throws {
    let newer = model()
    newer.entitiesByName["Account"]?.attributesByName["note"]?.attributeType = .integer64AttributeType
    #expect(throws: (any Error).self) { try load(newer) }
    let container = try load(model())
    #expect(try amounts(container) == [0, 1, 2])
    try close(container)
  }

  @Test func `the copy is opened when the file is gone, and destroyed with it`() throws {
    try close(try load(model()))
    try FileManager.default.removeItem(at: url)
    let container = try load(model())
    #expect(try amounts(container) == [0, 1, 2])
    try close(container)
    try container.persistentStoreCoordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    let empty = try load(model())
    #expect(try amounts(empty) == [])
    try close(empty)
  }

  @Test func `a file that comes after a destruction is copied`() throws {
    let container = try load(model())
    try close(container)
    try container.persistentStoreCoordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    // As programs do on Apple's systems, where an empty database stays.
    try FileManager.default.removeItem(at: url)
    try FileManager.default.copyItem(at: Self.fixtures.appending(path: "history.sqlite"), to: url)
    let again = try load(model())
    #expect(try amounts(again) == [0, 1, 2])
    try close(again)
  }

  @Test func `a database of another program is not destroyed`() throws {
    try FileManager.default.removeItem(at: url)
    try FileManager.default.copyItem(at: Self.fixtures.appending(path: "plain.sqlite"), to: url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    #expect(throws: (any Error).self) {
      try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    }
    #expect(FileManager.default.fileExists(atPath: url.path))
  }

  @Test func `a store that is only read is not copied`() throws {
    let container = try load(model()) { $0.isReadOnly = true }
    #expect(try amounts(container) == [0, 1, 2])
    try close(container)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Ledger.sqlite"])
  }

  @Test func `a store is refused if the option says so`() throws {
    #expect(throws: (any Error).self) {
      try load(model()) { $0.setOption(false as NSNumber, forKey: HeartwoodCopiesAppleStoreOption) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Ledger.sqlite"])
  }

  @Test func `metadata are read before the first start, and a destroyed store is gone`() throws {
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url)
    #expect(metadata[NSStoreTypeKey] as? String != nil)
    #expect(model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    let container = try load(model())
    try close(container)
    try container.persistentStoreCoordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    let empty = try load(model())
    #expect(try amounts(empty) == [])
    try close(empty)
  }

  /// The file of `numbered` keeps no model.
  @Test func `a file that keeps no model is compatible with the one that has its tables`() throws {
    let file = folder.url.appending(path: "Numbered.sqlite")
    try FileManager.default.copyItem(at: Self.fixtures.appending(path: "numbered.sqlite"), to: file)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: file)
    let written = try NSPersistentStoreCoordinator.managedObjectModel(
      ofStoreAt: Self.fixtures.appending(path: "library.sqlite"))
    let changed = try #require(written.copy() as? NSManagedObjectModel)
    try #require(changed.entitiesByName["Person"]?.attributesByName["name"]).name = "title"
    #expect(written.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!changed.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
  }

  @Test func `a store is replaced by one that comes with the program`() throws {
    let container = NSPersistentContainer(name: "Ledger", managedObjectModel: model())
    let place = folder.url.appending(path: "Other.sqlite")
    try container.persistentStoreCoordinator.replacePersistentStore(
      at: place, withPersistentStoreFrom: url, ofType: NSSQLiteStoreType)
    try container.persistentStoreCoordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: place, options: nil)
    #expect(try amounts(container) == [0, 1, 2])
    try close(container)
  }
}
