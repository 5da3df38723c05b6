import Foundation
import Heartwood

/// Migrating the store. Each connection holds a shared advisory lock of the schema, a migration the exclusive one: no program saves with a model
/// that the tables do not have any more.
extension PostgresStore {
  func migrateTables(_ migration: InferredMigration) throws {
    try holdingStore { connection in
      guard try needsMigration(from: migration.sourceModel, connection) else { return }
      try PostgresMigration(migration, self, connection).run()
      try pool.using(connection) { try deriveAll(migration, connection) }
      try replaceModel(connection)
    }
  }

  func replaceTables(
    from source: ManagedObjectModel, _ make: (_ source: URL, _ destination: URL) throws -> Void
  ) throws {
    let former = PostgresSchema(source, named: schema.name, schema.dialect)
    let made = PostgresSchema(managedObjectModel, named: former.nameOfSuccessor, schema.dialect)
    try holdingStore { connection in
      guard try needsMigration(from: source, connection) else {
        storedMetadata[MetadataKey.storeUUID] = try storedIdentifier(connection)
        return
      }
      // Outside the transaction, which must not hold a lock of the schema in which others make the store.
      let outside = try PostgresConnection(address)
      try made.dropRemains(outside)
      do {
        try HeldSchemas.reading { token in try make(url.with(token: token), url.with(schema: made.name)) }
      } catch {
        try? made.dropRemains(outside)
        throw error
      }
      let own = [made.metadataTable, made.transactionTable] + PostgresHistory(schema: made.name).tables
      try connection.run("DROP TABLE IF EXISTS \(own.joined(separator: ", "))")
      try former.replaceTables(by: made, connection)
      // It is that of other objects.
      try history.clear(connection)
      try write(["uuid": Data((storedMetadata[MetadataKey.storeUUID] as? String ?? "").utf8)], connection)
      try replaceModel(connection)
    }
  }

  /// Runs the body in a transaction that no other program has the store open in, and runs it again as a whole if the connection is lost, or the
  /// server ends the transaction, and nothing of it is there.
  private func holdingStore(_ body: (PostgresConnection) throws -> Void) throws {
    try translating(.migration, "the store at \(address.text) was not migrated, and is as before") {
      let expected = pool.expectedModel
      // A connection that asks for the outcome finds either model.
      pool.expect(model: nil)
      do {
        let digest: String? = try repeating({ true }) { id, backoff, result in
          try pool.withConnection(retries: false, &backoff) { connection in
            try holdingStore(id, connection) {
              try body(connection)
              result = .some(try modelDigest(connection))
            }
          }
        }
        pool.expect(model: digest)
      } catch let lost as PostgresLostCommit {
        throw HeartwoodError(
          .migration,
          "the connection was lost while the server committed the migration of the store at \(address.text), so that it may be done: open the "
            + "store again, with the new model: \(lost)", underlying: lost, isOutcomeUnknown: true)
      } catch {
        pool.expect(model: expected)
        throw error
      }
    }
  }

  private func holdingStore(
    _ id: PostgresTransactionID, _ connection: PostgresConnection, _ body: () throws -> Void
  ) throws {
    let lock = PostgresSchemaLock(schema, address)
    // PostgreSQL takes 0 for no limit.
    let milliseconds = max(1, Int((options[.timeout] as? Double ?? 5) * 1000))
    // Its own would be in the way.
    try lock.release(connection)
    defer { try? lock.take(connection) }
    try connection.withoutLimit {
      try commit(id, connection, beginning: address.beginning) {
        do {
          try lock.takeAlone(connection, milliseconds: milliseconds)
        } catch let failure as PostgresFailure where failure.isLockTimeout {
          throw storeIsOpen(failure)
        }
        try body()
      }
    }
  }

