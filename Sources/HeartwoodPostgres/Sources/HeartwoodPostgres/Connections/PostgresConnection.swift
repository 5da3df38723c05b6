import CLibPQ
import Foundation
import Heartwood

/// A connection to a server; used by one thread at a time.
final class PostgresConnection: @unchecked Sendable {
  private let handle: OpaquePointer
  /// The names of prepared statements, by their text.
  private var prepared: [String: String] = [:]
  private static let mostPrepared = 300

  /// - Throws: `PostgresFailure` if the server cannot be reached, or refuses.
  init(_ address: PostgresAddress) throws {
    var names = address.parameters.map { strdup($0.name) }
    var values = address.parameters.map { strdup($0.value) }
    names.append(nil)
    values.append(nil)
    defer { for text in names + values { free(text) } }
    let made = names.withUnsafeBufferPointer { names in
      values.withUnsafeBufferPointer { values in
        names.withMemoryRebound(to: UnsafePointer<CChar>?.self) { names in
          values.withMemoryRebound(to: UnsafePointer<CChar>?.self) { values in
            PQconnectdbParams(names.baseAddress, values.baseAddress, 0)
          }
        }
      }
    }
    guard let made else { throw PostgresFailure(nil) }
    guard PQstatus(made) == CONNECTION_OK else {
      let failure = PostgresFailure(made)
      PQfinish(made)
      throw failure
    }
    handle = made
    // Notices are for people at a terminal.
    _ = PQsetNoticeProcessor(made, { _, _ in }, nil)
  }

  deinit { PQfinish(handle) }

  var isUsable: Bool { PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE }

  /// Executes statements without parameters.
  func run(_ sql: String) throws {
    guard let result = PQexec(handle, sql) else { throw PostgresFailure(handle) }
    defer { PQclear(result) }
    let status = PQresultStatus(result)
    guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY else {
      throw PostgresFailure(handle, result)
    }
  }

  /// Executes a statement, which is prepared at its first use.
  func query(_ sql: String, _ parameters: [PostgresParameter] = []) throws -> PostgresRows {
    let name = try prepare(sql, parameters.map(\.type))
    return try withPointers(parameters) { values, lengths, formats in
      let result = PQexecPrepared(
        handle, name, Int32(parameters.count), values, lengths, formats, 1)
      guard let result else { throw PostgresFailure(handle) }
      let status = PQresultStatus(result)
      guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
        defer { PQclear(result) }
        throw PostgresFailure(handle, result)
      }
      return PostgresRows(result)
    }
  }

  private func prepare(_ sql: String, _ types: [PostgresType]) throws -> String {
    if let known = prepared[sql] { return known }
    if prepared.count >= Self.mostPrepared {
      try run("DEALLOCATE ALL")
      prepared = [:]
    }
    let name = "h\(prepared.count)"
    let numbers = types.map { Oid($0.rawValue) }
    guard let result = PQprepare(handle, name, sql, Int32(types.count), numbers) else {
      throw PostgresFailure(handle)
    }
    defer { PQclear(result) }
    guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw PostgresFailure(handle, result) }
    prepared[sql] = name
    return name
  }

  private func withPointers<Result>(
    _ parameters: [PostgresParameter],
    _ body: ([UnsafePointer<CChar>?], [Int32], [Int32]) throws -> Result
  ) throws -> Result {
    // One block for all values, which lives during the call.
    var starts: [Int?] = []
    var size = 0
    for parameter in parameters {
      starts.append(parameter.bytes.map { _ in size })
      size += parameter.bytes?.count ?? 0
    }
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, size), alignment: 8)
    defer { block.deallocate() }
    for case (let start?, let bytes?) in zip(starts, parameters.map(\.bytes)) {
      UnsafeMutableRawBufferPointer(rebasing: block[start..<start + bytes.count]).copyBytes(from: bytes)
    }
    let base = UnsafeRawPointer(block.baseAddress)
    let values = starts.map { start in
      start.flatMap { base?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
    }
    return try body(
      values, parameters.map { Int32($0.bytes?.count ?? 0) }, parameters.map { _ in Int32(1) })
  }

  // MARK: Transactions

  /// Runs the body in a transaction, which is taken back if the body throws.
  ///
  /// - Throws: The error of the body; `PostgresCommitFailure` if the commit was sent and not confirmed.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    // Set explicitly, as the server may have another default: a statement sees what others have committed while
    // it waited for a lock.
    try run("BEGIN ISOLATION LEVEL READ COMMITTED")
    let result: Result
    do {
      result = try body()
    } catch {
      try? run("ROLLBACK")
      throw error
    }
    do {
      try run("COMMIT")
    } catch let failure as PostgresFailure {
      if !failure.isConnectionLost { try? run("ROLLBACK") }
      throw PostgresCommitFailure(failure: failure)
    }
    return result
  }
}

/// A commit that has failed. If the connection was lost meanwhile, the transaction may be in the database.
struct PostgresCommitFailure: Error {
  let failure: PostgresFailure
}
