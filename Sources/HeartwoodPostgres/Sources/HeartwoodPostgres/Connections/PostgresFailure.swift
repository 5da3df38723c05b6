import CLibPQ
import Heartwood

/// An error of the server, or of the connection to it.
struct PostgresFailure: Error, CustomStringConvertible {
  let message: String
  /// The SQLSTATE; empty if the connection failed.
  let state: String
  /// The constraint that was violated, if any.
  let constraint: String
  /// Whether the connection is lost, or its server does not take transactions any more.
  let isConnectionLost: Bool
  /// Whether the statement, or the wait for a connection, has taken longer than its limit.
  private(set) var isTimeLimit = false
  /// Whether no server is a matter of the address, such as a wrong password: another attempt would fail, too.
  private(set) var isPermanent = false

  var description: String { state.isEmpty ? message : "\(message) (SQLSTATE \(state))" }
  var isUniquenessViolation: Bool { state == "23505" }
  var isReferenceViolation: Bool { state == "23503" }
  /// A lock was not free in time.
  var isLockTimeout: Bool { state == "55P03" }
  /// A statement was cancelled.
  var isCancellation: Bool { state == "57014" }
  /// Another transaction was in the way; the same one may succeed when it is tried again.
  var isSerializationFailure: Bool { state == "40001" || state == "40P01" }

  /// Whether a commit that has failed so may have been executed: the connection is lost, or a server of several does not know the answer of
  /// the others.
  var leavesOutcomeOpen: Bool { isConnectionLost || state == "40003" }
  /// The tables or columns of a statement are not there.
  var isAboutTables: Bool { state == "42703" || state == "42P01" }

  init(_ connection: OpaquePointer?, _ result: OpaquePointer? = nil) {
    func field(_ code: Character) -> String {
      guard let result, let value = PQresultErrorField(result, Int32(code.asciiValue ?? 0)) else { return "" }
      return String(cString: value)
    }
    let state = field("C")
    let text = field("M")
    let detail = field("D")
    let isClosed = connection.map { PQstatus($0) != CONNECTION_OK } ?? true
    isConnectionLost = isClosed || Self.endsSession(state)
    self.state = isClosed ? "" : state
    constraint = field("n")
    if !text.isEmpty {
      message = detail.isEmpty ? text : "\(text): \(detail)"
    } else {
      let lines = connection.flatMap { PQerrorMessage($0) }.map { String(cString: $0) } ?? "no connection"
      message = lines.split(separator: "\n").joined(separator: "; ")
    }
  }

  /// The failure of a statement by which an error came about: itself, or what a read in the middle of a transaction has met. Nil if the error is
  /// another one, or says already that something has taken too long.
  init?(causing error: any Error) {
    if let error = error as? HeartwoodError {
      guard error.code != .persistentStoreTimeout, let failure = error.underlying as? PostgresFailure else {
        return nil
      }
      self = failure
    } else {
      guard let failure = error as? PostgresFailure else { return nil }
      self = failure
    }
  }

  /// A failure that this process has found itself.
  init(_ message: String, isConnectionLost: Bool = false, isTimeLimit: Bool = false) {
    (self.message, self.isConnectionLost, self.isTimeLimit) = (message, isConnectionLost, isTimeLimit)
    (state, constraint) = ("", "")
  }

  /// A connection could not be made.
  static func unconnected(_ connection: OpaquePointer?) -> PostgresFailure {
    var failure = PostgresFailure(connection)
    // libpq says why in words only, those of all servers that it has tried.
    let permanent = [
      "authentication failed", "does not exist", "no pg_hba.conf entry", "invalid", "certificate",
      "does not support SSL",
    ]
    let passing = [
      "refused", "Is the server running", "timeout", "read-only", "starting up", "shutting down", "recovery",
      "closed the connection", "reset", "No route", "unreachable",
    ]
    failure.isPermanent =
      permanent.contains(where: failure.message.contains)
      && !passing.contains(where: failure.message.contains)
    return failure
  }

  /// Of a statement that was cancelled for its time limit.
  func asTimeLimit() -> PostgresFailure {
    var failure = self
    failure.isTimeLimit = true
    return failure
  }

  /// The server shuts down or starts, or has become one that takes no writes: another server, or the next connection, may.
  private static func endsSession(_ state: String) -> Bool {
    state.hasPrefix("08") || ["57P01", "57P02", "57P03", "25006"].contains(state)
  }
}
