import Foundation
import Heartwood
import HeartwoodPostgres

/// Prints what it is told of the saves of other processes: "results N" with the number of objects of an entity, and "history N AUTHOR" for each
/// transaction, which its consumer has had then. It never asks by itself.
struct Follower {
  private let container: PersistentContainer
  private let entity: String

  /// - Throws: If there is no store at the URL.
  init(_ url: URL, _ entity: String) throws {
    PostgresStore.register()
    guard let model = try PostgresStore.managedObjectModel(ofStoreAt: url) else {
      throw HeartwoodError(.persistentStoreOpen, "there is no store at the URL")
    }
    container = PersistentContainer(name: "Follower", managedObjectModel: model)
    let description = PersistentStoreDescription(url: url)
    description.type = .postgres
    try container.persistentStoreCoordinator.addPersistentStore(with: description)
    self.entity = entity
  }

  func run() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await followResults() }
      group.addTask { try await followHistory() }
      try await group.waitForAll()
    }
  }

  private func followResults() async throws {
    let request = FetchRequest<ManagedObject>(entityName: entity)
    for try await results in container.liveQuery(request, followsOtherProcesses: true) {
      say("results \(results.objectIDs.count)")
    }
  }

  private func followHistory() async throws {
    let consumer = try container.historyConsumer("follower")
    for try await batch in consumer.batches() {
      let context = container.newBackgroundContext()
      try await context.perform {
        try context.complete(batch)
        try context.save()
      }
      for transaction in batch.transactions {
        say("history \(transaction.transactionNumber) \(transaction.author ?? "-")")
      }
    }
  }

  private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
