/// A row that has other derived values than were written.
struct DerivedRow {
  let entity: EntityDescription
  let key: UInt64
  let row: [UInt8]
}
