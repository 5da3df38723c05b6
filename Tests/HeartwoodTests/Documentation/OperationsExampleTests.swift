import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

@Suite struct `Examples of the articles on operations and files` {
  @Test func `a store is backed up, verified, watched and restored`() throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(name: "Library", types: libraryTypes, at: folder.store)
    let context = container.newBackgroundContext()
    let ada = context.makeAuthor("Ada")
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    let backup = folder.url.appending(path: "Backup")
    do {
      let url = backup
      let report = try coordinator.backup(to: url)
      print(report.generation, report.copiedBytes, report.reusedBytes)
      #expect(report.copiedBytes > 0)
    }
    let findings = try coordinator.verify().findings
    #expect(findings.isEmpty)
    let statistics = try coordinator.statistics()
    for consumer in try coordinator.historyConsumers() where consumer.waitingCount > 10_000 {
      print("\(consumer.name) is \(consumer.waitingCount) transactions behind")
    }
    #expect(statistics.fileBytes > 0)

    context.delete(ada)
    try context.save()
    let url = folder.store
    try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup)
    let restored = try PersistentContainer(name: "Library", types: libraryTypes, at: url)
    #expect(try restored.newBackgroundContext().fetch(Author.self).map(\.name) == ["Ada"])
    try restored.close()
    try container.close()
  }

  @Test func `a store that is missing is an error where a program does not create it`() throws {
    let folder = try TemporaryFolder()
    let url = folder.store
    let description = PersistentStoreDescription(url: url)
    description.createsStore = false
    description.isReadOnly = true
    let container = PersistentContainer(
      name: "Library", managedObjectModel: try ManagedObjectModel(types: libraryTypes))
    container.persistentStoreDescriptions = [description]
    #expect(throws: HeartwoodError.self) { try container.loadPersistentStores() }
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }
}
