/// How much of its history a store keeps.
///
/// Each save through a coordinator with such an option deletes a few of the oldest transactions that are beyond a limit, in its own transaction, and
/// their space is reclaimed as that of other deleted data. Transactions that a consumer has not seen are kept for it, up to its limit: see
/// ``HistoryConsumer``.
public struct HistoryRetention: Sendable, Hashable {
  /// How many seconds the history of a transaction is kept at least, by the clock of the machines that save; nil for no limit of age.
  public var age: Double?
  /// About how many of the newest transactions are kept, by their numbers; nil for no limit of their count.
  public var count: UInt64?

  /// - Parameters:
  ///   - age: How many seconds the history of a transaction is kept; at least 0. Nil for no limit of age.
  ///   - count: How many of the newest transactions are kept, at least 1; nil for no limit of their count. With neither, what all consumers have
  ///     seen is deleted, if there is a consumer.
  public init(age: Double? = nil, count: UInt64? = nil) {
    self.age = age
    self.count = count
  }

  /// Whether a transaction is beyond the limits.
  func isOver(_ record: HistoryRecord, newest: HistoryRecord) -> Bool {
    if let count, newest.number - record.number >= max(1, count) { return true }
    if let age { return Double(newest.nanoseconds) - Double(record.nanoseconds) > age * 1e9 }
    return count == nil
  }
}
