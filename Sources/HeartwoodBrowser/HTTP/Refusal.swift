/// Why a request is not answered with what it asks for, and the status that says so.
package struct Refusal: Error, Equatable, Sendable {
  package let status: Status
  /// One sentence for people.
  package let message: String

  package init(_ status: Status, _ message: String) {
    (self.status, self.message) = (status, message)
  }
}

/// The statuses of RFC 9110 that the server sends.
package enum Status: Int, Sendable {
  case ok = 200
  case badRequest = 400
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case requestTimeout = 408
  case contentTooLarge = 413
  case fieldsTooLarge = 431
  case internalError = 500
  case unavailable = 503
  case versionNotSupported = 505

  var reason: String {
    switch self {
    case .ok: "OK"
    case .badRequest: "Bad Request"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .requestTimeout: "Request Timeout"
    case .contentTooLarge: "Content Too Large"
    case .fieldsTooLarge: "Request Header Fields Too Large"
    case .internalError: "Internal Server Error"
    case .unavailable: "Service Unavailable"
    case .versionNotSupported: "HTTP Version Not Supported"
    }
  }
}
