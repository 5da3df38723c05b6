/// How much of its history a store keeps.
///
/// Each save through a coordinator with such an option deletes a few of the oldest transactions that are beyond a limit, in its own transaction, and
/// their space is reclaimed as that of other deleted data. Transactions that a consumer has not seen are kept for it, up to its limit: see
/// ``HistoryConsumer``.
public struct HistoryRetention: Sendable, Hashable {
  /// How many seconds the history of a transaction is kept at least, by the clock of the machines that save; nil for no limit of age.
  public var age: Double?
  /// How many of the newest transactions are kept; nil for no limit of their count.
  public var count: UInt64?
  /// How many bytes the records of the history may have together, by what they take as values; nil for no limit of their size.
  public var bytes: UInt64?

  /// - Parameters:
  ///   - age: How many seconds the history of a transaction is kept; at least 0. Nil for no limit of age.
  ///   - count: How many of the newest transactions are kept, at least 1; nil for no limit of their count.
  ///   - bytes: How many bytes the records have together; nil for no limit of their size. With no limit at all, what all consumers have seen is
  ///     deleted, if there is a consumer.
  public init(age: Double? = nil, count: UInt64? = nil, bytes: UInt64? = nil) {
    self.age = age
    self.count = count
    self.bytes = bytes
  }

  /// Whether only consumers say what is kept.
  var hasNoLimit: Bool { age == nil && count == nil && bytes == nil }

  /// Whether a transaction is beyond the limits.
  ///
  /// - Parameters:
  ///   - newerCount: How many there are after it, if there is a limit of them.
  ///   - total: The bytes of the records from this one on, if there is a limit of them.
  /// - Returns: Nil if its clock or that of the newest one is far off: those after it decide.
  func isOver(_ record: HistoryRecord, newest: HistoryRecord, _ newerCount: Int, total: UInt64) -> Bool? {
    if hasNoLimit { return true }
    if let bytes, total > bytes { return true }
    if let count, newerCount >= max(1, count) { return true }
    guard let age else { return false }
    let seconds = (Double(newest.nanoseconds) - Double(record.nanoseconds)) / 1e9
    return seconds < 0 && -seconds > age ? nil : seconds > age
  }
}

/// How many bytes the history records had together when they were counted last.
struct HistoryBytes: Sendable, Equatable {
  let bytes: UInt64
  /// The number of the last transaction whose record was deleted then.
  let deleted: UInt64
  /// The number of the last transaction that is counted.
  let last: UInt64

  func encoded() -> [UInt8] { KeySpace.value(bytes) + KeySpace.value(deleted) + KeySpace.value(last) }
}

extension HistoryBytes {
  /// - Throws: `.persistentStoreDamaged` if the bytes are not three numbers.
  init(decoding bytes: UnsafeRawBufferPointer) throws(HeartwoodError) {
    guard bytes.count == 24 else { throw .damagedStore("the count of the history's bytes is damaged") }
    func number(_ offset: Int) throws(HeartwoodError) -> UInt64 {
      try KeySpace.number(inValue: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + 8]))
    }
    self.init(bytes: try number(0), deleted: try number(8), last: try number(16))
  }
}
