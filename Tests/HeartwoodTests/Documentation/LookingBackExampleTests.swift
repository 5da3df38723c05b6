import Foundation
import Heartwood
import Testing

@Suite struct `Examples of the article on looking back` {
  @Test func `a generation is read and compared, and a transaction is reverted`() throws {
    final class Ticket: ManagedObject {
      @Attribute var title = ""
      @Attribute(.indexed) var price: Int64 = 0
    }
    let container = try PersistentContainer(
      name: "Tickets", types: [Ticket.self], at: URL(fileURLWithPath: "/dev/null"))
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    let ticket = Ticket(context: context)
    ticket.price = 20
    try context.save()
    let number = try #require(container.currentHistoryToken).transactionNumber
    ticket.price = 200
    try context.save()
    let wrong = try #require(container.currentHistoryToken).transactionNumber

    let then = container.newBackgroundContext()
    try then.setQueryGenerationFrom(try coordinator.queryGenerationToken(forGeneration: number))
    let cheap = try then.fetch(Ticket.self, where: { $0.price < 50 })
    #expect(cheap.count == 1)

    for difference in try coordinator.differences(from: number) {
      print(difference.kind, difference.objectID)
      for name in difference.changedValues.sorted() {
        print(name, difference.formerValues[name] ?? "nil", difference.values[name] ?? "nil")
      }
      #expect(difference.changedValues == ["price"] && difference.values["price"] as? Int64 == 200)
    }

    let conflicts = try context.revert(transaction: wrong)
    if conflicts.isEmpty { try context.save() } else { context.rollback() }
    #expect(conflicts.isEmpty && ticket.price == 20)

    try coordinator.hold("before cleaning", forSeconds: 86_400)
    ticket.price = 7
    try context.save()
    try coordinator.reclaim()
    try then.setQueryGenerationFrom(try coordinator.queryGenerationToken(ofHold: "before cleaning"))
    #expect(try then.fetch(Ticket.self).map(\.price) == [20])
    try coordinator.releaseHold("before cleaning")
    #expect(try coordinator.holds().isEmpty)
  }
}
