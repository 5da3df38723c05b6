import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Queues` {
  @Test func `perform gives the block's result and processes pending changes`() async throws {
    let context = try makeContainer().newBackgroundContext()
    let id = try await context.perform {
      let company = context.makeCompany("A")
      _ = context.makePerson("Ada", in: company)
      try context.save()
      context.delete(company)
      return company.objectID
    }
    let deleted = await context.perform { context.deletedObjects.count }
    #expect(deleted == 2)
    try await context.perform { try context.save() }
    let error = await context.perform { heartwoodError { _ = try context.existingObject(with: id) } }
    #expect(error?.code == .managedObjectReferentialIntegrity)
  }

  @Test func `perform throws what the block throws`() async throws {
    struct Mine: Error {}
    let context = try makeContainer().newBackgroundContext()
    await #expect(throws: Mine.self) { try await context.perform { throw Mine() } }
    #expect(throws: Mine.self) { try context.performAndWait { throw Mine() } }
  }

  @Test func `nothing keeps a block any more when its result is there`() async throws {
    final class Captured: Sendable {}
    let container = try makeContainer()
    let (context, coordinator) = (container.newBackgroundContext(), container.persistentStoreCoordinator)
    func isReleased(_ perform: (Captured) async -> Void) async -> Bool {
      weak var weakly: Captured?
      do {
        let captured = Captured()
        weakly = captured
        await perform(captured)
      }
      return weakly == nil
    }
    for _ in 0..<200 {
      #expect(
        await isReleased { captured in await context.perform { withExtendedLifetime(captured) {} } })
      #expect(
        await isReleased { captured in await coordinator.perform { withExtendedLifetime(captured) {} } })
    }
  }

  @Test func `performAndWait may be called inside itself`() throws {
    let context = try makeContainer().newBackgroundContext()
    let names = try context.performAndWait {
      _ = context.makePerson("Ada")
      return try context.performAndWait {
        try context.save()
        return try context.fetch(Person.self).map(\.name)
      }
    }
    #expect(names == ["Ada"])
  }

  @Test func `an object that a block releases last may wait for its queue`() throws {
    final class Owner: Sendable {
      let wait: @Sendable () -> Void
      let ended: DispatchSemaphore
      init(_ ended: DispatchSemaphore, _ wait: @escaping @Sendable () -> Void) {
        (self.ended, self.wait) = (ended, wait)
      }
      deinit {
        wait()
        ended.signal()
      }
    }
    let container = try makeContainer()
    let (context, coordinator) = (container.newBackgroundContext(), container.persistentStoreCoordinator)
    let (gate, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    func schedule(_ owner: Owner, _ perform: (@escaping @Sendable () -> Void) -> Void) {
      perform {
        gate.wait()
        withExtendedLifetime(owner) {}
      }
    }
    schedule(Owner(ended) { context.performAndWait { context.reset() } }, context.perform)
    schedule(Owner(ended) { coordinator.performAndWait {} }, coordinator.perform)
    for _ in 0..<2 { gate.signal() }
    for _ in 0..<2 { ended.wait() }
  }

  @Test func `many contexts save at once, and each sees what was saved`() async throws {
    let container = try makeContainer()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          let context = container.newBackgroundContext()
          for index in 0..<25 {
            try await context.perform {
              _ = context.makePerson("P\(writer).\(index)")
              try context.save()
              let seen = try context.count(for: FetchRequest<Person>())
              guard seen > index else { throw CancellationError() }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let context = container.newBackgroundContext()
    #expect(try context.count(for: FetchRequest<Person>()) == 100)
    #expect(try container.history().count == 100)
  }
}

@Suite struct `Waiting for several contexts` {
  // CNC-04; findings: performAndWait knows the innermost queue only
  @Test func `performAndWait of A inside of B inside of A runs at once`() throws {
    let container = try makeContainer()
    let (a, b) = (container.newBackgroundContext(), container.newBackgroundContext())
    var order: [String] = []
    a.performAndWait {
      order.append("a")
      b.performAndWait {
        order.append("b")
        a.performAndWait { order.append("a again") }
      }
    }
    #expect(order == ["a", "b", "a again"])
  }
}
