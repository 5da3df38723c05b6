import HeartwoodSQLite

/// The tables of a store's history.
struct HistoryTables: Sendable {
  let changes: SQLiteTable
  let transactions: SQLiteTable
  let texts: SQLiteTable?
  /// Finds the changes of a transaction; nil if the file has no such index.
  let index: SQLiteIndex?
  /// The columns with values of deleted objects, in the order of their numbers.
  let tombstones: [Int]

  /// Nil if the store has no history.
  init?(_ file: AppleStoreFile) {
    guard let changes = file.database.table(named: "ACHANGE"),
      let transactions = file.database.table(named: "ATRANSACTION"),
      let column = changes.columnIndex(named: "ZTRANSACTIONID")
    else { return nil }
    self.changes = changes
    self.transactions = transactions
    texts = file.database.table(named: "ATRANSACTIONSTRING")
    index = file.database.index(of: changes, beginningWith: column)
    tombstones = changes.columns.indices.compactMap { place -> (Int, Int)? in
      let name = changes.columns[place].name.uppercased()
      guard name.hasPrefix("ZTOMBSTONE"), let number = Int(name.dropFirst("ZTOMBSTONE".count)) else {
        return nil
      }
      return (number, place)
    }.sorted { $0.0 < $1.0 }.map(\.1)
  }
}
