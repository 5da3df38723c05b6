/// One transaction as the history keeps it.
struct HistoryRecord: Sendable {
  /// The generation that it made.
  let number: UInt64
  /// The number of the transaction with a history before this one; 0 for the first.
  let previous: UInt64
  /// When it was saved, in nanoseconds since 1970; never decides an order.
  let nanoseconds: Int64
  let author: String?
  let contextName: String?
  let changes: [HistoryChange]
}

/// What a transaction did to one row.
struct HistoryChange: Sendable {
  enum Kind: UInt8, Sendable {
    case insert = 1
    case update = 2
    case delete = 3
  }

  let kind: Kind
  /// The row's own entity.
  let entity: EntityDescription
  let key: UInt64
  /// Of an update, ascending; to-many relationships too.
  var updatedSlots: [Int] = []
  /// Of a delete: the attributes whose values are preserved.
  var tombstone: [(slot: Int, value: Value)] = []
}
