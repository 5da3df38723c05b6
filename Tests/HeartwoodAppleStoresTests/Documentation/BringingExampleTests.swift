import Foundation
import Heartwood
import HeartwoodAppleStores
import Testing

@Suite struct `Examples of the article on bringing a store` {
  @Test func `a store of Core Data becomes one of Heartwood`() throws {
    let fixture = try StoreFixture("pages")
    let (url, folder) = (fixture.url, fixture.folder.url.appending(path: "copy"))
    AppleSQLiteStore.register()
    let model = try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .appleSQLite, at: url)
    try coordinator.migratePersistentStore(store, to: folder)
    #expect(try coordinator.verify().findings.isEmpty)
    try coordinator.close()
  }
}
