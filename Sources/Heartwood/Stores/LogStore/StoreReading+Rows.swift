import HeartwoodEngine

/// Reading the rows of a family.
extension StoreReading {
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
}
