import Foundation
import Heartwood
import HeartwoodObservability

/// The tickets of a store. Each call has a context of its own, so that any number of requests may run at once.
struct TicketStore: Sendable {
  private let container: PersistentContainer

  /// Why a call was refused.
  enum Refusal: Error {
    case notFound
    /// The ticket was saved after the version that was given.
    case isNewer
  }

  init(at url: URL, observer: StoreObserver? = nil) throws {
    container = PersistentContainer(
      name: "Tickets", managedObjectModel: try ManagedObjectModel(types: [Ticket.self, TicketCounter.self]))
    let description = PersistentStoreDescription(url: url)
    description.observer = observer
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
  }

  func close() throws { try container.close() }

  /// The number of the newest transaction. Throws if the store cannot be read.
  func generation() throws -> UInt64 {
    try container.persistentStoreCoordinator.statistics().generation.rawValue
  }

  /// Tickets in the order of their numbers. The number is an index: a page costs the same wherever it begins.
  func page(after number: Int64, limit: Int) async throws -> [TicketBody] {
    try await perform { context in
      try context.fetch(
        Ticket.self, where: { $0.number > number }, sort: [.ascending(\.number)], limit: limit
      ).map(TicketBody.init)
    }
  }

  func ticket(_ number: Int64) async throws -> TicketBody {
    try await perform { TicketBody(try ticket(number, in: $0)) }
  }

  /// Two requests may take the same number: the store refuses the one that is saved last, which takes the next one.
  func add(_ change: TicketChange) async throws -> TicketBody {
    while true {
      do {
        return try await perform { context in
          let counter = try context.fetch(TicketCounter.self).first ?? TicketCounter(context: context)
          counter.last += 1
          let ticket = Ticket(context: context)
          ticket.number = counter.last
          return try save(change, to: ticket, in: context)
        }
      } catch let error as HeartwoodError
        where error.code == .managedObjectMerge || error.code == .managedObjectConstraintMerge
      {
        continue
      }
    }
  }

  /// Changes a ticket whose version is still the one that the caller has read.
  func change(_ number: Int64, version: Int64, to change: TicketChange) async throws -> TicketBody {
    try await perform { context in
      try refusingNewer {
        try save(change, to: try ticket(number, version: version, in: context), in: context)
      }
    }
  }

  func delete(_ number: Int64, version: Int64) async throws {
    try await perform { context in
      try refusingNewer {
        context.delete(try ticket(number, version: version, in: context))
        try context.save()
      }
    }
  }

  private func perform<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let context = container.newBackgroundContext()
    return try await context.performTraced { try body(context) }
  }

  private func ticket(
    _ number: Int64, version: Int64? = nil, in context: ManagedObjectContext
  ) throws -> Ticket {
    guard let ticket = try context.fetch(Ticket.self, where: { $0.number == number }).first else {
      throw Refusal.notFound
    }
    guard version ?? ticket.version == ticket.version else { throw Refusal.isNewer }
    return ticket
  }

  private func save(
    _ change: TicketChange, to ticket: Ticket, in context: ManagedObjectContext
  ) throws -> TicketBody {
    ticket.title = change.title
    if let isOpen = change.isOpen { ticket.isOpen = isOpen }
    ticket.version += 1
    try context.save()
    return TicketBody(ticket)
  }

  /// Between reading the version and saving, another request may have saved: the store finds that.
  private func refusingNewer<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as HeartwoodError where error.code == .managedObjectMerge {
      throw Refusal.isNewer
    }
  }
}
