import HeartwoodEngine
import HeartwoodFiles

/// The schemas of the generations of an open store.
///
/// The store may be opened elsewhere, in this process or another, with a model that declares other indexes. That opening builds and drops indexes
/// while the store is open here. Each generation is therefore read, and each transaction written, with the indexes that it contains, not with those
/// that this container's model declares.
final class SchemaCache: Sendable {
  private struct Known: Sendable {
    /// The schema record as the store has it; empty if it is not known.
    var record: [UInt8]
    var schema: StoreSchema

    func isOf(_ bytes: UnsafeRawBufferPointer) -> Bool {
      !record.isEmpty && record.withUnsafeBytes { bytes.isEqual(to: $0) }
    }
  }

  private let model: ManagedObjectModel
  private let path: String
  /// The entities that the store has; nil for all of the model.
  private let names: Set<String>?
  private let known: Guarded<Known>

  init(_ schema: StoreSchema, path: String, _ names: Set<String>?) {
    model = schema.model
    self.path = path
    self.names = names
    known = Guarded(Known(record: [], schema: schema))
  }

  /// The schema that was used last.
  var newest: StoreSchema { known.withLock { $0.schema } }

  /// The schema of a generation, or of the state that a transaction sees.
  ///
  /// - Throws: `.persistentStoreIncompatibleVersionHash` if the store now has another model, `.persistentStoreDamaged` if its schema record cannot
  ///   be decoded, `.persistentStoreOpen` if a newer version wrote the record.
  func schema(of reader: some KeyValueReader) throws -> StoreSchema {
    let newest = known.withLock { $0 }
    // A generation before the first schema record has no rows.
    guard let bytes = try KeySpace.schemaKey.withUnsafeBytes({ try reader.pointer(of: $0) }) else {
      return newest.schema
    }
    if newest.isOf(bytes) { return newest.schema }
    let schema = try decoded(bytes)
    known.withLock { $0 = Known(record: Array(bytes), schema: schema) }
    return schema
  }

  /// Like `schema(of:)`, but returns the schema that was used last if the record cannot be read or decoded.
  func schema(ofSnapshot snapshot: Snapshot) throws -> StoreSchema {
    do {
      return try schema(of: snapshot)
    } catch let error as HeartwoodError where error.code == .persistentStoreIncompatibleVersionHash {
      throw error
    } catch {
      return newest
    }
  }

  private func decoded(_ bytes: UnsafeRawBufferPointer) throws -> StoreSchema {
    let record = try SchemaRecord(decoding: bytes)
    let differences = record.differences(from: try SchemaRecord(numbering: model, names))
    guard differences.isEmpty else { throw HeartwoodError.migrated(path, differences) }
    return try StoreSchema(model, record)
  }
}
