import Foundation
import Heartwood

/// Where a database is: `postgres://user:password@host:port/database?schema=name&pool=4`, and how the store uses it.
///
/// Other parameters are libpq's, such as `sslmode`, `connect_timeout`, or `host` for the folder of a Unix socket or for several servers.
struct PostgresAddress: Sendable {
  /// The schema that has the tables; `public` unless the URL names one.
  let schema: String
  /// The most connections that are open at once.
  let pool: Int
  private(set) var limits: PostgresLimits
  /// Whether a pooler gives each transaction another session of the server.
  let hasPooler: Bool
  let dialect: PostgresDialect
  /// The root entities whose objects Citus spreads over its servers.
  let distributed: Set<String>
  /// The folders or names of servers that only read.
  let replicas: [String]
  /// How far a replica may be behind, in seconds.
  let replicaLag: Double
  /// The most rows of a batch insert that are kept for another attempt, if a closure makes them.
  let keptRows: Int
  /// libpq's parameters.
  private(set) var parameters: [(name: String, value: String)]
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
    let items = parts.queryItems ?? []
    (parts.password, parts.fragment) = (nil, nil)
    let text = parts.string ?? "postgres"
    var options = Options(text: text)
    for item in items {
      let isOwn = try options.take(item.name, item.value ?? "")
      if !isOwn { parameters.append((item.name, item.value ?? "")) }
    }
    guard !options.schema.isEmpty else { throw Self.refusal(text, "schema has no name") }
    let hosts = parameters.last { $0.name == "host" }?.value ?? ""
    let hasSeveral = hosts.contains(",")
    func setUnlessGiven(_ name: String, _ value: String) {
      if !parameters.contains(where: { $0.name == name }) { parameters.append((name, value)) }
    }
    // The server that takes writes.
    if hasSeveral { setUnlessGiven("target_session_attrs", "read-write") }
    // One that does not answer is not waited for: not long, where there are others.
    setUnlessGiven("connect_timeout", hasSeveral ? "5" : "30")
    setUnlessGiven("keepalives_idle", hasSeveral ? "10" : "30")
    setUnlessGiven("keepalives_interval", hasSeveral ? "5" : "10")
    setUnlessGiven("keepalives_count", "3")
    setUnlessGiven("tcp_user_timeout", hasSeveral ? "20000" : "60000")
    parameters.append(("application_name", "Heartwood"))
    parameters.append(("client_encoding", "UTF8"))
    var limits = options.limits
    limits.reconnecting = options.reconnecting ?? (hasSeveral || options.hasPooler ? 30 : 0)
    (schema, pool, hasPooler) = (options.schema, options.pool, options.hasPooler)
    (dialect, distributed) = (options.dialect, options.distributed)
    (replicas, replicaLag, keptRows) = (options.replicas, options.replicaLag, options.keptRows)
    (self.limits, self.parameters, self.text) = (limits, parameters, text)
  }

  /// The address with the servers in another order: each attempt begins with another one, as libpq goes on to the next only from one that takes no
  /// connection, and not from one that takes it and ends it.
  func inOrder(ofAttempt attempt: Int) -> PostgresAddress {
    var address = self
    for place in parameters.indices where ["host", "hostaddr", "port"].contains(parameters[place].name) {
      let all = parameters[place].value.split(separator: ",", omittingEmptySubsequences: false)
      guard all.count > 1 else { continue }
      let first = attempt % all.count
      address.parameters[place].value = (all[first...] + all[..<first]).joined(separator: ",")
    }
    return address
  }

  /// The address of a server that only reads: `host` or `host:port`.
  func ofReplica(_ place: String) -> PostgresAddress {
    var replica = self
    let parts = place.split(separator: ":", maxSplits: 1).map(String.init)
    replica.parameters.removeAll {
      ["host", "hostaddr", "target_session_attrs"].contains($0.name) || $0.name == "port" && parts.count > 1
    }
    replica.parameters.append(("host", parts.first ?? place))
    if parts.count > 1 { replica.parameters.append(("port", parts[1])) }
    replica.limits.reconnecting = 0
    return replica
  }

  /// The statements that begin a transaction.
  ///
  /// The isolation is set explicitly, as the server may have another default: a statement sees what others have committed while it waited for a lock.
  var beginning: String { "BEGIN \(dialect.isolation)" }

  /// The statement that begins a transaction whose reads are of one moment.
  static let reading = "BEGIN ISOLATION LEVEL REPEATABLE READ"

  /// The parameters of a URL that are the store's own.
  private struct Options {
    let text: String
    var schema = "public"
    var pool = 4
    var limits = PostgresLimits()
    var reconnecting: Double?
    var hasPooler = false
    var dialect = PostgresDialect.postgres
    var distributed: Set<String> = []
    var replicas: [String] = []
    var replicaLag = 10.0
    var keptRows = 20_000

    init(text: String) { self.text = text }

    /// Returns false if the parameter is libpq's.
    mutating func take(_ name: String, _ value: String) throws(HeartwoodError) -> Bool {
      switch name {
      case "schema": schema = value
      case "pool": pool = try number(name, value, 1, "a number of connections")
      case "pool_limit": limits.waiting = try seconds(name, value)
      case "pool_waiters": limits.waiters = try number(name, value, 0, "a number of calls")
      case "reconnect_limit": reconnecting = try seconds(name, value)
      case "statement_limit": limits.statement = try seconds(name, value)
      case "lock_limit": limits.lock = try seconds(name, value)
      case "attempts": limits.attempts = try number(name, value, 1, "a number of attempts")
      case "pooler":
        guard ["none", "session", "transaction"].contains(value) else {
          throw PostgresAddress.refusal(text, "pooler must be none, session or transaction, not \(value)")
        }
        hasPooler = value == "transaction"
      case "dialect":
        guard let known = PostgresDialect(rawValue: value) else {
          throw PostgresAddress.refusal(
            text, "dialect must be postgres, cockroach, yugabyte or citus, not \(value)")
        }
        dialect = known
      case "distributed": distributed = Set(value.split(separator: ",").map(String.init))
      case "replicas": replicas = value.split(separator: ",").map(String.init)
      case "replica_lag": replicaLag = try seconds(name, value)
      case "kept_rows": keptRows = try number(name, value, 0, "a number of rows")
      default: return false
      }
      return true
    }

    private func number(
      _ name: String, _ value: String, _ least: Int, _ what: String
    ) throws(HeartwoodError) -> Int {
      guard let number = Int(value), number >= least else {
        throw PostgresAddress.refusal(text, "\(name) must be \(what), not \(value)")
      }
      return number
    }

    private func seconds(_ name: String, _ value: String) throws(HeartwoodError) -> Double {
      guard let seconds = Double(value), seconds >= 0, seconds < 1e6 else {
        throw PostgresAddress.refusal(text, "\(name) must be a number of seconds, not \(value)")
      }
      return seconds
    }
  }

  private static func refusal(_ url: String, _ why: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreOpen,
      "the store at \(url) was not opened: \(why); use a URL such as postgres://user@host:5432/database?schema=name"
    )
  }
}
