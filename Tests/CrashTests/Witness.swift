import HeartwoodEngine
import HeartwoodFiles

/// What a store was asked to hold, and what it has promised to keep.
///
/// `states[0]` is the newest one that must survive everything; the others followed one another since.
final class Witness: @unchecked Sendable {
  private let lock = Lock()
  private var states: [Rows] = [[:]]
  /// How many transactions were tried, for values that are like no other.
  private var transactions = 0

  /// All states that may be found after a crash now.
  var candidates: [Rows] { lock.withLock { states } }

  var newest: Rows { lock.withLock { states[states.count - 1] } }

  /// A number for the values of the next transaction.
  func begin() -> Int {
    lock.withLock {
      transactions += 1
      return transactions
    }
  }

  /// A commit is about to be tried.
  func attempt(_ rows: Rows) { lock.withLock { states.append(rows) } }

  /// The commit tried last did not happen.
  func withdraw() { lock.withLock { _ = states.removeLast() } }

  /// Everything up to now has to survive.
  func acknowledge() { lock.withLock { states = [states[states.count - 1]] } }

  /// The store was opened and shows these rows: they are the newest, and durable.
  /// Returns whether they are among those that were possible.
  func settle(on rows: Rows) -> Bool {
    lock.withLock {
      guard states.contains(rows) else { return false }
      states = [rows]
      return true
    }
  }
}
