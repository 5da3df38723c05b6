import CLibPQ

/// An error of the server, or of the connection to it.
struct PostgresFailure: Error, CustomStringConvertible {
  let message: String
  /// The SQLSTATE; empty if the connection failed.
  let state: String
  /// The constraint that was violated, if any.
  let constraint: String
  /// Whether the connection is lost.
  let isConnectionLost: Bool

  var description: String { state.isEmpty ? message : "\(message) (SQLSTATE \(state))" }
  var isUniquenessViolation: Bool { state == "23505" }
  var isReferenceViolation: Bool { state == "23503" }
  /// A lock was not free in time.
  var isLockTimeout: Bool { state == "55P03" }
  /// Another transaction was in the way; the same one may succeed when it is tried again.
  var isSerializationFailure: Bool { state == "40001" || state == "40P01" }

  init(_ connection: OpaquePointer?, _ result: OpaquePointer? = nil) {
    func field(_ code: Character) -> String {
      guard let result, let value = PQresultErrorField(result, Int32(code.asciiValue ?? 0)) else { return "" }
      return String(cString: value)
    }
    let state = field("C")
    let text = field("M")
    let detail = field("D")
    isConnectionLost = connection.map { PQstatus($0) != CONNECTION_OK } ?? true
    self.state = isConnectionLost ? "" : state
    constraint = field("n")
    if !text.isEmpty {
      message = detail.isEmpty ? text : "\(text): \(detail)"
    } else {
      let lines = connection.flatMap { PQerrorMessage($0) }.map { String(cString: $0) } ?? "no connection"
      message = lines.split(separator: "\n").joined(separator: "; ")
    }
  }
}
