import CLibPQ
import Foundation
import Heartwood

/// A connection to a server; used by one thread at a time.
final class PostgresConnection: @unchecked Sendable {
  let handle: OpaquePointer
  /// How many cursors are open.
  var cursors = 0
  /// The names of prepared statements, by their text.
  private var prepared: [String: String] = [:]
  private static let mostPrepared = 300
  /// Whether each transaction may have another session of the server: statements are not prepared then.
  private let hasPooler: Bool
  /// The most time of a statement in seconds; nil for no limit.
  private let limit: Double?
  /// Whether the connection is not used any more: its server has not answered in time, or takes no transactions.
  private var isGivenUp = false
  /// Asks whether the program still waits for the current statement; nil if it is not cancelled.
  private var isCancelled: (() -> Bool)?
  /// Whether statements of the current work may take any time.
  private var isUnlimited = false

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
      let failure = PostgresFailure.unconnected(made)
      PQfinish(made)
      throw failure
    }
    handle = made
    (hasPooler, limit) = (address.hasPooler, address.limits.statement)
    // Notices are for people at a terminal.
    _ = PQsetNoticeProcessor(made, { _, _ in }, nil)
  }

  deinit { PQfinish(handle) }

  var isUsable: Bool {
    !isGivenUp && PQstatus(handle) == CONNECTION_OK && PQtransactionStatus(handle) == PQTRANS_IDLE
  }

  /// Whether no transaction has begun.
  var isIdle: Bool { PQtransactionStatus(handle) == PQTRANS_IDLE }

  /// Executes statements without parameters.
  func run(_ sql: String) throws { _ = try runLast(sql, mayCancel: true) }

  /// Executes statements without parameters, and returns the rows of the last one, in PostgreSQL's text form.
  ///
  /// - Parameter mayCancel: Whether the server may be told to cancel them, when they take longer than their limit.
  @discardableResult
  func runLast(_ sql: String, mayCancel: Bool) throws -> PostgresRows {
    guard PQsendQuery(handle, sql) == 1 else { throw PostgresFailure(handle) }
    return try receive(mayCancel: mayCancel)
  }

  /// Executes a statement, which is prepared at its first use.
  ///
  /// - Parameter isPrepared: False for a statement whose text means something else each time.
  func query(
    _ sql: String, _ parameters: [PostgresParameter] = [], isPrepared: Bool = true
  ) throws -> PostgresRows {
    let name = hasPooler || !isPrepared ? nil : try prepare(sql, parameters.map(\.type))
    try withPointers(parameters) { values, lengths, formats in
      let isSent =
        if let name {
          PQsendQueryPrepared(handle, name, Int32(parameters.count), values, lengths, formats, 1)
        } else {
          PQsendQueryParams(
            handle, sql, Int32(parameters.count), parameters.map { Oid($0.type.rawValue) }, values, lengths,
            formats, 1)
        }
      guard isSent == 1 else { throw PostgresFailure(handle) }
    }
    return try receive(mayCancel: true)
  }

  /// Executes statements in one round trip, as one transaction that ends at the first error.
  func queryAll(_ statements: [(sql: String, parameters: [PostgresParameter])]) throws -> [PostgresRows] {
    guard PQenterPipelineMode(handle) == 1 else { throw PostgresFailure(handle) }
    // Results that are not read yet are lost with the connection.
    isGivenUp = true
    for statement in statements {
      let parameters = statement.parameters
      try withPointers(parameters) { values, lengths, formats in
        let isSent = PQsendQueryParams(
          handle, statement.sql, Int32(parameters.count), parameters.map { Oid($0.type.rawValue) }, values,
          lengths, formats, 1)
        guard isSent == 1 else { throw PostgresFailure(handle) }
      }
    }
    guard PQpipelineSync(handle) == 1 else { throw PostgresFailure(handle) }
    var rows: [PostgresRows] = []
    var failure: (any Error)?
    for _ in statements {
      do {
        rows.append(try receive(mayCancel: true))
      } catch {
        if failure == nil { failure = error }
        if (error as? PostgresFailure)?.isConnectionLost == true { throw error }
      }
    }
    while let sync = PQgetResult(handle) {
      let isEnd = PQresultStatus(sync) == PGRES_PIPELINE_SYNC
      PQclear(sync)
      if isEnd { break }
    }
    guard PQexitPipelineMode(handle) == 1 else { throw failure ?? PostgresFailure(handle) }
    isGivenUp = false
    if let failure { throw failure }
    return rows
  }

  private func prepare(_ sql: String, _ types: [PostgresType]) throws -> String {
    if let known = prepared[sql] { return known }
    if prepared.count >= Self.mostPrepared {
      try run("DEALLOCATE ALL")
      prepared = [:]
    }
    let name = "h\(prepared.count)"
    let numbers = types.map { Oid($0.rawValue) }
    guard PQsendPrepare(handle, name, sql, Int32(types.count), numbers) == 1 else {
      throw PostgresFailure(handle)
    }
    _ = try receive(mayCancel: true)
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

  // MARK: Answers

  /// Runs the body, whose statements are cancelled when `isCancelled` is true: they throw `CancellationError` then.
  func cancelling<Result>(when isCancelled: (() -> Bool)?, _ body: () throws -> Result) rethrows -> Result {
    self.isCancelled = isCancelled
    defer { self.isCancelled = nil }
    return try body()
  }

  /// Runs the body, whose statements may take any time.
  func withoutLimit<Result>(_ body: () throws -> Result) rethrows -> Result {
    isUnlimited = true
    defer { isUnlimited = false }
    return try body()
  }

  /// Why the server was told to cancel a statement.
  private enum Cancellation { case timeLimit, program }

  /// How long a statement runs before it is asked whether the program still waits for it, in milliseconds.
  private static let step = 20.0
  /// How long a server may take to say that a statement is cancelled, in seconds.
  private static let grace = 5.0

  /// Waits for the answer to what was sent.
  private func receive(mayCancel: Bool) throws -> PostgresRows {
    var wait = Wait(end: isUnlimited ? nil : limit.map { PostgresBackoff.now + $0 })
    var last: OpaquePointer?
    // The first error is the one that ended the statements.
    while let next = try nextResult(mayCancel, &wait, after: last) {
      if let known = last, !Self.isSuccess(known) {
        PQclear(next)
        continue
      }
      if let known = last { PQclear(known) }
      last = next
    }
    guard let last else { throw PostgresFailure(handle) }
    let cancellation = wait.cancellation
    if Self.isSuccess(last) {
      guard let cancellation else { return PostgresRows(last) }
      // It has ended at the same moment. The request may still come, and would hit the next statement.
      PQclear(last)
      isGivenUp = true
      if cancellation == .program { throw CancellationError() }
      throw PostgresFailure("the statement has taken longer than its limit", isTimeLimit: true)
    }
    defer { PQclear(last) }
    let failure = PostgresFailure(handle, last)
    if failure.isConnectionLost || cancellation != nil && !failure.isCancellation { isGivenUp = true }
    switch cancellation {
    case .program? where failure.isCancellation: throw CancellationError()
    case .timeLimit? where failure.isCancellation: throw failure.asTimeLimit()
    default: throw failure
    }
  }

  private static func isSuccess(_ result: OpaquePointer) -> Bool {
    let status = PQresultStatus(result)
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY
  }

  /// The wait for the answer to statements, from the first result to the end.
  private struct Wait {
    /// When the time is over; nil for no limit.
    var end: Double?
    /// Nil while the server was not told to cancel.
    var cancellation: Cancellation?
  }

  /// The next result of what was sent, nil at the end.
  private func nextResult(_ mayCancel: Bool, _ wait: inout Wait, after last: OpaquePointer?) throws
    -> OpaquePointer?
  {
    do {
      try waitForResult(mayCancel, &wait)
    } catch {
      if let last { PQclear(last) }
      throw error
    }
    return PQgetResult(handle)
  }

  /// Waits until the next result can be read without waiting; cancels the statement if it takes too long, or if the program does not wait
  /// any more.
  private func waitForResult(_ mayCancel: Bool, _ wait: inout Wait) throws {
    guard wait.end != nil || isCancelled != nil else { return }
    while PQisBusy(handle) != 0 {
      var milliseconds = wait.end.map { max(0, ($0 - PostgresBackoff.now) * 1000).rounded(.up) } ?? .infinity
      if isCancelled != nil, wait.cancellation == nil { milliseconds = min(milliseconds, Self.step) }
      var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      let ready = poll(&socket, 1, milliseconds.isFinite ? Int32(min(milliseconds, 1e9)) : -1)
      if ready > 0 {
        // A lost connection is found by what reads the results.
        guard PQconsumeInput(handle) == 1 else { return }
        continue
      }
      if wait.cancellation == nil, isCancelled?() == true {
        wait.cancellation = .program
      } else if let limit = wait.end, limit <= PostgresBackoff.now {
        guard wait.cancellation == nil, mayCancel else {
          isGivenUp = true
          if wait.cancellation == .program { throw CancellationError() }
          throw PostgresFailure(
            "the server has not answered in time", isConnectionLost: true, isTimeLimit: true)
        }
        wait.cancellation = .timeLimit
      } else {
        continue
      }
      cancel()
      wait.end = PostgresBackoff.now + Self.grace
    }
  }

  /// Asks the server to cancel the statement that it executes. That needs a connection of its own, which is not waited for.
  private func cancel() {
    guard let cancel = PQgetCancel(handle) else { return }
    let request = CancelRequest(cancel: cancel)
    Thread.detachNewThread {
      var message = [CChar](repeating: 0, count: 256)
      // If it fails, the answer does not come in time either.
      _ = PQcancel(request.cancel, &message, Int32(message.count))
      PQfreeCancel(request.cancel)
    }
  }

  /// The handle by which libpq cancels a statement, on any thread.
  private struct CancelRequest: @unchecked Sendable {
    let cancel: OpaquePointer
  }

  // MARK: Transactions

  /// Runs the body in a transaction, which is taken back if the body throws.
  ///
  /// - Parameters:
  ///   - beginning: The statements that begin it.
  ///   - ending: The statements that commit it.
  ///   - check: Gets the rows of the last statement of the beginning, in PostgreSQL's text form.
  ///   - committed: Gets the rows of the last statement of the ending.
  /// - Throws: The error of the body; `PostgresCommitFailure` if the commit was sent and not confirmed.
  func transaction<Result>(
    beginning: String, ending: String = "COMMIT", check: (PostgresRows) throws -> Void = { _ in },
    committed: (PostgresRows) -> Void = { _ in }, _ body: () throws -> Result
  ) throws -> Result {
    let result: Result
    do {
      try check(try runLast(beginning, mayCancel: true))
      result = try body()
    } catch {
      if !isGivenUp { try? run("ROLLBACK") }
      throw error
    }
    do {
      // Never cancelled: a commit that waits for another server would be confirmed without it.
      committed(try runLast(ending, mayCancel: false))
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
