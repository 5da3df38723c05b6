/// Pages that another file has instead of the database file: a write-ahead log has newer ones, and a rollback journal
/// the ones before an interrupted transaction.
struct PageOverlay: Sendable {
  let file: ReadOnlyFile
  /// In bytes.
  let pageSize: Int
  /// The size of the database in pages.
  let pageCount: UInt32
  /// By page number, the position of the page's bytes in `file`.
  let offsets: [UInt32: Int64]
}
