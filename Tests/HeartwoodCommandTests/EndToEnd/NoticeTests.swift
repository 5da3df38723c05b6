import Dispatch
import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodCommand

/// Commits by a separate process.
@Suite struct `Commits of another process` {
  @Test(arguments: [EngineOptions.Access.readWrite, .readOnly])
  func `an observer is notified of commits of another process`(access: EngineOptions.Access) async throws {
    let directory = try TemporaryFolder()
    let path = directory.path("keys.store")
    let mine = try Engine(at: path)
    try mine.write { try $0.put("mine", [1]) }
    let engine = access == .readOnly ? try Engine(at: path, options: EngineOptions(access: access)) : mine
    let (told, telling) = AsyncStream.makeStream(of: Generation.self)
    let observation = engine.observeCommits { telling.yield($0) }
    let late = Task {
      try await Task.sleep(for: .seconds(60))
      telling.finish()
    }
    var iterator = told.makeAsyncIterator()
    var last = engine.newestGeneration
    for round in 0..<3 {
      let run = try Program.run("kv", "put", path, "theirs \(round)", "value")
      #expect(run.status == 0, "\(run.notes)")
      var hasCome = false
      while !hasCome {
        let generation = try #require(await iterator.next(), "nothing was told")
        #expect(generation > last)
        last = generation
        hasCome = try engine.snapshot().get(Array("theirs \(round)".utf8)) == Array("value".utf8)
      }
    }
    late.cancel()
    observation.cancel()
    if access == .readOnly { try engine.close() }
    try mine.close()
  }

  @Test func `a coordinator posts the commits of another process where its container asks for them`() throws {
    let world = try SmallWorld()
    let url = URL(fileURLWithPath: world.path)
    let container = PersistentContainer(
      name: "World", managedObjectModel: try PersistentStoreCoordinator.managedObjectModel(ofStoreAt: url))
    let description = PersistentStoreDescription(url: url)
    description.postsRemoteChangeNotifications = true
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    let token = try #require(container.currentHistoryToken)
    let posted = DispatchSemaphore(value: 0)
    let observer = NotificationCenter.default.addObserver(
      forName: .persistentStoreRemoteChange, object: container.persistentStoreCoordinator, queue: nil
    ) { _ in
      posted.signal()
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    let document = ##"{"model": \##(SmallWorld.model), "objects": [{"@id": "Continent/A", "name": "Asia"}]}"##
    let run = try Program.run("import", world.path, try world.directory.file("asia.json", document))
    #expect(run.status == 0, "\(run.notes)")
    var news: [PersistentHistoryTransaction] = []
    while news.isEmpty {
      try #require(posted.wait(timeout: .now() + 60) == .success, "nothing was posted")
      news = try container.history(after: token)
    }
    #expect(news.flatMap { $0.changes ?? [] }.map(\.changeType) == [.insert])
    try container.close()
  }
}
