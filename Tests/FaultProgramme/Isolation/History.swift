/// The operations of concurrent sessions on a store, with their results, as numbers.
///
/// The objects have two properties. A list receives appended elements, each unique in the history, so that a
/// read shows which writes it saw and in which order. A register is overwritten. Everything is empty in the
/// generation `base`.
struct History: Sendable, Codable {
  /// The isolation level.
  enum Promise: String, Sendable, Codable, CaseIterable {
    /// Writers run one after the other; a reader sees one generation.
    case serial
    /// Each transaction sees one generation; of two concurrent changes of an object the second is refused.
    case snapshot
    /// Each read sees the newest generation at that moment; the second of two concurrent changes is refused
    /// as well.
    case newest
  }

  enum Operation: Sendable, Codable {
    case read(Int, [Int])
    case append(Int, Int)
    /// Sets the register. An empty value deletes it.
    case set(Int, [Int])
  }

  enum Outcome: Sendable, Codable {
    /// Acknowledged with the generation that it made; nil if no generation was returned.
    case committed(Int?)
    case aborted
    case readOnly
    /// The results of later checks: the generation that it had made, or nil if it was absent.
    case unknown([Int?])
  }

  struct Transaction: Sendable, Codable {
    let id: Int
    var session: Int
    /// The moment before it began and the moment after it was acknowledged. No two events have the same
    /// moment.
    var begin: Int
    var end: Int
    /// The generation that it read; for `newest` the newest generation when it began.
    var snapshot: Int
    /// For `newest`: the newest generation after its last read.
    var lastSnapshot: Int?
    /// Whether it requested a past generation.
    var isPast = false
    var operations: [Operation] = []
    var outcome = Outcome.readOnly
  }

  /// An entry of the store's history.
  struct Entry: Sendable, Codable {
    enum Changes: Sendable, Codable {
      case keys([Int])
      case count(Int)
    }

    var generation: Int
    var transaction: Int
    var changes: Changes
  }

  var promise: Promise
  var base: Int
  var transactions: [Transaction] = []
  var account: [Entry] = []

  // MARK: Keys

  static func list(of object: Int) -> Int { 2 * object }
  static func register(of object: Int) -> Int { 2 * object + 1 }
  static func isList(_ key: Int) -> Bool { key.isMultiple(of: 2) }
  static func object(of key: Int) -> Int { key / 2 }
}

extension History.Operation {
  var key: Int {
    switch self {
    case .read(let key, _), .append(let key, _), .set(let key, _): key
    }
  }

  var isWrite: Bool {
    if case .read = self { false } else { true }
  }

  /// The elements that the operation writes.
  var elements: [Int] {
    switch self {
    case .read: []
    case .append(_, let element): [element]
    case .set(_, let value): value
    }
  }

  /// The value after the operation.
  func applied(to value: [Int]) -> [Int] {
    switch self {
    case .read: value
    case .append(_, let element): value + [element]
    case .set(_, let new): new
    }
  }
}

extension History.Transaction {
  var writes: [History.Operation] { operations.filter(\.isWrite) }
  var writtenKeys: Set<Int> { Set(writes.map(\.key)) }

  var isAborted: Bool {
    if case .aborted = outcome { true } else { false }
  }

  var isAcknowledged: Bool {
    if case .committed = outcome { true } else { false }
  }
}

extension History.Transaction: CustomStringConvertible {
  var description: String {
    let steps = operations.map { operation in
      switch operation {
      case .read(let key, let value): "r\(key)=\(value.suffix(6))"
      case .append(let key, let element): "a\(key)+\(element)"
      case .set(let key, let value): "w\(key)=\(value)"
      }
    }
    return "transaction \(id) of session \(session) from generation \(snapshot), \(outcome): "
      + steps.joined(separator: " ")
  }
}
