/// A store of the published benchmarks' objects. Each method starts with nothing in memory.
protocol PublishedPeer: AnyObject {
  /// Opens a store in `directory`, or makes it.
  init(directory: String) throws

  /// Makes the users and writes them in one transaction.
  func insert(_ users: [PublishedData.User]) throws

  /// Fetches the users of a first name by age, which no index helps with, and reads their ages.
  func users(named name: String) throws -> UInt64

  /// Fetches the users of a first name, gives them another one and saves.
  func rename(_ name: String, to other: String) throws

  /// Makes the schools, their students and the grades, and writes them in one transaction.
  func insert(_ schools: [PublishedData.School]) throws

  /// Fetches the students who have a grade in a subject, and any grade of a kind, and reads their surnames.
  func students(in subject: String, with grade: String) throws -> UInt64

  /// Not timed.
  func insert(_ orders: [PublishedData.Order]) throws

  /// Loads all orders by number and reads each of their columns.
  func loadOrders() throws -> UInt64

  /// All users, students and grades. Not timed.
  func digestOfAll() throws -> UInt64

  func close() throws
}

struct PublishedPeerKind {
  let name: String
  let type: any PublishedPeer.Type

  /// The first is compared with the last.
  static var all: [PublishedPeerKind] {
    [
      PublishedPeerKind(name: "Heartwood", type: HeartwoodPublishedPeer.self),
      PublishedPeerKind(name: "GRDB", type: GRDBPublishedPeer.self),
      PublishedPeerKind(name: "SQLite", type: SQLitePublishedPeer.self),
    ]
  }
}
