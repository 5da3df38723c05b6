/// What sessions did to a store beside one another, and what each of them saw and was told: numbers only.
///
/// There are objects with two properties each. A list takes appended elements, each of them unique in the
/// history, so that what a read saw tells whose writes it saw and in which order. A register is overwritten.
/// Everything is empty in the generation `base`.
struct History: Sendable, Codable {
  /// How far transactions are kept apart.
  enum Promise: String, Sendable, Codable, CaseIterable {
    /// Those that write run one after the other; those that read see one generation.
    case serial
    /// Each sees one generation; of two that change an object beside one another, the second is refused.
    case snapshot
    /// Each read sees the newest generation of its moment, and of two the second is refused as well.
    case newest
  }

  enum Operation: Sendable, Codable {
    case read(Int, [Int])
    case append(Int, Int)
    /// An empty value takes the register away.
    case set(Int, [Int])
  }

  enum Outcome: Sendable, Codable {
    /// Acknowledged, and the generation that it was told to have made; nil where nothing was told.
    case committed(Int?)
    case aborted
    case readOnly
    /// What was found at each look later: the generation that it had made, or nothing.
    case unknown([Int?])
  }

  struct Transaction: Sendable, Codable {
    let id: Int
    var session: Int
    /// The moment before it began, and the one after it was acknowledged; of no two events the same.
    var begin: Int
    var end: Int
    /// The generation that it saw; under `newest` the one that was there when it began.
    var snapshot: Int
    /// Under `newest`: the one that was there after its last read.
    var lastSnapshot: Int?
    /// It asked for a past generation.
    var isPast = false
    var operations: [Operation] = []
    var outcome = Outcome.readOnly
  }

  /// What the store itself says of a generation.
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

  /// What it writes, as elements.
  var elements: [Int] {
    switch self {
    case .read: []
    case .append(_, let element): [element]
    case .set(_, let value): value
    }
  }

  /// What becomes of a value by it.
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
