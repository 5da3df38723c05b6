import Foundation
import GraphTestSupport
import Heartwood
import LineStore
import TestSupport
import Testing

@Suite struct `Examples of the article on store kinds` {
  @Test func `a store is opened as JSON, and goes to another kind with its objects`() throws {
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    do {
      let url = folder.url.appending(path: "Library.json")
      try coordinator.addPersistentStore(type: .json, at: url)
    }
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      _ = context.makeAuthor("Ada")
      try context.save()
    }
    let store = try #require(coordinator.persistentStores.first)
    let url = folder.url.appending(path: "Library.binary")
    let copy = try coordinator.migratePersistentStore(store, to: url, type: .binary)
    #expect(copy.type == .binary)
    #expect(try context.performAndWait { try context.fetch(Author.self).map(\.name) } == ["Ada"])
    try coordinator.close()
  }

  @Test func `a class of the program is a kind of store`() throws {
    PersistentStoreCoordinator.registerStoreClass(
      LineStore.self, type: PersistentStore.StoreType(rawValue: "Lines"))
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    let store = try coordinator.addPersistentStore(
      type: LineStore.kind, at: folder.url.appending(path: "Library.lines"))
    #expect(store is LineStore)
    try coordinator.close()
  }
}
