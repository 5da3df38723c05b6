import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFiles

/// Records the operations of the contexts of several threads on a graph.
final class GraphRecorder: @unchecked Sendable {
  struct Plan: Sendable {
    var seed: UInt64
    /// With `snapshot` the contexts are pinned, with `newest` they are not.
    var promise: History.Promise
    var transactions = 1000
    var threads = 4
    /// A folder on the disk of the machine; nil for a file system in memory.
    var folder: String?
  }

  static let objects = 24

  private let plan: Plan
  private let moments = Moments()
  private let fileSystem: any FileSystem
  private var numbers: [ManagedObjectID: Int] = [:]

  init(_ plan: Plan) {
    self.plan = plan
    fileSystem = moments.fileSystem(inMemory: plan.folder == nil)
  }

  /// One model for all recordings, because a frozen model is never deallocated.
  private static let model = Result { try ManagedObjectModel(types: [Ledger.self]) }

  private func open() throws -> PersistentContainer {
    let container = PersistentContainer(name: "Ledgers", managedObjectModel: try Self.model.get())
    let description = PersistentStoreDescription(url: URL(filePath: plan.folder ?? "/store"))
    description.fileSystem = fileSystem
    description.engineOptions = EngineOptions(segmentBytes: 256 << 10, checkpointBytes: 64 << 10)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  /// Runs half of the transactions, reopens the store, and runs the other half.
  func record() throws -> History {
    var history = History(promise: plan.promise, base: try makeObjects())
    let sessions = (0..<plan.threads).map { SessionRecorder($0, seed: plan.seed, moments) }
    for _ in 0..<2 {
      let container = try open()
      try onThreads(sessions) { session in
        let ledgers = LedgerSession(
          session, container, self.numbers, isPinned: self.plan.promise == .snapshot)
        try ledgers.run(self.plan.transactions / 2 / self.plan.threads)
      }
      try container.close()
      history.transactions += sessions.flatMap { $0.take() }
    }
    return try finish(history)
  }

  /// Returns the generation from which everything is recorded.
  private func makeObjects() throws -> Int {
    let container = try open()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let ledgers = (0..<Self.objects).map { number in
        let ledger = Ledger(context: context)
        ledger.number = Int64(number)
        return ledger
      }
      try context.save()
      for ledger in ledgers { numbers[ledger.objectID] = Int(ledger.number) }
    }
    defer { try? container.close() }
    return Int(try container.persistentStoreCoordinator.newestQueryGenerationToken().generation ?? 0)
  }

  private func finish(_ unfinished: History) throws -> History {
    var history = unfinished
    let container = try open()
    let coordinator = container.persistentStoreCoordinator
    let reader = SessionRecorder(plan.threads, seed: plan.seed, moments)
    let newest = Int(try coordinator.newestQueryGenerationToken().generation ?? 0)
    for generation in stride(from: history.base, to: newest, by: max(1, newest / 6)) {
      try Self.readAll(of: container, at: generation, reader, isPast: true)
    }
    try Self.readAll(of: container, at: newest, reader, isPast: false)
    history.transactions += reader.take()
    history.account = try container.history().compactMap { transaction in
      guard transaction.transactionNumber > history.base else { return nil }
      return History.Entry(
        generation: Int(transaction.transactionNumber),
        transaction: transaction.author.flatMap(Int.init) ?? -1,
        changes: .keys(try keys(of: transaction)))
    }
    let report = try coordinator.verify()
    try require(report.isSound, "not sound: \(report.findings)")
    try container.close()
    return history
  }

  private static func readAll(
    of container: PersistentContainer, at generation: Int, _ reader: SessionRecorder, isPast: Bool
  ) throws {
    let coordinator = container.persistentStoreCoordinator
    var transaction = reader.begin()
    transaction.snapshot = generation
    transaction.isPast = isPast
    let context = container.newBackgroundContext()
    transaction.operations = try context.performAndWait {
      try context.setQueryGenerationFrom(
        try coordinator.queryGenerationToken(forGeneration: UInt64(generation)))
      return try context.fetch(Ledger.self, sort: [.ascending(\.number)]).flatMap { try $0.reads() }
    }
    reader.end(transaction, .readOnly)
  }

  /// The keys that a transaction changed, according to the store's history.
  private func keys(of transaction: PersistentHistoryTransaction) throws -> [Int] {
    try (transaction.changes ?? []).flatMap { change in
      try require(change.changeType == .update, "there is no \(change.changeType) of objects")
      let object = numbers[change.changedObjectID] ?? -1
      return try (change.updatedProperties ?? []).map { property in
        switch property.name {
        case "items": History.list(of: object)
        case "note": History.register(of: object)
        default: throw Finding("no transaction changed \(property.name)")
        }
      }
    }
  }
}
