import Foundation
import Heartwood

/// Removing, replacing and copying whole stores.
extension PostgresStore {
  static func destroy(_ url: URL, _ options: Options) throws {
    try changing(url, options, "was not destroyed") { store, connection in
      guard let schema = try StoredSchema(store.address.schema, connection) else { return }
      try schema.drop(connection)
      try schema.dropItself(connection)
    }
  }

  static func replace(_ destination: URL, _ options: Options, from source: URL) throws {
    let from = try PostgresAddress(source)
    try changing(destination, options, "was not replaced") { store, connection in
      let reading = try PostgresConnection(from)
      try PostgresSchemaLock(named: from.schema, from).take(reading)
      try reading.transaction(beginning: PostgresAddress.reading) {
        guard let origin = try StoredSchema(from.schema, reading) else {
          throw HeartwoodError(.persistentStoreOpen, "there is no store at \(from.text)")
        }
        let made = PostgresSchema(origin.model, named: "\(store.address.schema).replacing".sqlName, .postgres)
        try connection.run("CREATE SCHEMA \(made.name.quoted)")
        for statement in made.statements { try connection.run(statement) }
        try connection.run("DELETE FROM \(PostgresHistory(schema: made.name).ends)")
        try origin.copy(to: made, from: reading, connection)
        try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
        let isThere = try connection.query(
          "SELECT 1 FROM pg_namespace WHERE nspname = $1::text", [.text(store.address.schema)])
        if isThere.count == 0 { try connection.run("CREATE SCHEMA \(store.address.schema.quoted)") }
        try StoredSchema(store.address.schema, connection)?.drop(connection)
        for table in StoredSchema.tables(of: made, isWhole: true) {
          try connection.run("ALTER TABLE \(table) SET SCHEMA \(store.address.schema.quoted)")
        }
        try connection.run("DROP SCHEMA \(made.name.quoted)")
        if isThere.count == 0 { try StoredSchema.noteMade(store.address.schema, connection) }
      }
    }
  }

  static func copying(_ url: URL, _ body: (URL) throws -> Void) throws {
    let address = try PostgresAddress(url)
    try address.requireSessions()
    let prefix = "\(address.schema).copy-"
    let name = "\(prefix)\(UUID().uuidString.prefix(8).lowercased())".sqlName
    func lock(_ name: String) -> PostgresSchemaLock { PostgresSchemaLock(named: "\(name) in use", address) }
    let copy = url.with(schema: name)
    // Says that the copy is in use, as long as the connection exists.
    let keeping = try translating("the store at \(address.text) was not copied") {
      let keeping = try PostgresConnection(address)
      try lock(name).take(keeping)
      let others = try keeping.query(
        "SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname::text, $1::text)", [.text(prefix)])
      for row in 0..<others.count where try lock(others.text(row, 0)).tryToTake(keeping) {
        try? destroy(url.with(schema: others.text(row, 0)), [.forceDestroy: true])
      }
      return keeping
    }
    defer {
      withExtendedLifetime(keeping) {}
      try? destroy(copy, [.forceDestroy: true])
    }
    try replace(copy, [.forceDestroy: true], from: url)
    try body(copy)
  }

  /// The model in a schema; nil if no store is there.
  static func model(at url: URL) throws -> ManagedObjectModel? {
    let address = try PostgresAddress(url)
    return try translating("the store at \(address.text) was not read") {
      try StoredSchema(address.schema, PostgresConnection(address))?.model
    }
  }

  // MARK: Steps

  private struct Place {
    let address: PostgresAddress
  }

  /// Runs the body in a transaction that no program has the store open in.
  private static func changing(
    _ url: URL, _ options: Options, _ what: String, _ body: (Place, PostgresConnection) throws -> Void
  ) throws {
    let address = try PostgresAddress(url)
    try address.requireSessions()
    let seconds = options[.timeout] as? Double ?? (options[.timeout] as? Int).map(Double.init) ?? 5
    try translating("the store at \(address.text) \(what)") {
      let connection = try PostgresConnection(address)
      try connection.transaction(beginning: address.beginning) {
        if options[.forceDestroy] as? Bool != true {
          do {
            try PostgresSchemaLock(named: address.schema, address).takeAlone(
              connection, milliseconds: max(1, Int(seconds * 1000)))
          } catch let failure as PostgresFailure where failure.isLockTimeout {
            throw HeartwoodError(
              .persistentStoreTimeout,
              "the store at \(address.text) \(what): other programs have it open; close it there, and try again",
              underlying: failure)
          }
        }
        try body(Place(address: address), connection)
      }
    }
  }

  private static func translating<Result>(_ what: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let commit as PostgresCommitFailure {
      throw HeartwoodError(
        .persistentStoreOperation, "\(what): \(commit.failure)", underlying: commit.failure,
        isOutcomeUnknown: commit.failure.isConnectionLost)
    } catch let failure as PostgresFailure {
      throw HeartwoodError(.persistentStoreOperation, "\(what): \(failure)", underlying: failure)
    }
  }
}

