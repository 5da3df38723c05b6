import HeartwoodEngine

/// One generation of a store: a snapshot of the engine, read as rows.
///
/// Rows are read in place and not copied. The snapshot keeps their bytes valid. Rows of former layouts are converted: those of a scan are
/// valid until its body returns, those that are read by key as long as the view, or until its one reader releases them.
final class LogStoreView: StoreView, StoreReading {
  let reader: Snapshot
  let schema: StoreSchema
  let converted = ConvertedRows(keepsPlaces: true)
  private let hasOneReader: Bool

  init(_ reader: Snapshot, _ schema: StoreSchema, hasOneReader: Bool = false) {
    self.reader = reader
    self.schema = schema
    self.hasOneReader = hasOneReader
  }

  var convertsRows: Bool { schema.hasFormerLayouts }

  func forOneReader() -> any StoreView {
    convertsRows && !hasOneReader ? LogStoreView(reader, schema, hasOneReader: true) : self
  }

  func releaseRows() {
    if hasOneReader { converted.trim() }
  }

  func prepareToRead(_ relationship: RelationshipDescription) {}

  func indexes(of entity: EntityDescription) -> [StoreIndex] { schema.entity(entity).indexes }

  var generation: UInt64 { reader.generation.rawValue }

  func scanRows(
    of root: EntityDescription, from start: UInt64?, reversed: Bool, _ body: (FoundRow) throws -> Bool
  ) throws {
    let family = schema.family(of: root)
    let range = rows(of: root, from: start, reversed: reversed)
    guard family.isPlain else { return try scanConvertedRows(range, of: family, reversed, body) }
    try scan(range, reversed: reversed) { key, bytes in
      try body(FoundRow(key: KeySpace.lastNumber(key), row: RowView(validating: bytes, of: family)))
    }
  }

  private func scanConvertedRows(
    _ range: KeyRange, of family: RowFamily, _ reversed: Bool, _ body: (FoundRow) throws -> Bool
  ) throws {
    try scan(range, reversed: reversed) { key, bytes in
      let number = try KeySpace.lastNumber(key)
      return try ConvertedRows.withRow(bytes, of: family) { try body(FoundRow(key: number, row: $0)) }
    }
  }

  private func rows(of root: EntityDescription, from start: UInt64?, reversed: Bool) -> KeyRange {
    let number = schema.keyNumber(of: root)
    var range = KeyRange.prefix(KeySpace.head(KeySpace.row, number))
    guard let start else { return range }
    let bound = KeyRange.Bound(KeySpace.rowKey(number, start), isInclusive: true)
    if reversed { range.upper = bound } else { range.lower = bound }
    return range
  }

  func rowCount(of root: EntityDescription) throws -> Int {
    try count(.prefix(KeySpace.head(KeySpace.row, schema.keyNumber(of: root))))
  }

  func rowKey(of root: EntityDescription, atRank rank: Int) throws -> UInt64? {
    let head = KeySpace.head(KeySpace.row, schema.keyNumber(of: root))
    let entry = try HeartwoodError.translating("the store cannot be read") {
      try reader.entry(at: reader.rank(of: head) + UInt64(rank))
    }
    guard let key = entry?.key, key.starts(with: head) else { return nil }
    return try key.withUnsafeBytes { try KeySpace.lastNumber($0) }
  }

  func newestDeletedHistory() throws -> UInt64 { try number(KeySpace.deletedHistoryKey) ?? 0 }

  func history(after number: UInt64, _ body: (HistoryRecord) throws -> Bool) throws {
    guard number < .max else { return }
    let end = KeyRange.prefix([KeySpace.history]).upper
    let start = KeyRange.Bound(KeySpace.historyKey(number), isInclusive: false)
    try scan(KeyRange(lower: start, upper: end)) { key, value in
      try body(HistoryCoding.decode(value, number: KeySpace.lastNumber(key), schema))
    }
  }
}
