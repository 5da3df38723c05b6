import HeartwoodEngine

/// One generation of a store: a snapshot of the engine, read as rows.
///
/// Rows are read in place and not copied. The snapshot keeps their bytes valid. Rows of former layouts are converted: those of a scan are
/// valid until its body returns, those that are read by key as long as the view, or until its one reader releases them.
final class LogStoreView: StoreView, StoreReading {
  let reader: Snapshot
  let schema: StoreSchema
  let identity: StoreIdentity
  let converted = ConvertedRows(keepsPlaces: true)
  private let hasOneReader: Bool

  init(
    _ reader: Snapshot, _ schema: StoreSchema, _ identity: StoreIdentity = .none, hasOneReader: Bool = false
  ) {
    self.reader = reader
    self.schema = schema
    self.identity = identity
    self.hasOneReader = hasOneReader
  }

  var convertsRows: Bool { schema.hasFormerLayouts }

  func forOneReader() -> any StoreView {
    convertsRows && !hasOneReader ? LogStoreView(reader, schema, identity, hasOneReader: true) : self
  }

  func releaseRows() {
    if hasOneReader { converted.trim() }
  }

  func prepareToRead(_ relationship: RelationshipDescription) {}

  func indexes(of entity: EntityDescription) -> [StoreIndex] { schema.entity(entity).indexes }

  func scanIndex(_ index: StoreIndex, equal value: Value, _ body: (UInt64) throws -> Bool) throws {
    let beginning = IndexBounds.beginning(index, value)
    guard IndexBounds.isWhole(beginning) else {
      let keys = IndexBounds(whole: beginning).keys
      return try scanEntries(index, in: keys, reversed: false) { key, _ in try body(key) }
    }
    try HeartwoodError.translating("the store cannot be read") {
      try beginning.withUnsafeBytes { bytes in
        try reader.scan(beginningWith: bytes) { entry, _ in try body(KeySpace.lastNumber(entry)) }
      }
    }
  }

  var generation: UInt64 { reader.generation.rawValue }

  var generations: StoreGenerations { StoreGenerations(identity, generation) }

  /// The newest transaction whose history is deleted; 0 if none is.
  func newestDeletedHistory() throws -> UInt64 { try number(KeySpace.deletedHistoryKey) ?? 0 }
}
