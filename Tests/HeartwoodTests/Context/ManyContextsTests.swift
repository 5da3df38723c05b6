import Foundation
import GraphTestSupport
import Heartwood
import Testing

@Suite struct `Many contexts` {
  @Test
  func `a thousand contexts of one store are open at once, and each sees what was saved before it read`()
    async throws
  {
    let container = try makeContainer()
    let contexts = (0..<1000).map { _ in container.newBackgroundContext() }
    for (number, context) in contexts.enumerated() {
      try context.performAndWait {
        let company = context.makeCompany("C\(number)")
        _ = context.makePerson("P\(number)", in: company)
        try context.save()
      }
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for context in contexts {
        group.addTask { try await context.perform { try context.count(Company.self) } }
      }
      for try await count in group { #expect(count == 1000) }
    }
    #expect(try container.history().count == 1000)
  }

  @Test func `contexts without references are released`() throws {
    let container = try makeContainer()
    weak var first: ManagedObjectContext?
    var contexts: [ManagedObjectContext] = (0..<1000).map { _ in container.newBackgroundContext() }
    for context in contexts { context.performAndWait { _ = context.makeCompany("A") } }
    first = contexts[0]
    contexts = []
    #expect(first == nil)
  }
}
