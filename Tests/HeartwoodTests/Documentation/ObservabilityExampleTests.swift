import Foundation
import Heartwood
import HeartwoodEngine
import Synchronization
import Testing

@Suite struct `Examples of the article on observing` {
  private final class Counters: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    func add(_ name: String, _ count: Int) { counts.withLock { $0[name, default: 0] += count } }

    subscript(name: String) -> Int { counts.withLock { $0[name] ?? 0 } }
  }

  final class Track: ManagedObject {
    @Attribute var seconds: Int64 = 0
  }

  @Test func `saved objects and bytes are counted`() throws {
    let url = URL(fileURLWithPath: "/dev/null")
    let counters = Counters()
    let description = PersistentStoreDescription(url: url)
    description.observer = StoreObserver(slowFetches: .milliseconds(50)) { event in
      switch event {
      case .saved(let save): counters.add("saves", save.inserted + save.updated + save.deleted)
      case .fetched(let fetch) where fetch.isSlow: print(fetch)
      case .engine(.committed(let transaction)): counters.add("bytes", transaction.logBytes)
      default: break
      }
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: [Track.self]))
    try coordinator.addPersistentStore(with: description)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    Track(context: context).seconds = 3001
    try context.save()
    #expect(try context.fetch(Track.self, where: { $0.seconds > 3000 }).count == 1)
    #expect(counters["saves"] == 1 && counters["bytes"] > 0)
  }
}
