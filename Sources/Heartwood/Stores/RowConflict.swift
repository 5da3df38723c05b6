/// A row that changed since the version that a change is based on.
struct RowConflict: Sendable {
  let entity: EntityDescription
  let key: UInt64
  let expectedVersion: UInt32
  /// 0 if the row was deleted.
  let newestVersion: UInt32
  /// Nil if the row was deleted.
  let newestRow: [UInt8]?
}
