import CLibPQ
import Foundation

/// Copying whole tables.
extension PostgresConnection {
  /// Copies the rows of a query to a table of the same or another database, in constant memory.
  ///
  /// - Parameters:
  ///   - query: The statement whose rows are copied.
  ///   - target: The connection that writes, in a transaction.
  ///   - table: The table, with the columns that the query's are written to.
  func copy(_ query: String, to target: PostgresConnection, _ table: String) throws {
    try begin("COPY (\(query)) TO STDOUT (FORMAT binary)", PGRES_COPY_OUT)
    try target.begin("COPY \(table) FROM STDIN (FORMAT binary)", PGRES_COPY_IN)
    do {
      var buffer: UnsafeMutablePointer<CChar>?
      while true {
        let count = PQgetCopyData(handle, &buffer, 0)
        guard count > 0, let bytes = buffer else {
          guard count == -1 else { throw PostgresFailure(handle) }
          break
        }
        defer { PQfreemem(bytes) }
        guard PQputCopyData(target.handle, bytes, count) == 1 else { throw PostgresFailure(target.handle) }
      }
      try end()
    } catch {
      _ = PQputCopyEnd(target.handle, "the source could not be read")
      try? target.end()
      throw error
    }
    guard PQputCopyEnd(target.handle, nil) == 1 else { throw PostgresFailure(target.handle) }
    try target.end()
  }

  private func begin(_ sql: String, _ expected: ExecStatusType) throws {
    guard let result = PQexec(handle, sql) else { throw PostgresFailure(handle) }
    defer { PQclear(result) }
    guard PQresultStatus(result) == expected else { throw PostgresFailure(handle, result) }
  }

  /// Takes the answer to the whole of a copy.
  private func end() throws {
    while let result = PQgetResult(handle) {
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_COMMAND_OK else {
        let failure = PostgresFailure(handle, result)
        while let rest = PQgetResult(handle) { PQclear(rest) }
        throw failure
      }
    }
  }
}
