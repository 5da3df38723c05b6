import Foundation
import Heartwood

/// Making the schema of a new store, and its metadata.
extension PostgresStore {
  func create(_ connection: PostgresConnection) throws {
    guard !isReadOnly else {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the store at \(address.text) was not opened: there is none in the schema \(address.schema), and it is read-only: open it for writing once"
      )
    }
    let uuid = UUID().uuidString
    try connection.transaction(beginning: address.beginning) {
      // Two processes may open the store for the first time.
      if address.dialect.hasAdvisoryLocks {
        _ = try connection.query("SELECT pg_advisory_xact_lock($1::int8)", [.integer(0x6865_6172_7477_6f6f)])
      }
      guard try !schema.exists(connection) else { return }
      // A user who may not make schemas may use one that is there.
      let known = try connection.query(
        "SELECT 1 FROM pg_namespace WHERE nspname = $1::text", [.text(schema.name)])
      if known.count == 0 { try connection.run("CREATE SCHEMA \(schema.name.quoted)") }
      for statement in schema.statements { try connection.run(statement) }
      for statement in try schema.distribution(address.distributed) { try connection.run(statement) }
      if known.count == 0 { try StoredSchema.noteMade(schema.name, connection) }
      try write(["uuid": Data(uuid.utf8)], connection)
      try writeModel(connection)
    }
  }

  /// Whether transactions leave their identifiers; makes the table for them if it is missing.
  func notesTransactions(_ connection: PostgresConnection) throws -> Bool {
    if isReadOnly { return false }
    if try schema.notesTransactions(connection) { return true }
    do {
      try connection.run(schema.transactionStatement)
      return true
    } catch let failure as PostgresFailure where !failure.isConnectionLost {
      // A user who may not make tables; or another program has made it at the same moment.
      return try schema.notesTransactions(connection)
    }
  }

  func write(_ values: [String: Data], _ connection: PostgresConnection) throws {
    for (key, value) in values {
      _ = try connection.query(
        "INSERT INTO \(schema.metadataTable) (key, value) VALUES ($1::text, $2::bytea) "
          + "ON CONFLICT (key) DO UPDATE SET value = excluded.value", [.text(key), .data(value)])
    }
  }

  func readMetadata(_ connection: PostgresConnection) throws {
    let rows = try connection.query("SELECT key, value FROM \(schema.metadataTable)")
    var (hashes, values) = ([String: Data](), [String: any Sendable]())
    for row in 0..<rows.count {
      let (key, value) = (rows.text(row, 0), Data(rows.bytes(row, 1)))
      if key == "uuid" {
        values[MetadataKey.storeUUID] = String(decoding: value, as: UTF8.self)
      } else if key.hasPrefix("hash/") {
        hashes[String(key.dropFirst(5))] = value
      } else if key == "model" {
        values[MetadataKey.modelData] = value
      } else if key == "former" {
        let checksums = String(decoding: value, as: UTF8.self).split(separator: "\n").map(String.init)
        values[MetadataKey.formerModelVersionChecksums] = checksums
      } else if key == "stage" {
        values[MetadataKey.pendingMigrationStage] = String(decoding: value, as: UTF8.self)
      } else if key == "program" {
        let list = try? PropertyListSerialization.propertyList(from: value, format: nil)
        for (name, value) in list as? [String: Any] ?? [:] { values[name] = Self.sendable(value) }
      }
    }
    values[MetadataKey.modelVersionHashes] = hashes
    storedMetadata = values
    pool.expect(model: try modelDigest(connection))
    // With another model, the error is that of the hashes.
    guard managedObjectModel.hasVersionHashes(hashes) else { return }
    let missing = try schema.missing(connection)
    guard missing.isEmpty else {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the store at \(address.text) was not opened: the schema \(address.schema) has the model's metadata, and lacks "
          + "\(missing.prefix(5).joined(separator: ", ")): another program has changed its tables; restore them"
      )
    }
  }

  private static func sendable(_ value: Any) -> (any Sendable)? {
    switch value {
    case let text as String: text
    case let date as Date: date
    case let data as Data: data
    case let number as NSNumber:
      switch String(cString: number.objCType) {
      case "c", "B": number.boolValue
      case "f", "d": number.doubleValue
      default: number.intValue
      }
    case let list as [Any]: list.compactMap(sendable)
    case let dictionary as [String: Any]: dictionary.compactMapValues(sendable)
    default: nil
    }
  }
}