extension PostgresAddress {
  /// - Throws: `.persistentStoreUnsupportedRequestType` for other servers than PostgreSQL's, and where sessions are not kept.
  func requireSessions() throws(HeartwoodError) {
    guard dialect == .postgres, !hasPooler else {
      throw HeartwoodError(
        .persistentStoreUnsupportedRequestType,
        "whole stores are removed, replaced and copied on PostgreSQL's own server only, and without a pooler of transactions: \(text)"
      )
    }
  }
}

/// The schema of a store as the database has it, by the model that is kept there.
struct StoredSchema {
  let model: ManagedObjectModel
  let schema: PostgresSchema
  /// Whether the schema was made for the store.
  private let isMade: Bool

  /// The result is nil if no store is in the schema.
  init?(_ name: String, _ connection: PostgresConnection) throws {
    let metadata = "\(name.quoted).\"_heartwood\""
    let known = try connection.query("SELECT to_regclass($1::text) IS NOT NULL", [.text(metadata)])
    guard known.bytes(0, 0).first == 1 else { return nil }
    let rows = try connection.query("SELECT key, value FROM \(metadata) WHERE key IN ('model', 'schema')")
    var (data, isMade) = (Data?.none, false)
    for row in 0..<rows.count {
      if rows.text(row, 0) == "model" { data = Data(rows.bytes(row, 1)) } else { isMade = true }
    }
    guard let data else { return nil }
    model = try PostgresStore.managedObjectModel(data)
    _ = try PersistentStoreCoordinator(checking: model)
    schema = PostgresSchema(model, named: name, .postgres)
    self.isMade = isMade
  }

  /// Notes that a schema was made for its store.
  static func noteMade(_ name: String, _ connection: PostgresConnection) throws {
    try connection.run(
      "INSERT INTO \(name.quoted).\"_heartwood\" VALUES ('schema', '') ON CONFLICT (key) DO NOTHING")
  }

  /// The tables of objects and pairs, with those of the store itself.
  static func tables(of schema: PostgresSchema, isWhole: Bool) -> [String] {
    let own =
      isWhole
      ? [schema.metadataTable, schema.transactionTable] + PostgresHistory(schema: schema.name).tables : []
    return schema.tables.map(\.sqlName) + schema.joins.map(\.sqlName) + own
  }

  /// Removes the tables. Without CASCADE: what others have made of them is not removed.
  func drop(_ connection: PostgresConnection) throws {
    try PostgresSchema(model, named: schema.nameOfSuccessor, .postgres).dropRemains(connection)
    let tables = Self.tables(of: schema, isWhole: true)
    try connection.run("DROP TABLE IF EXISTS \(tables.joined(separator: ", "))")
  }

  /// Removes the schema if it was made for the store, and nothing is left in it.
  func dropItself(_ connection: PostgresConnection) throws {
    guard isMade else { return }
    let left = try connection.query(
      "SELECT 1 FROM pg_depend d JOIN pg_namespace n ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid "
        + "WHERE n.nspname = $1::text LIMIT 1", [.text(schema.name)])
    if left.count == 0 { try connection.run("DROP SCHEMA \(schema.name.quoted)") }
  }

  /// Copies all rows to tables of the same model.
  func copy(to made: PostgresSchema, from reading: PostgresConnection, _ connection: PostgresConnection)
    throws
  {
    func copy(_ source: String, _ target: String, _ columns: [String]) throws {
      let names = columns.map(\.quoted).joined(separator: ", ")
      try reading.copy("SELECT \(names) FROM \(source)", to: connection, "\(target) (\(names))")
    }
    for (table, target) in zip(schema.tables, made.tables) {
      let own = ["_id", "_version"] + (table.isFamily ? ["_entity"] : [])
      let positions = table.orderedReferences.map {
        PostgresTable.positionColumn(table.column($0.0, of: $0.1))
      }
      try copy(table.sqlName, target.sqlName, own + table.columns.map(\.name) + positions)
      let last = try reading.query(
        "SELECT last_value, is_called FROM \(schema.name.quoted).\(table.sequence.quoted)")
      _ = try connection.query(
        "SELECT setval($1::text::regclass, $2::int8, $3::bool)",
        [
          .text("\(made.name.quoted).\(target.sequence.quoted)"), .integer(last.integer(0, 0)),
          .boolean(last.bytes(0, 1).first == 1),
        ])
    }
    for (join, target) in zip(schema.joins, made.joins) {
      try copy(join.sqlName, target.sqlName, ["source", "target", "source_position", "target_position"])
    }
    try copy(schema.metadataTable, made.metadataTable, ["key", "value"])
    try connection.run("DELETE FROM \(made.metadataTable) WHERE key = 'schema'")
    let (history, copied) = (PostgresHistory(schema: schema.name), PostgresHistory(schema: made.name))
    guard try history.exists(reading) else {
      return try connection.run("INSERT INTO \(copied.ends) VALUES (0, 0)")
    }
    try copy(
      history.transactions, copied.transactions,
      ["number", "made", "author", "context", "bundle", "process", "store"])
    try copy(
      history.changes, copied.changes,
      ["number", "place", "kind", "entity", "properties", "objects", "tombstones"])
    try copy(history.ends, copied.ends, ["newest", "deleted"])
    try copy(history.consumers, copied.consumers, ["name", "record"])
  }
}
