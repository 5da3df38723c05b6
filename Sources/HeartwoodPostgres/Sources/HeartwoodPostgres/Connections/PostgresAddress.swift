import Foundation
import Heartwood

/// Where a database is: `postgres://user:password@host:port/database?schema=name&pool=4`.
///
/// Other parameters are libpq's, such as `sslmode`, `connect_timeout`, or `host` for the folder of a Unix socket.
struct PostgresAddress: Sendable {
  /// The schema that has the tables; `public` unless the URL names one.
  let schema: String
  /// The most connections that are open at once.
  let pool: Int
  /// libpq's parameters.
  let parameters: [(name: String, value: String)]
  /// The address without the password, for messages.
  let text: String

  /// - Throws: `.persistentStoreOpen` if the URL is not of this form.
  init(_ url: URL) throws(HeartwoodError) {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false),
      parts.scheme == "postgres" || parts.scheme == "postgresql"
    else {
      throw Self.refusal(url.absoluteString, "it does not begin with postgres://")
    }
    var parameters: [(name: String, value: String)] = []
    if let user = parts.user, !user.isEmpty { parameters.append(("user", user)) }
    if let password = parts.password { parameters.append(("password", password)) }
    if let host = parts.host, !host.isEmpty { parameters.append(("host", host)) }
    if let port = parts.port { parameters.append(("port", "\(port)")) }
    let database = parts.path.drop { $0 == "/" }
    if !database.isEmpty { parameters.append(("dbname", String(database))) }
    var (schema, pool) = ("public", 4)
    let items = parts.queryItems ?? []
    (parts.password, parts.fragment) = (nil, nil)
    let text = parts.string ?? "postgres"
    for item in items {
      let value = item.value ?? ""
      switch item.name {
      case "schema": schema = value
      case "pool":
        guard let number = Int(value), number > 0 else {
          throw Self.refusal(text, "pool must be a number of connections, not \(value)")
        }
        pool = number
      default: parameters.append((item.name, value))
      }
    }
    guard !schema.isEmpty else { throw Self.refusal(text, "schema has no name") }
    parameters.append(("application_name", "Heartwood"))
    parameters.append(("client_encoding", "UTF8"))
    (self.schema, self.pool, self.parameters, self.text) = (schema, pool, parameters, text)
  }

  private static func refusal(_ url: String, _ why: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "the store at \(url) was not opened: \(why); use a URL such as postgres://user@host:5432/database?schema=name"
    )
  }
}
