import Foundation
import GraphTestSupport
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// Counts, over all threads.
private enum Numbers {
  private static let next = Guarded<Int64>(0)
  static func make() -> Int64 {
    next.withLock { next in
      next += 1
      return next
    }
  }

  /// The container that defaults fetch from.
  static let container = Guarded<PersistentContainer?>(nil)
}

private class Ticket: ManagedObject {
  @Attribute var number = Numbers.make()
  @Attribute var mark = UUID()
  @Attribute var title = "plain"
}

/// An object whose initialiser makes another one of its class.
private final class PairedTicket: Ticket {
  @Attribute var code = UUID()
  static let makesPartner = Guarded(false)
  let partner: PairedTicket?

  override init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    let makes = Self.makesPartner.withLock { makes in
      defer { makes = false }
      return makes
    }
    partner = makes ? PairedTicket(entity: entity, insertInto: context) : nil
    super.init(entity: entity, insertInto: context)
  }
}

/// An object whose default fetches objects of its class.
private final class CountedTicket: ManagedObject {
  @Attribute var number = CountedTicket.nextNumber()
  @Attribute var mark = UUID()

  static func nextNumber() -> Int64 {
    guard let container = Numbers.container.withLock({ $0 }) else { return Numbers.make() }
    let found = try? container.newBackgroundContext().fetch(CountedTicket.self).map(\.number).max()
    return (found ?? 0) + 1
  }
}

@Suite(.serialized) struct `Defaults that differ between objects` {
  private func container() throws -> PersistentContainer {
    try PersistentContainer(
      name: "Tickets", types: [Ticket.self, PairedTicket.self, CountedTicket.self],
      at: URL(fileURLWithPath: "/dev/null"))
  }

  @Test func `each new object has its own, evaluated once`() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let first = Numbers.make()
    let tickets = (0..<20).map { number in
      number % 2 == 0 ? Ticket(context: context) : PairedTicket(context: context)
    }
    #expect(tickets.map(\.number) == (1...20).map { first + $0 })
    #expect(Set(tickets.map(\.mark)).count == 20)
    try context.save()
    let saved = try container.newBackgroundContext().fetch(Ticket.self)
    #expect(Set(saved.map(\.mark)) == Set(tickets.map(\.mark)))
    #expect(saved.allSatisfy { $0.title == "plain" })
  }

  @Test(arguments: [false, true]) func `an initialiser that makes another object mixes up no defaults`(
    isDirect: Bool
  ) throws {
    let container = try container()
    let context = container.newBackgroundContext()
    PairedTicket.makesPartner.withLock { $0 = true }
    let entity = try #require(container.managedObjectModel.entitiesByName["PairedTicket"])
    let ticket =
      isDirect ? PairedTicket(entity: entity, insertInto: context) : PairedTicket(context: context)
    let partner = try #require(ticket.partner)
    let marks = [ticket.mark, ticket.code, partner.mark, partner.code]
    #expect(Set(marks).count == 4 && ticket.number != partner.number)
    try context.save()
    let saved = try container.newBackgroundContext().fetch(PairedTicket.self)
    #expect(Set(saved.flatMap { [$0.mark, $0.code] }) == Set(marks))
  }

  @Test func `a default may fetch objects of its class`() throws {
    let container = try container()
    Numbers.container.withLock { $0 = container }
    defer { Numbers.container.withLock { $0 = nil } }
    for number in 1...4 as ClosedRange<Int64> {
      let context = container.newBackgroundContext()
      #expect(CountedTicket(context: context).number == number)
      try context.save()
    }
  }

  @Test func `an object without a context keeps its own where it is inserted later`() throws {
    let container = try container()
    let context = container.newBackgroundContext()
    let entity = try #require(container.managedObjectModel.entitiesByName["Ticket"])
    let ticket = Ticket(entity: entity, insertInto: nil)
    let mark = ticket.mark
    context.insert(ticket)
    let other = Ticket(context: context)
    try context.save()
    #expect(ticket.mark == mark && other.mark != mark)
  }
}
