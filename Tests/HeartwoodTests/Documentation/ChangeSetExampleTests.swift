import Foundation
import Heartwood
import TestSupport
import Testing

@Suite struct `Examples of the article on change sets` {
  @Test func `a copy applies what its original has changed`() throws {
    final class Ticket: ManagedObject {
      @Attribute var price: Int64 = 0
    }
    let temporary = try TemporaryFolder()
    let container = try PersistentContainer(name: "Tickets", types: [Ticket.self], at: temporary.store)
    let coordinator = container.persistentStoreCoordinator
    let context = container.newBackgroundContext()
    let ticket = Ticket(context: context)
    try context.save()
    let number = try #require(container.currentHistoryToken).transactionNumber

    let folder = URL(fileURLWithPath: temporary.path("copy"))
    try coordinator.backup(to: folder)  // or copy the folder of a closed store
    let copied = try PersistentContainer(name: "Tickets", types: [Ticket.self], at: folder)
    let copy = copied.persistentStoreCoordinator
    try copy.beginLineage()

    ticket.price = 5
    try context.save()
    let url = URL(fileURLWithPath: temporary.path("changes"))
    do {
      let set = try coordinator.changeSet(from: number)
      try set.encoded().write(to: url)
    }
    let other = copy
    let report = try other.apply(ChangeSet(decoding: Data(contentsOf: url)))
    #expect(report.changedObjectIDs.count == 1)
    #expect(try copied.newBackgroundContext().fetch(Ticket.self).map(\.price) == [5])

    ticket.price = 6
    try context.save()
    let positionsOfTheOther = try other.changeSetPositions()
    let set = try coordinator.changeSet(after: positionsOfTheOther)
    try other.apply(set, policy: .newest)
    #expect(try copied.newBackgroundContext().fetch(Ticket.self).map(\.price) == [6])
    try copied.close()
    try container.close()
  }
}
