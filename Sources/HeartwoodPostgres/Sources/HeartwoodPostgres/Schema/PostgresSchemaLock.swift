/// Keeps programs from using the tables of a schema with another model than these have.
///
/// A session holds a shared advisory lock while its connection is open. Where sessions are not kept, each transaction takes the lock, or a
/// lock of the row with the model, and reads that row. A migration holds the lock alone.
struct PostgresSchemaLock: Sendable {
  private let key: String
  private let model: String
  private let address: PostgresAddress

  init(_ schema: PostgresSchema, _ address: PostgresAddress) { self.init(named: schema.name, address) }

  init(named name: String, _ address: PostgresAddress) {
    key = "hashtextextended(\("heartwood \(name)".literal), 0)"
    model = "FROM \(name.quoted).\"_heartwood\" WHERE key = 'model'"
    self.address = address
  }

  /// Returns whether no other program has it; nothing else is done with it then.
  func tryToTake(_ connection: PostgresConnection) throws -> Bool {
    try connection.query("SELECT pg_try_advisory_lock(\(key))").bytes(0, 0).first == 1
  }

  /// Whether transactions take the lock, rather than connections.
  var isOfTransactions: Bool { address.hasPooler || !address.dialect.hasAdvisoryLocks }

  /// Locks the schema for a connection.
  func take(_ connection: PostgresConnection) throws {
    guard !isOfTransactions else { return }
    try connection.run("SELECT pg_advisory_lock_shared(\(key))")
  }

  /// Locks the schema for a new connection, and has the server end the session, with its locks, when the network has lost this side.
  func begin(_ connection: PostgresConnection) throws {
    guard !isOfTransactions else { return }
    let settings = [
      "tcp_keepalives_idle = 30", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 3",
      "tcp_user_timeout = 60000",
    ]
    let isKnown = address.dialect == .postgres || address.dialect == .citus
    let statements = isKnown ? settings.map { "SET \($0); " }.joined() : ""
    try connection.run("\(statements)SELECT pg_advisory_lock_shared(\(key))")
  }

  func release(_ connection: PostgresConnection) throws {
    guard !isOfTransactions else { return }
    try connection.run("SELECT pg_advisory_unlock_shared(\(key))")
  }

  /// The statements after BEGIN that lock the schema for a transaction and read the digest of the model; nil if the connection has it.
  var statementsOfTransaction: String? {
    guard isOfTransactions else { return nil }
    guard address.dialect.hasAdvisoryLocks else { return "SELECT md5(value) \(model) FOR SHARE" }
    return "SELECT pg_advisory_xact_lock_shared(\(key)); SELECT md5(value) \(model)"
  }

  /// Waits until no other program has the schema locked.
  ///
  /// - Precondition: A transaction has begun, which holds the lock until its end.
  func takeAlone(_ connection: PostgresConnection, milliseconds: Int) throws {
    try connection.run("SET LOCAL lock_timeout = \(milliseconds)")
    guard address.dialect.hasAdvisoryLocks else {
      return try connection.run("SELECT 1 \(model) FOR UPDATE")
    }
    try connection.run("SELECT pg_advisory_xact_lock(\(key))")
  }

  /// The statement that reads the digest of the model.
  var digestStatement: String { "SELECT md5(value) \(model)" }
}
