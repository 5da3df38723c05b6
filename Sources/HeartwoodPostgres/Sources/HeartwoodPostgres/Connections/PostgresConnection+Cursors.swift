import Foundation

/// Results that are read in parts.
extension PostgresConnection {
  /// The result of a statement, read in parts.
  struct Cursor {
    fileprivate let connection: PostgresConnection
    fileprivate let name: String

    /// The next rows, fewer than `count` at the end.
    func next(_ count: Int) throws -> PostgresRows {
      // Not prepared: cursors of other columns have the same name.
      try connection.query("FETCH FORWARD \(count) FROM \(name)", isPrepared: false)
    }
  }

  /// Calls the body with a cursor over the result of a statement.
  ///
  /// - Precondition: A transaction has begun.
  func withCursor(
    _ sql: String, _ parameters: [PostgresParameter], _ body: (Cursor) throws -> Void
  ) throws {
    cursors += 1
    defer { cursors -= 1 }
    let cursor = Cursor(connection: self, name: "heartwood_\(cursors)")
    _ = try query("DECLARE \(cursor.name) NO SCROLL CURSOR FOR \(sql)", parameters, isPrepared: false)
    do {
      try body(cursor)
    } catch {
      // In vain if the server has ended the transaction.
      try? run("CLOSE \(cursor.name)")
      throw error
    }
    try run("CLOSE \(cursor.name)")
  }
}
