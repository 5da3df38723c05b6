/// A row that has other derived values than were written.
struct DerivedRow {
  let entity: EntityDescription
  let key: UInt64
  let row: [UInt8]
}

/// A row whose derived values were computed once more, and what has changed.
struct RecomputedRow {
  let row: DerivedRow
  let changed: [Int]
  /// The values that the history keeps.
  let kept: [HistoryChange.KeptUpdate]
}
