import Foundation
import Heartwood
import HeartwoodSQLite

/// Reads the history of a store, transaction by transaction.
struct HistoryReader {
  private let store: AppleSQLiteStore
  private let tables: HistoryTables
  private let texts: [Int64: String]
  private var database: SQLiteDatabase { store.file.database }

  init(_ store: AppleSQLiteStore, _ tables: HistoryTables) throws {
    self.store = store
    self.tables = tables
    var texts: [Int64: String] = [:]
    if let table = tables.texts, let column = table.columnIndex(named: "ZNAME") {
      try AppleStoreFile.forEachRow(of: table, store.file.database, store.url) { row in
        if let key = row["Z_PK"]?.asInteger ?? row.rowid, case .text(let text) = row[column] {
          texts[key] = text
        }
      }
    }
    self.texts = texts
  }

  func forEach(after number: UInt64, _ body: (StoreHistoryTransaction) throws -> Bool) throws {
    guard number < UInt64(Int64.max) else { return }
    let start = Int64(number) + 1
    if number == 0 {
      store.indexes.checkAll()
      try noteTransactionsWithoutNumber()
    }
    var seen: Set<Int64> = []
    let cursor = try store.file.translating { () throws(SQLiteError) in
      try database.rows(of: tables.transactions, from: start)
    }
    while let row = try store.file.translating({ () throws(SQLiteError) in try cursor.next() }) {
      guard let key = row.rowid, key > 0 else { continue }
      if number == 0 { seen.insert(key) }
      var transaction = StoreHistoryTransaction(
        number: UInt64(key), timestamp: time(row), changes: [])
      transaction.author = text(row, "ZAUTHOR")
      transaction.contextName = text(row, "ZCONTEXTNAME")
      transaction.bundleID = text(row, "ZBUNDLEID")
      transaction.processID = text(row, "ZPROCESSID")
      transaction.changes = try changes(of: key)
      guard try body(transaction) else { return }
    }
    if number == 0 { try noteChanges(withoutTransactionOf: seen) }
  }

  private func noteTransactionsWithoutNumber() throws {
    try AppleStoreFile.forEachRow(of: tables.transactions, database, store.url) { row in
      guard let key = row.rowid, key <= 0 else { return }
      note("a transaction of the history has a primary key that none can have, and is left out", row)
    }
  }

  private func noteChanges(withoutTransactionOf known: Set<Int64>) throws {
    try AppleStoreFile.forEachRow(of: tables.changes, database, store.url) { row in
      if case .integer(let key)? = row["ZTRANSACTIONID"], known.contains(key) { return }
      note("a change of the history is of a transaction that the history does not have, and is left out", row)
    }
  }

  /// Times of the history are whole nanoseconds in 64 bits.
  private func time(_ row: SQLiteRow) -> Date {
    var seconds: Double?
    switch row["ZTIMESTAMP"] {
    case .integer?, .real?: seconds = row["ZTIMESTAMP"]?.asDouble
    default: note("a transaction of the history has no time, and is read as of the beginning of 2001", row)
    }
    let time = Date(timeIntervalSinceReferenceDate: seconds ?? 0)
    if time.timeIntervalSince1970.magnitude > Double(Int64.max) / 1e9 {
      note(
        "the time of a transaction of the history is not between the years 1677 and 2262, and is read as the nearest one there",
        row)
    }
    return time
  }

  private func note(_ what: String, _ row: SQLiteRow) { store.unfit.add(what, row: row.rowid ?? 0) }

  /// A text by its number in the table of texts, or, in older stores, in the row itself.
  private func text(_ row: SQLiteRow, _ name: String) -> String? {
    if case .integer(let key)? = row[name + "TS"] {
      if let text = texts[key] { return text }
      note("a text of a transaction of the history is not in the table of texts, and is left out", row)
    }
    if case .text(let text)? = row[name] { return text }
    return nil
  }

  // MARK: Changes

