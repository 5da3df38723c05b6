import Foundation
import Heartwood

/// The tables of a store's history.
///
/// A transaction has the number that follows that of the last one, which it takes from the only row of `_heartwood_ends` as the last thing before
/// it commits. The row stays locked until then, so the numbers are in the order of commits, without gaps: who has read up to a number never
/// misses a transaction. A sequence would not do, as its numbers are given before transactions commit: one that commits late would
/// come with a number that readers have passed. What the lock costs is that the commits of a store whose history is recorded follow each other; the
/// server makes commits with a `NOTIFY` follow each other anyway, those of all stores of a database.
struct PostgresHistory: Sendable {
  let schema: String
  private var prefix: String { "\(schema.quoted)." }

  /// A row for each transaction.
  var transactions: String { "\(prefix)\"_heartwood_history\"" }
  /// Rows of a transaction: objects that have changed in the same way.
  var changes: String { "\(prefix)\"_heartwood_changes\"" }
  /// One row: the number of the newest transaction, and of the newest one whose history was deleted.
  var ends: String { "\(prefix)\"_heartwood_ends\"" }
  /// A row for each consumer of the history.
  var consumers: String { "\(prefix)\"_heartwood_consumers\"" }
  var tables: [String] { [transactions, changes, ends, consumers] }

  /// The statements that create the tables in an existing schema.
  var statements: [String] {
    [
      "CREATE TABLE \(transactions) (number bigint PRIMARY KEY, made bigint NOT NULL, author text, context text, bundle text, process text, "
        + "store uuid)",
      "CREATE TABLE \(changes) (number bigint NOT NULL, place integer NOT NULL, kind smallint NOT NULL, entity text NOT NULL, "
        + "properties text[] NOT NULL, objects bigint[] NOT NULL, tombstones bytea, PRIMARY KEY (number, place))",
      // One row, which each recorded transaction updates: what it leaves is removed when its page is read.
      "CREATE TABLE \(ends) (newest bigint NOT NULL, deleted bigint NOT NULL) WITH (fillfactor = 10)",
      "INSERT INTO \(ends) VALUES (0, 0)",
      "CREATE TABLE \(consumers) (name text PRIMARY KEY, record bytea NOT NULL)",
    ]
  }

  /// Whether the tables are there.
  func exists(_ connection: PostgresConnection) throws -> Bool {
    let rows = try connection.query("SELECT to_regclass($1::text) IS NOT NULL", [.text(consumers)])
    return rows.bytes(0, 0).first == 1
  }

  /// Makes the tables of a store that was made without them.
  func create(_ connection: PostgresConnection, _ address: PostgresAddress) throws {
    try connection.transaction(beginning: address.beginning) {
      _ = try connection.query("SELECT pg_advisory_xact_lock($1::int8)", [.integer(0x6865_6172_7477_6f6f)])
      guard try !exists(connection) else { return }
      for statement in statements { try connection.run(statement) }
    }
  }

  /// Removes the whole history, as of objects that are replaced by others.
  ///
  /// - Precondition: A transaction has begun.
  func clear(_ connection: PostgresConnection) throws {
    guard try exists(connection) else { return }
    try connection.run(
      "DELETE FROM \(changes); DELETE FROM \(transactions); DELETE FROM \(consumers); UPDATE \(ends) SET deleted = newest"
    )
  }

  /// The name of the channel on which the store's saves are told.
  static func channel(_ storeID: String) -> String { "heartwood \(storeID)".quoted }
}

extension PostgresRows {
  /// The elements of an array of one dimension, each with its bytes; empty for an empty array. None is NULL.
  private func elements(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
    let bytes = bytes(row, column)
    func number(_ place: Int) -> Int {
      Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)))
    }
    guard bytes.count >= 20, number(0) == 1 else { return }
    var place = 20
    for _ in 0..<number(12) {
      let length = max(0, number(place))
      body(UnsafeRawBufferPointer(rebasing: bytes[place + 4..<place + 4 + length]))
      place += 4 + length
    }
  }

  func integers(_ row: Int, _ column: Int) -> [Int64] {
    var found: [Int64] = []
    elements(row, column) { found.append(Int64(bigEndian: $0.loadUnaligned(as: Int64.self))) }
    return found
  }

  func texts(_ row: Int, _ column: Int) -> [String] {
    var found: [String] = []
    elements(row, column) { found.append(String(decoding: $0, as: UTF8.self)) }
    return found
  }

  func optionalText(_ row: Int, _ column: Int) -> String? { isNull(row, column) ? nil : text(row, column) }
}
