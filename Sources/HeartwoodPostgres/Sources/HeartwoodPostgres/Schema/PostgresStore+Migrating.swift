import Foundation
import Heartwood

/// Migrating the store. Each connection holds a shared advisory lock of the schema, a migration the exclusive one: no program saves with a model
/// that the tables do not have any more.
extension PostgresStore {
  func migrateTables(_ migration: InferredMigration) throws {
    try translating(.migration, "the store at \(address.text) was not migrated, and is as before") {
      try pool.withConnection(retries: false) { connection in
        let lock = SchemaLock(schema.name)
        // PostgreSQL takes 0 for no limit.
        let milliseconds = max(1, Int((options[.timeout] as? Double ?? 5) * 1000))
        // Its own would be in the way.
        try lock.release(connection)
        defer { try? lock.take(connection) }
        do {
          try connection.transaction {
            try lock.takeAlone(connection, milliseconds: milliseconds)
            try migrate(migration, connection)
          }
        } catch let failure as PostgresCommitFailure {
          throw failure.failure
        } catch let failure as PostgresFailure where failure.isLockTimeout {
          throw HeartwoodError(
            .persistentStoreTimeout,
            "the store at \(address.text) was not migrated: other programs have it open; close it there, and open it again",
            underlying: failure)
        }
        pool.expect(model: try modelDigest(connection))
      }
    }
  }

  private func migrate(_ migration: InferredMigration, _ connection: PostgresConnection) throws {
    let hashes = try storedHashes(connection)
    let wanted = managedObjectModel.entityVersionHashesByName
    // Others may have migrated it meanwhile.
    guard hashes != wanted else { return }
    guard hashes == migration.sourceModel.entityVersionHashesByName else {
      throw HeartwoodError(
        .persistentStoreIncompatibleVersionHash,
        "the store at \(address.text) was migrated to another model meanwhile; open it again")
    }
    try PostgresMigration(migration, self, connection).run()
    try pool.using(connection) { try deriveAll(migration, connection) }
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
    for (name, hash) in managedObjectModel.entityVersionHashesByName {
      try write(["hash/\(name)": hash], connection)
    }
  }

  private func storedHashes(_ connection: PostgresConnection) throws -> [String: Data] {
    let rows = try connection.query("SELECT key, value FROM \(schema.metadataTable) WHERE key LIKE 'hash/%'")
    return Dictionary(
      (0..<rows.count).map { (String(rows.text($0, 0).dropFirst(5)), Data(rows.bytes($0, 1))) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Of the model in the database; nil if it is not kept there.
  func modelDigest(_ connection: PostgresConnection) throws -> String? {
    let rows = try connection.query("SELECT md5(value) FROM \(schema.metadataTable) WHERE key = 'model'")
    return rows.count == 0 ? nil : rows.text(0, 0)
  }

  /// What each new connection begins with.
  func begin(_ connection: PostgresConnection, _ expected: String?) throws {
    try SchemaLock(address.schema).take(connection)
    guard let expected, try modelDigest(connection) != expected else { return }
    throw HeartwoodError(
      .persistentStoreIncompatibleVersionHash,
      "the store at \(address.text) was migrated by another program since it was opened here: close it, and open it with the new model"
    )
  }
}

/// The advisory lock of a schema, of sessions and of transactions.
private struct SchemaLock {
  private let key: String

  init(_ schema: String) { key = "hashtextextended(\("heartwood \(schema)".literal), 0)" }

  func take(_ connection: PostgresConnection) throws {
    try connection.run("SELECT pg_advisory_lock_shared(\(key))")
  }

  func release(_ connection: PostgresConnection) throws {
    try connection.run("SELECT pg_advisory_unlock_shared(\(key))")
  }

  /// - Precondition: A transaction has begun, which holds the lock until its end.
  func takeAlone(_ connection: PostgresConnection, milliseconds: Int) throws {
    try connection.run("SET LOCAL lock_timeout = \(milliseconds)")
    try connection.run("SELECT pg_advisory_xact_lock(\(key))")
  }
}
