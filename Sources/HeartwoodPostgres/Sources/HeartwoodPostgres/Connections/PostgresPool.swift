import Foundation
import Heartwood

/// The connections of a store: each call borrows one, and waits while as many as allowed are in use.
///
/// A connection that is lost is dropped, with all others that are idle then: a server that was restarted has lost them too.
final class PostgresPool: @unchecked Sendable {
  private let address: PostgresAddress
  private let condition = NSCondition()
  private var idle: [PostgresConnection] = []
  private var used = 0
  private var waiting = 0
  private var lost = 0
  /// The digest of the model that the tables must have; nil while that is not known.
  private var model: String?
  private let begin: (PostgresConnection, String?) throws -> Void

  /// - Parameter begin: Called with each new connection and the digest of the model that its tables must have.
  init(_ address: PostgresAddress, begin: @escaping (PostgresConnection, String?) throws -> Void) {
    self.address = address
    self.begin = begin
  }

  /// Says which model the tables have, for connections that are made from now on.
  func expect(model: String?) {
    condition.lock()
    self.model = model
    condition.unlock()
  }

  /// The digest of the model that the tables must have; nil while that is not known.
  var expectedModel: String? { condition.withLock { model } }

  /// How many connections were lost so far.
  var losses: Int { condition.withLock { lost } }

  /// The connection of the transaction that the current call executes: what it reads meanwhile is read in the transaction.
  @TaskLocal private static var bound:
    (pool: ObjectIdentifier, connection: PostgresConnection, isReading: Bool)?
  /// Whether the current call does not wait for a connection, as its caller keeps one until it returns.
  @TaskLocal private static var mayExceed = false

  /// Whether the current call executes a transaction.
  var isInTransaction: Bool { Self.bound?.pool == ObjectIdentifier(self) }

  /// Runs the body, in which `withConnection` uses a connection that is borrowed already.
  ///
  /// - Parameter isReading: Whether its transaction only reads: what the body writes is not a part of it.
  func using<Result>(
    _ connection: PostgresConnection, isReading: Bool = false, _ body: () throws -> Result
  ) rethrows -> Result {
    try Self.$bound.withValue((ObjectIdentifier(self), connection, isReading), operation: body)
  }

  /// Runs the body outside of a transaction that only reads, with a connection of its own: one more than the limit, if there is no other.
  func apart<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let bound = Self.bound, bound.isReading, bound.pool == ObjectIdentifier(self) else {
      return try body()
    }
    return try Self.$bound.withValue(nil) { try Self.$mayExceed.withValue(true, operation: body) }
  }

  /// Runs the body with a connection.
  ///
  /// A server is looked for as long as the limit of the address says.
  ///
  /// - Parameter retries: Whether the body may be called again with a new connection if the first one was lost: it only reads, or finds out
  ///   what it has done.
  func withConnection<Result>(
    retries: Bool, _ body: (PostgresConnection) throws -> Result
  ) throws -> Result {
    var backoff = PostgresBackoff(address.limits.reconnecting)
    return try withConnection(retries: retries, &backoff, body)
  }

  /// As `withConnection(retries:_:)`, with the time that is left for a call of several parts.
  func withConnection<Result>(
    retries: Bool, _ backoff: inout PostgresBackoff, _ body: (PostgresConnection) throws -> Result
  ) throws -> Result {
    if let bound = Self.bound, bound.pool == ObjectIdentifier(self) { return try body(bound.connection) }
    while true {
      let connection = try take(&backoff)
      do {
        defer { release(connection) }
        return try body(connection)
      } catch let failure as PostgresFailure where failure.isConnectionLost && retries {
        guard backoff.mayTryAgain() else { throw failure }
      }
    }
  }

  private func take(_ backoff: inout PostgresBackoff) throws -> PostgresConnection {
    if let known = try borrow() { return known }
    for attempt in 0... {
      do {
        let connection = try PostgresConnection(address.inOrder(ofAttempt: attempt))
        try begin(connection, expectedModel)
        return connection
      } catch let failure as PostgresFailure
        where failure.isConnectionLost && !failure.isPermanent && backoff.left > 0
      {
        guard backoff.mayTryAgain() else {
          release(nil)
          throw failure
        }
      } catch {
        release(nil)
        throw error
      }
    }
    throw PostgresFailure("no connection", isConnectionLost: true)
  }

  /// Waits until a connection is free, or may be made: returns nil then.
  ///
  /// - Throws: `PostgresFailure` if too many calls wait already, or if it takes too long.
  private func borrow() throws -> PostgresConnection? {
    condition.lock()
    defer { condition.unlock() }
    let limits = address.limits
    if idle.isEmpty, used >= address.pool, !Self.mayExceed {
      if let most = limits.waiters, waiting >= most {
        throw PostgresFailure(
          "all \(address.pool) connections of the pool are in use, and \(waiting) calls wait for one already",
          isTimeLimit: true)
      }
      waiting += 1
      defer { waiting -= 1 }
      let end = limits.waiting.map { Date(timeIntervalSinceNow: $0) } ?? .distantFuture
      while idle.isEmpty, used >= address.pool {
        guard condition.wait(until: end) || (idle.isEmpty == false || used < address.pool) else {
          throw PostgresFailure(
            "all \(address.pool) connections of the pool are in use, and none was free within \(limits.waiting ?? 0) s",
            isTimeLimit: true)
        }
      }
    }
    used += 1
    return idle.popLast()
  }

  private func release(_ connection: PostgresConnection?) {
    condition.lock()
    used -= 1
    if let connection, connection.isUsable {
      idle.append(connection)
    } else {
      idle = []
      lost += 1
    }
    condition.signal()
    condition.unlock()
  }

  /// Closes the connections that are not in use.
  func close() {
    condition.lock()
    idle = []
    condition.unlock()
  }
}
