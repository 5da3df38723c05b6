import Foundation
import Synchronization
import Testing

@testable import Heartwood

private enum Evaluations {
  static let numbers = Mutex<Int64>(0)
  static let labels = Mutex(0)

  static func number() -> Int64 {
    numbers.withLock {
      $0 += 1
      return $0
    }
  }

  static func label() -> String {
    labels.withLock { $0 += 1 }
    return "new"
  }
}

private final class Ticket: ManagedObject {
  @Attribute var label = Evaluations.label()
  @Relationship(inverse: { $0.parent }) var parts: Set<Ticket>
  @Attribute var number = Evaluations.number()
  @Relationship(inverse: { $0.parts }) var parent: Ticket?
  @Attribute var mark = UUID()
}

/// The defaults that a class evaluates for each new object.
@Suite struct `New objects of classes` {
  private func context(_ types: ManagedObject.Type...) throws -> ManagedObjectContext {
    try PersistentContainer(name: "New", types: types, at: URL(fileURLWithPath: "/dev/null"))
      .newBackgroundContext()
  }

  @Test func `a default that differs between objects is evaluated once for each, others not again`() throws {
    let context = try context(Ticket.self)
    let (number, labels) = (Evaluations.numbers.withLock { $0 }, Evaluations.labels.withLock { $0 })
    let tickets = (0..<20).map { _ in Ticket(context: context) }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      #expect(tickets.map(\.number) == (1...20).map { number + $0 })
      #expect(Set(tickets.map(\.mark)).count == 20)
      #expect(tickets.allSatisfy { $0.label == "new" })
      #expect(Evaluations.labels.withLock { $0 } == labels)
    }
    tickets[0].number = 7
    try context.save()
    #expect(try context.fetch(Ticket.self, where: { $0.number == 7 }) == [tickets[0]])
  }
}