  private func storeIsOpen(_ failure: PostgresFailure) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreTimeout,
      "the store at \(address.text) was not migrated: other programs have it open; close it there, and open it again",
      underlying: failure)
  }

  /// Whether the tables have another model than the coordinator: others may have migrated them meanwhile.
  ///
  /// - Throws: `.persistentStoreIncompatibleVersionHash` if they do not have the model of the migration any more.
  private func needsMigration(
    from source: ManagedObjectModel, _ connection: PostgresConnection
  ) throws -> Bool {
    let hashes = try storedHashes(connection)
    guard !managedObjectModel.hasVersionHashes(hashes) else { return false }
    guard source.hasVersionHashes(hashes) else {
      throw HeartwoodError(
        .persistentStoreIncompatibleVersionHash,
        "the store at \(address.text) was migrated to another model meanwhile; open it again")
    }
    return true
  }

  private func replaceModel(_ connection: PostgresConnection) throws {
    try connection.run("DELETE FROM \(schema.metadataTable) WHERE key LIKE 'hash/%'")
    try writeModel(connection)
  }

  /// Computes derived attributes that are new, or have another expression.
  private func deriveAll(_ migration: InferredMigration, _ connection: PostgresConnection) throws {
    guard let derivation = derivation(of: migration) else { return }
    for entity in managedObjectModel.entities where !entity.isAbstract && migration.derivesAnew(entity) {
      let table = schema.table(entity)
      let own = ownEntity(entity, false, table).map { "(\($0)) AND " } ?? ""
      var last: Int64 = .min
      while true {
        let rows = try connection.query(
          "SELECT t0._id FROM \(table.sqlName) t0 WHERE \(own)t0._id > $1::int8 ORDER BY t0._id LIMIT \(Self.mostRows)",
          [.integer(last)])
        guard rows.count > 0 else { break }
        derivation.noteAll((0..<rows.count).map { object(entity, rows.integer($0, 0)) })
        try derivation.forEachPart { try writeDerived($0, connection) }
        last = rows.integer(rows.count - 1, 0)
      }
    }
  }

  /// Writes the coordinator's model and its hashes.
  func writeModel(_ connection: PostgresConnection) throws {
    let former = storedMetadata[MetadataKey.formerModelVersionChecksums] as? [String] ?? []
    try write(["model": try modelData, "former": Data(former.joined(separator: "\n").utf8)], connection)
    try writeStage(connection)
    for (name, hash) in managedObjectModel.entityVersionHashesByName {
      try write(["hash/\(name)": hash], connection)
    }
  }

  /// Writes the stage of a migration that is not finished.
  func writeStage(_ connection: PostgresConnection) throws {
    if let stage = storedMetadata[MetadataKey.pendingMigrationStage] as? String {
      try write(["stage": Data(stage.utf8)], connection)
    } else {
      try connection.run("DELETE FROM \(schema.metadataTable) WHERE key = 'stage'")
    }
  }

  private func storedHashes(_ connection: PostgresConnection) throws -> [String: Data] {
    let rows = try connection.query("SELECT key, value FROM \(schema.metadataTable) WHERE key LIKE 'hash/%'")
    return Dictionary(
      (0..<rows.count).map { (String(rows.text($0, 0).dropFirst(5)), Data(rows.bytes($0, 1))) },
      uniquingKeysWith: { first, _ in first })
  }

  private func storedIdentifier(_ connection: PostgresConnection) throws -> String? {
    let rows = try connection.query("SELECT value FROM \(schema.metadataTable) WHERE key = 'uuid'")
    return rows.count == 0 ? nil : String(decoding: rows.bytes(0, 0), as: UTF8.self)
  }

  /// Of the model in the database; nil if it is not kept there.
  func modelDigest(_ connection: PostgresConnection) throws -> String? {
    let rows = try connection.query("SELECT md5(value) FROM \(schema.metadataTable) WHERE key = 'model'")
    return rows.count == 0 ? nil : rows.text(0, 0)
  }

  /// Begins a new connection: locks the schema for it, and checks that it has the expected model.
  func begin(_ connection: PostgresConnection, _ expected: String?) throws {
    let lock = PostgresSchemaLock(schema, address)
    // Each transaction and each read has its own check then.
    guard !lock.isOfTransactions else { return }
    if !HeldSchemas.mayRead(url) { try lock.begin(connection) }
    guard let expected else { return }
    try checkModel(try modelDigest(connection), expected)
  }

  /// - Throws: `.persistentStoreIncompatibleVersionHash` if the tables have another model than this program expects.
  func checkModel(_ found: String?, _ expected: String?) throws {
    guard let expected, found != expected else { return }
    throw HeartwoodError(
      .persistentStoreIncompatibleVersionHash,
      "the store at \(address.text) was migrated by another program since it was opened here: close it, and open it with the new model"
    )
  }

  /// Whether the process has the schema locked for a migration that reads this store.
  var isHeldByMigration: Bool { HeldSchemas.mayRead(url) }
}

/// The stores of this process that are read while a migration has them locked, by tokens in their URLs.
private enum HeldSchemas {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var tokens: Set<String> = []

  static func reading(_ body: (_ token: String) throws -> Void) rethrows {
    let token = UUID().uuidString
    lock.withLock { _ = tokens.insert(token) }
    defer { lock.withLock { _ = tokens.remove(token) } }
    try body(token)
  }

  static func mayRead(_ url: URL) -> Bool {
    guard let token = url.fragment else { return false }
    return lock.withLock { tokens.contains(token) }
  }
}

extension URL {
  fileprivate func with(token: String) -> URL {
    var parts = URLComponents(url: self, resolvingAgainstBaseURL: false)
    parts?.fragment = token
    return parts?.url ?? self
  }

  func with(schema: String) -> URL {
    var parts = URLComponents(url: self, resolvingAgainstBaseURL: false)
    let others = parts?.queryItems?.filter { $0.name != "schema" } ?? []
    parts?.queryItems = others + [URLQueryItem(name: "schema", value: schema)]
    return parts?.url ?? self
  }
}
