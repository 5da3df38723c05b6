/// The databases that speak PostgreSQL's protocol, and what they do in another way.
///
/// Only PostgreSQL's own server has run the tests; the others are followed by their documentation.
enum PostgresDialect: String, Sendable {
  case postgres
  case cockroach
  case yugabyte
  case citus

  /// Whether advisory locks keep programs apart. Otherwise each transaction locks the row with the model.
  var hasAdvisoryLocks: Bool {
    switch self {
    case .postgres, .citus: true
    case .cockroach, .yugabyte: false
    }
  }

  /// The words after BEGIN. A transaction that only runs serializable is tried again as a whole when another one was in the way.
  var isolation: String {
    switch self {
    case .cockroach: "ISOLATION LEVEL SERIALIZABLE"
    case .postgres, .yugabyte, .citus: "ISOLATION LEVEL READ COMMITTED"
    }
  }

  /// Whether there is a lock of rows that does not keep others from referring to them.
  var hasNoKeyLocks: Bool { self != .cockroach }

  /// Whether unique values and references may be checked at the end of a transaction.
  var hasDeferredConstraints: Bool { self == .postgres }

  /// Whether the database finds references to missing objects itself. Rows that are spread over servers may refer to rows of others.
  var hasReferences: Bool {
    switch self {
    case .postgres, .yugabyte: true
    case .cockroach, .citus: false
    }
  }

  /// Whether the history is kept: it needs notices, and what is checked at the end of a transaction.
  var hasHistory: Bool { self == .postgres }

  /// Whether a batch may keep all other writers of a table away.
  var hasTableLocks: Bool { self == .postgres || self == .citus }
}
