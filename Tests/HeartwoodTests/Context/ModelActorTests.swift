import Dispatch
import Foundation
import GraphTestSupport
import HeartwoodFiles
import Testing

@testable import Heartwood

private actor Importer: ModelActor {
  let modelExecutor: ContextExecutor
  init(_ container: PersistentContainer) { modelExecutor = ContextExecutor(container.newBackgroundContext()) }

  func add(_ name: String) throws -> ManagedObjectID {
    let person = modelContext.makePerson(name)
    try modelContext.save()
    return person.objectID
  }

  func rename(_ id: ManagedObjectID, _ name: String) async throws {
    self[id, as: Person.self]?.name = name
    await Task.yield()
    try modelContext.save()
  }

  func names() throws -> [String] {
    try modelContext.fetch(Person.self, sort: [.ascending(\.name)]).map(\.name)
  }

  func isImmediate() async -> Bool {
    let before = CurrentThread.identifier
    return await modelContext.perform(schedule: .immediate) { CurrentThread.identifier == before }
  }
}

@Suite struct `Actors and queues` {
  // CNC-08, CTX-03
  @Test func `an actor uses a context without closures, and many tasks use the actor`() async throws {
    let importer = Importer(try makeContainer())
    let id = try await importer.add("Ada")
    try await importer.rename(id, "Bea")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 { group.addTask { _ = try await importer.add("P\(number)") } }
      try await group.waitForAll()
    }
    #expect(try await importer.names().count == 21)
    #expect(try await importer.names().first == "Bea")
    #expect(await importer.isImmediate())
  }

  // CTX-02, CTX-03
  @Test func `enqueued blocks run after those that were scheduled before`() async throws {
    let context = try makeContainer().newBackgroundContext()
    let order = Guarded<[Int]>([])
    func schedule() { context.perform { order.withLock { $0.append(1) } } }
    schedule()
    await context.perform(schedule: .enqueued) { order.withLock { $0.append(2) } }
    #expect(order.withLock { $0 } == [1, 2])
  }

  // CTX-02
  @Test func `where the main queue never runs, its blocks run elsewhere, one at a time and in order`()
    async throws
  {
    let stuck = DispatchQueue(label: "stuck")
    stuck.suspend()
    defer { stuck.resume() }
    let main = MainQueue(stuck, patience: 0) { false }
    let order = Guarded<[Int]>([])
    for number in 0..<100 { main.async { order.withLock { $0.append(number) } } }
    await withCheckedContinuation { done in main.async { done.resume() } }
    #expect(order.withLock { $0 } == Array(0..<100))
    #expect(main.sync { main.isHere })
    #expect(!main.isHere)
  }

  /// In a program with an asynchronous `main`, say.
  @Test
  func `a thread that runs the main queue is on it, also in a block of another queue that it waits for`() {
    let (queue, other) = (DispatchQueue(label: "main"), DispatchQueue(label: "other"))
    let main = MainQueue(queue, patience: 60) { false }
    #expect(!main.isHere)
    queue.sync {
      #expect(main.isHere)
      #expect(main.sync(on: other) { main.isHere })
      #expect(other.sync { !main.isHere })
    }
    #expect(main.sync(on: other) { !main.isHere })
  }

  // CTX-02, CNC-03
  @Test func `where the main queue runs, its blocks run there`() async throws {
    let queue = DispatchQueue(label: "main")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let main = MainQueue(queue, patience: 60) { DispatchQueue.getSpecific(key: key) == true }
    #expect(main.sync { DispatchQueue.getSpecific(key: key) == true })
    let isThere = await withCheckedContinuation { done in
      main.async { done.resume(returning: DispatchQueue.getSpecific(key: key) == true) }
    }
    #expect(isThere)
  }
}
