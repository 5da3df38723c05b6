import HeartwoodEngine

/// The view of a transaction: the newest rows and the transaction's own.
///
/// Its rows are valid until the transaction's next change. One thread uses it, that of the transaction, before the transaction ends.
final class TransactionView: StoreView, StoreReading, @unchecked Sendable {
  let reader: WriteTransaction
  let schema: StoreSchema
  let converted = ConvertedRows(keepsPlaces: false)

  let identity: StoreIdentity

  init(_ reader: WriteTransaction, _ schema: StoreSchema, _ identity: StoreIdentity = .none) {
    self.reader = reader
    self.schema = schema
    self.identity = identity
  }

  /// That of the state that the transaction began from.
  var generation: UInt64 { reader.generation.rawValue }
  var generations: StoreGenerations { StoreGenerations(identity, generation) }
  var convertsRows: Bool { schema.hasFormerLayouts }
  func releaseRows() { converted.trim() }
  func prepareToRead(_ relationship: RelationshipDescription) {}
  func indexes(of entity: EntityDescription) -> [StoreIndex] { schema.entity(entity).indexes }
}

extension LogStoreTransaction {
  func view() throws -> any StoreView { try transactionView() }

  func transactionView() throws -> TransactionView {
    try writeEntries()
    return TransactionView(reader, schema, identity)
  }

  func keys(in index: StoreIndex, like row: RowView) throws -> [UInt64] {
    guard let entry = IndexKey.entry(index, row, 0) else { return [] }
    let whole = IndexKey.whole(index, row)
    return try keys(with: entry.dropLast(IndexKey.keySize)).filter { key in
      // Long values are compared completely, because their entries contain only a hash. Entries may not be written yet.
      try self.row(index.entity.rootEntity, key).map { IndexKey.whole(index, $0) == whole } ?? false
    }
  }
}
