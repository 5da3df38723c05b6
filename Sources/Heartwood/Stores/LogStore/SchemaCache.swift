import Foundation
import HeartwoodEngine
import HeartwoodFiles

/// The schemas that the generations of an open store have.
///
/// A store may be opened elsewhere, in this process or another, with a model that has other indexes: these are built
/// and dropped then, while the store is open here. So each generation is read, and each transaction written, with
/// the indexes that are in it, and not with those that the model of this container declares.
final class SchemaCache: Sendable {
  private struct Known: Sendable {
    /// The schema record as it is in the store; empty where it is not known.
    var record: [UInt8]
    var schema: StoreSchema

    func isOf(_ bytes: UnsafeRawBufferPointer) -> Bool {
      guard bytes.count == record.count, let first = bytes.baseAddress else { return false }
      return record.withUnsafeBytes { $0.baseAddress.map { memcmp($0, first, bytes.count) == 0 } ?? false }
    }
  }

  private let model: ManagedObjectModel
  private let path: String
  private let known: Guarded<Known>

  init(_ schema: StoreSchema, path: String) {
    model = schema.model
    self.path = path
    known = Guarded(Known(record: [], schema: schema))
  }

  /// The schema that was used last.
  var newest: StoreSchema { known.withLock { $0.schema } }

  /// The schema of a generation, or of what a transaction sees.
  ///
  /// - Throws: `.persistentStoreIncompatibleVersionHash` where the store has another model's rows by now,
  ///   `.persistentStoreDamaged` where its schema cannot be read.
  func schema(of reader: some KeyValueReader) throws -> StoreSchema {
    let newest = known.withLock { $0 }
    // A generation before the first model has no rows.
    guard let bytes = try KeySpace.schemaKey.withUnsafeBytes({ try reader.pointer(of: $0) }) else {
      return newest.schema
    }
    if newest.isOf(bytes) { return newest.schema }
    let schema = try decoded(bytes)
    known.withLock { $0 = Known(record: Array(bytes), schema: schema) }
    return schema
  }

  /// As `schema(of:)`; where the record is damaged, rows are still read with the schema that was used last.
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
    let differences = record.differences(from: try SchemaRecord(numbering: model))
    guard differences.isEmpty else { throw HeartwoodError.incompatible(path, differences) }
    return try StoreSchema(model, record)
  }
}
