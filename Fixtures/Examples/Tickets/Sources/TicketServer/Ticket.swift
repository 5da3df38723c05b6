import Heartwood
import Hummingbird

final class Ticket: ManagedObject {
  @Attribute(.unique) var number: Int64 = 0
  @Attribute var title = ""
  @Attribute(.indexed) var isOpen = true
  /// Counts the saves of the ticket: its ETag.
  @Attribute var version: Int64 = 0
}

/// The number of the newest ticket, also if that is deleted: an address and its ETags never come to mean another ticket.
final class TicketCounter: ManagedObject {
  @Attribute(.unique) var name = "tickets"
  @Attribute var last: Int64 = 0
}

/// A ticket as clients see it.
struct TicketBody: ResponseCodable, Equatable {
  var number: Int64
  var title: String
  var isOpen: Bool
  var version: Int64

  init(_ ticket: Ticket) {
    (number, title) = (ticket.number, ticket.title)
    (isOpen, version) = (ticket.isOpen, ticket.version)
  }
}

/// A page of tickets, with the address of the next one.
struct TicketPage: ResponseCodable {
  var tickets: [TicketBody]
  var next: String?
}

/// The values that clients set.
struct TicketChange: Decodable, Sendable {
  var title: String
  var isOpen: Bool?
}
