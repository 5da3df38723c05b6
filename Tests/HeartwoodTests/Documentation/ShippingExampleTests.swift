import Foundation
import GraphTestSupport
import Heartwood
import HeartwoodEngine
import TestSupport
import Testing

/// Examples of <doc:FollowingAStore> that copy a store.
@Suite struct `Examples of copies on other machines` {
  @Test func `a store is shipped, followed and restored`() throws {
    try TemporaryFolder.with { path in
      let (folder, copy, other) = (path + "/place", path + "/copy", path + "/other")
      let url = URL(fileURLWithPath: path + "/store")
      let container = try PersistentContainer(name: "Library", types: libraryTypes, at: url)
      let coordinator = container.persistentStoreCoordinator
      let context = container.newBackgroundContext()
      try context.performAndWait {
        _ = context.makeAuthor("Ada")
        try context.save()
      }

      let place = try FolderDestination(folder, creates: true)
      let shipper = try coordinator.shipper(to: place)
      let shipped = try shipper.ship()

      let follower = Follower(from: try FolderDestination(folder), to: copy)
      let copied = try follower.advance()

      let restored = try Restoration(from: place).restore(to: other, at: .generation(shipped.generation))

      #expect(copied.generation == shipped.generation && restored.generation == shipped.generation)
      for path in [copy, other] {
        let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
        description.isReadOnly = true
        let reader = PersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
        let store = try reader.addPersistentStore(with: description)
        let readingContext = ManagedObjectContext(.privateQueue, coordinator: reader)
        let names = try readingContext.performAndWait { try readingContext.fetch(Author.self).map(\.name) }
        #expect(names == ["Ada"])
        try reader.remove(store)
      }
      follower.close()
      try container.close()

      var failures: [EngineError] = []
      shipper.run { outcome in
        if case .failure(let error) = outcome { failures.append(error) }
        return failures.isEmpty
      }
      #expect(failures.map(\.code) == [.closed])
    }
  }
}
