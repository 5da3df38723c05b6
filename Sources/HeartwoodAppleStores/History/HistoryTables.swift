import HeartwoodSQLite

/// The tables of a store's history.
struct HistoryTables: Sendable {
  let changes: SQLiteTable
  let transactions: SQLiteTable
  let texts: SQLiteTable?
  /// The column of `changes` with the keys of transactions.
  let transactionColumn: Int
  /// Finds the changes of a transaction; nil if the file has no such index.
  let index: SQLiteIndex?
  /// The columns with values of deleted objects, by their numbers.
  let tombstones: [Int: Int]

  /// Nil if the store has no history.
  init?(_ file: AppleStoreFile) {
    guard let changes = file.database.table(named: "ACHANGE"),
      let transactions = file.database.table(named: "ATRANSACTION"),
      let column = changes.columnIndex(named: "ZTRANSACTIONID"), changes.problemOfKey == nil,
      transactions.problemOfKey == nil
    else { return nil }
    self.changes = changes
    transactionColumn = column
    self.transactions = transactions
    texts = file.database.table(named: "ATRANSACTIONSTRING")
    index = file.database.index(of: changes, beginningWith: column)
    var tombstones: [Int: Int] = [:]
    for (place, column) in changes.columns.enumerated() {
      let name = column.name.uppercased()
      guard name.hasPrefix("ZTOMBSTONE"), let number = Int(name.dropFirst("ZTOMBSTONE".count)) else {
        continue
      }
      tombstones[number] = place
    }
    self.tombstones = tombstones
  }

  /// The lack of the tables of a history, in words, in a file that has some of them; nil for a whole history,
  /// and for none.
  static func lack(_ file: AppleStoreFile) -> String? {
    let needed = ["ACHANGE", "ATRANSACTION"]
    let missing = needed.filter { file.database.table(named: $0) == nil }
    if missing.count == 1 { return "the history cannot be read: there is no table \(missing[0])" }
    guard missing.isEmpty, HistoryTables(file) == nil else { return nil }
    for table in needed.compactMap(file.database.table) {
      guard let problem = table.problemOfKey else { continue }
      return "the history cannot be read: its table \(table.name) \(problem), which Core Data does not make"
    }
    return "the history cannot be read: its table ACHANGE has no column ZTRANSACTIONID"
  }
}