  private func changes(of transaction: Int64) throws -> [StoreHistoryTransaction.Change] {
    let rowids = try store.rowids(of: tables.changes, tables.transactionColumn, tables.index, transaction)
    return try rowids.sorted().compactMap { rowid in
      let row = try store.file.translating { () throws(SQLiteError) in
        try database.row(of: tables.changes, rowid: rowid)
      }
      guard let row, row.integer(tables.transactionColumn) == transaction else { return nil }
      return change(row)
    }
  }

  private func change(_ row: SQLiteRow) -> StoreHistoryTransaction.Change? {
    guard case .integer(let number)? = row["ZENTITY"], case .integer(let key)? = row["ZENTITYPK"],
      case .integer(let kind)? = row["ZCHANGETYPE"],
      let type = Int(exactly: kind).flatMap(PersistentHistoryChange.ChangeType.init)
    else {
      note("a change of the history cannot be read", row)
      return nil
    }
    guard let entity = store.tables.numbers.entities[number] else {
      note("a change of the history is of the entity number \(number), which the model does not have", row)
      return nil
    }
    guard let id = store.identifier(entity, key) else {
      note("a change of the history is of a primary key that no object can have, and is left out", row)
      return nil
    }
    var change = StoreHistoryTransaction.Change(type, of: id)
    let properties = HistoryProperties(entity)
    if type == .update, let column = tables.changes.columnIndex(named: "ZCOLUMNS"),
      let bits = row.bytes(column)
    {
      change.updatedProperties = properties.named(by: bits)
      if properties.hasOthers(bits) {
        note("a change of the history is of a property that the model does not have, and is left out", row)
      }
    }
    if type == .delete { change.tombstone = tombstone(row, properties) }
    return change
  }

  private func tombstone(
    _ row: SQLiteRow, _ properties: HistoryProperties
  ) -> [(attribute: AttributeDescription, value: StoredValue)] {
    let encoding = store.file.database.textEncoding
    return tables.tombstones.sorted { $0.key < $1.key }.compactMap { number, column in
      guard !row.isNull(column) else { return nil }
      guard properties.kept.indices.contains(number) else {
        note("a deletion in the history has a value of no attribute of the model, which is left out", row)
        return nil
      }
      let attribute = properties.kept[number]
      guard let value = row.storedValue(column, CellKind(attribute), encoding) else {
        note("a deletion in the history has a value that \(attribute.name) cannot have, and is left out", row)
        return nil
      }
      return (attribute, value)
    }
  }
}

/// The properties that the bits and the columns of a change stand for.
///
/// A bit of the set of changed columns is the place of a property among all of its entity, inherited ones included, in the order of their
/// names; the number of a tombstone's column is the place of an attribute among those that are kept. Nothing that Apple has published says so: stores
/// with such changes were not at hand.
struct HistoryProperties {
  /// The properties in the order of their bits.
  let all: [PropertyDescription]
  /// The attributes whose values are kept of deleted objects.
  let kept: [AttributeDescription]

  init(_ entity: EntityDescription) {
    all = entity.properties.filter { !$0.isTransient && !($0 is FetchedPropertyDescription) }.sorted {
      $0.name < $1.name
    }
    kept = all.compactMap { $0 as? AttributeDescription }.filter(\.preservesValueInHistoryOnDeletion)
  }

  /// The properties of a set of bits, the lowest bit of each byte first.
  func named(by bits: [UInt8]) -> [PropertyDescription] {
    all.enumerated().filter { place, _ in
      place / 8 < bits.count && bits[place / 8] & (1 << UInt8(place % 8)) != 0
    }.map(\.element)
  }

  /// Whether a set of bits has some that stand for no property.
  func hasOthers(_ bits: [UInt8]) -> Bool {
    bits.enumerated().contains { place, byte in
      let known = min(8, max(0, all.count - 8 * place))
      return byte >> UInt8(known) != 0
    }
  }
}
