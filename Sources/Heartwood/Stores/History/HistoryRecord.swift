/// One transaction in the history.
struct HistoryRecord: Sendable {
  /// The generation that it made.
  let number: UInt64
  /// The number of the previous transaction with a history record; 0 for the first.
  let previous: UInt64
  /// The time of the save, in nanoseconds since 1970. No order depends on it.
  let nanoseconds: Int64
  let author: String?
  let contextName: String?
  /// Nil in records that do not name the program, as those of earlier versions.
  var program: SavingProgram?
  let changes: [HistoryChange]
  /// The places of the changes among all of the transaction, from 1; nil if they are all.
  var places: [Int]?
  /// Whether it was told to the contexts of the coordinator that reads it.
  var isOwn = false
}

/// The change of one row by a transaction.
struct HistoryChange: Sendable {
  enum Kind: UInt8, Sendable {
    case insert = 1
    case update = 2
    case delete = 3
  }

  /// The values of a changed attribute before and after a transaction.
  struct KeptUpdate: Sendable {
    let slot: Int
    let former: Value
    let value: Value
  }

  /// A link that an update has added or removed, of a to-many relationship that does not follow from rows, on the side that change sets name.
  struct ChangedLink: Sendable {
    let slot: Int
    let target: UInt64
    let isAdded: Bool
  }

  let kind: Kind
  /// The row's own entity.
  let entity: EntityDescription
  let key: UInt64
  /// For an update: the changed slots, ascending, including to-many relationships.
  var updatedSlots: [Int] = []
  /// For an update: the values of attributes that say so, by ascending slots.
  var keptUpdates: [KeptUpdate] = []
  /// For an update: by ascending slots.
  var links: [ChangedLink] = []
  /// For a delete: the attributes whose values are preserved.
  var tombstone: [(slot: Int, value: Value)] = []
}
