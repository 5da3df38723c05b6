import Foundation
import GraphTestSupport
import Heartwood
import TestSupport
import Testing

private final class Sale: ManagedObject {
  @Attribute(.unique) var number = 0
  @Attribute(.indexed) var customer = ""
  @Attribute var cents = 0
}

private actor ContextPool {
  private var free: [ManagedObjectContext]
  private var waiting: [CheckedContinuation<ManagedObjectContext, Never>] = []

  init(_ container: PersistentContainer, count: Int) {
    free = (0..<count).map { _ in container.newBackgroundContext() }
  }

  func perform<Result: Sendable>(
    _ block: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let context = await take()
    defer { put(context) }
    return try await context.perform {
      defer { context.reset() }
      return try block(context)
    }
  }

  private func take() async -> ManagedObjectContext {
    if let context = free.popLast() { return context }
    return await withCheckedContinuation { waiting.append($0) }
  }

  private func put(_ context: ManagedObjectContext) {
    if waiting.isEmpty { free.append(context) } else { waiting.removeFirst().resume(returning: context) }
  }
}

@Suite struct `Examples of the article on servers` {
  @Test func `many requests share a pool of few contexts, and each sees a state that agrees with itself`()
    async throws
  {
    let folder = try TemporaryFolder()
    let container = try Self.makeContainer(at: folder.store)
    let pool = ContextPool(container, count: 4)
    let id = try await pool.perform { context in
      let sale = Sale(context: context)
      sale.number = 1
      sale.customer = "ada"
      sale.cents = 250
      try context.save()
      return sale.objectID
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 2...20 {
        group.addTask {
          try await pool.perform { context in
            let sale = Sale(context: context)
            sale.number = number
            sale.cents = 250
            try context.save()
          }
          let (count, total) = try await Self.countAndTotal(pool)
          #expect(total == count * 250)
        }
      }
      try await group.waitForAll()
    }
    let cents = try await container.performBackgroundTask { context in
      try context.fetch(Sale.self, where: { $0.customer == "ada" }).reduce(0) { $0 + $1.cents }
    }
    let number = try await pool.perform { try $0.existingObject(with: id).value(forKey: "number") as? Int }
    let (count, _) = try await Self.countAndTotal(pool)
    #expect(cents == 250 && number == 1 && count == 20)
    try container.close()
  }

  private static func countAndTotal(_ pool: ContextPool) async throws -> (Int, Int) {
    let (count, total) = try await pool.perform { context in
      try context.setQueryGenerationFrom(.current)
      defer { try? context.setQueryGenerationFrom(nil) }
      let count = try context.count(Sale.self)
      return (count, try context.fetch(Sale.self).reduce(0) { $0 + $1.cents })
    }
    return (count, total)
  }

  private static func makeContainer(at url: URL) throws -> PersistentContainer {
    let model = try ManagedObjectModel(types: [Sale.self])

    func openStore(at url: URL) throws -> PersistentContainer {
      let description = PersistentStoreDescription(url: url)
      description.timeout = 10
      description.historyRetention = HistoryRetention(age: 30 * 86_400)
      let container = PersistentContainer(name: "Shop", managedObjectModel: model)
      container.persistentStoreDescriptions = [description]
      try container.loadPersistentStores()
      return container
    }
    return try openStore(at: url)
  }
}
