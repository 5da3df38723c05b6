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

  /// The connection of the transaction that the current call executes: what it reads meanwhile is read in the transaction.
  @TaskLocal private static var bound: (pool: ObjectIdentifier, connection: PostgresConnection)?

  /// Runs the body, in which `withConnection` uses a connection that is borrowed already.
  func using<Result>(_ connection: PostgresConnection, _ body: () throws -> Result) rethrows -> Result {
    try Self.$bound.withValue((ObjectIdentifier(self), connection), operation: body)
  }

  /// Runs the body with a connection.
  ///
  /// - Parameter retries: Whether the body may be called again with a new connection if the first one was lost: it only reads.
  func withConnection<Result>(
    retries: Bool, _ body: (PostgresConnection) throws -> Result
  ) throws -> Result {
    if let (pool, connection) = Self.bound, pool == ObjectIdentifier(self) { return try body(connection) }
    do {
      return try borrow(body)
    } catch let failure as PostgresFailure where failure.isConnectionLost && retries {
      return try borrow(body)
    }
  }

  private func borrow<Result>(_ body: (PostgresConnection) throws -> Result) throws -> Result {
    let connection = try take()
    defer { putBack(connection) }
    return try body(connection)
  }

  private func take() throws -> PostgresConnection {
    condition.lock()
    while idle.isEmpty, used >= address.pool { condition.wait() }
    used += 1
    let known = idle.popLast()
    let model = model
    condition.unlock()
    if let known { return known }
    do {
      let connection = try PostgresConnection(address)
      try begin(connection, model)
      return connection
    } catch {
      release(nil)
      throw error
    }
  }

  private func putBack(_ connection: PostgresConnection) { release(connection) }

  private func release(_ connection: PostgresConnection?) {
    condition.lock()
    used -= 1
    if let connection, connection.isUsable { idle.append(connection) } else { idle = [] }
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
