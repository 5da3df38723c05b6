import HeartwoodEngine

/// The reading that views and transactions share.
protocol StoreReading: RowSource {
  associatedtype Reader: KeyValueReader
  var reader: Reader { get }
  var schema: StoreSchema { get }
  var identity: StoreIdentity { get }
  /// The rows of former layouts in the form of the model.
  var converted: ConvertedRows { get }
  /// Called before the entries of a relationship are read.
  func prepareToRead(_ relationship: RelationshipDescription) throws
}

extension StoreReading {
  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView? {
    let bytes = try HeartwoodError.translating("a row cannot be read") {
      try KeySpace.withRowKey(schema.keyNumber(of: root), key) { try reader.pointer(of: $0) }
    }
    return try bytes.map { try row($0, of: schema.family(of: root)) }
  }

  /// The row with these bytes of the store, in the form of the model.
  @inline(__always)
  func row(_ bytes: UnsafeRawBufferPointer, of family: RowFamily) throws(HeartwoodError) -> RowView {
    if family.isPlain { return try RowView(validating: bytes, of: family) }
    return try converted.row(bytes, of: family)
  }

  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    try prepareToRead(relationship)
    guard relationship.isToMany else { return try toOneDestination(relationship, of: key, body) }
    let isOrdered = relationship.isOrdered
    let prefix = KeySpace.source(
      isOrdered ? KeySpace.order : KeySpace.link, schema.number(of: relationship), key)
    try scan(.prefix(prefix)) { entry, value in
      try body(isOrdered ? KeySpace.number(inValue: value) : KeySpace.lastNumber(entry))
    }
  }

  func links(
    _ relationship: RelationshipDescription, from first: UInt64, through last: UInt64,
    _ body: (UInt64, UInt64) throws -> Bool
  ) throws {
    try prepareToRead(relationship)
    let isOrdered = relationship.isOrdered
    let (kind, number) = (isOrdered ? KeySpace.order : KeySpace.link, schema.number(of: relationship))
    let range = KeyRange(
      from: KeySpace.source(kind, number, first), through: KeySpace.entry(kind, number, last, .max))
    try scan(range) { entry, value in
      let source = try KeySpace.source(of: entry)
      return try body(
        source, isOrdered ? KeySpace.number(inValue: value) : KeySpace.lastNumber(entry))
    }
  }

  private func toOneDestination(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    guard let root = relationship.entity?.rootEntity, let row = try row(root, key) else { return }
    let column = root.column(of: relationship, row)
    if let column, !row.isNull(column) { _ = try body(row.key(column)) }
  }

  func destinationCount(_ relationship: RelationshipDescription, of key: UInt64) throws -> Int {
    guard relationship.isToMany else {
      var count = 0
      try toOneDestination(relationship, of: key) { _ in
        count += 1
        return false
      }
      return count
    }
    try prepareToRead(relationship)
    let kind = relationship.isOrdered ? KeySpace.order : KeySpace.link
    return try count(.prefix(KeySpace.source(kind, schema.number(of: relationship), key)))
  }

  /// Whether a to-many relationship has a destination.
  ///
  /// - Complexity: O(log n)
  func hasDestination(
    _ relationship: RelationshipDescription, _ target: UInt64, of key: UInt64
  ) throws -> Bool {
    try prepareToRead(relationship)
    let kind = relationship.isOrdered ? KeySpace.rank : KeySpace.link
    return try contains(KeySpace.entry(kind, schema.number(of: relationship), key, target))
  }
}

/// The history.
extension StoreReading {
  /// Calls `body` with the transactions after `number` that have a history, oldest first, until it returns false.
  func history(
    after number: UInt64, _ selection: HistorySelection = .all, _ body: (HistoryRecord) throws -> Bool
  ) throws {
    let numbered = selection.isAll ? nil : selection.numbered(schema)
    try scan(historyKeys(after: number)) { key, value in
      try body(HistoryCoding.decode(value, number: KeySpace.lastNumber(key), schema, numbered))
    }
  }

  /// Calls `body` with the number and the time of the same transactions, until it returns false. Their changes are not read.
  func historyTimes(
    after number: UInt64, reversed: Bool, _ body: (UInt64, Int64) throws -> Bool
  ) throws {
    try scan(historyKeys(after: number), reversed: reversed) { key, value in
      let number = try KeySpace.lastNumber(key)
      return try body(number, HistoryCoding.time(value, number: number))
    }
  }

  private func historyKeys(after number: UInt64) -> KeyRange {
    let start = KeyRange.Bound(KeySpace.historyKey(number), isInclusive: false)
    return KeyRange(lower: start, upper: KeyRange.prefix([KeySpace.history]).upper)
  }
}

/// Reading from the engine, with its errors translated to `HeartwoodError`.
extension StoreReading {
  func scan(
    _ range: KeyRange, reversed: Bool = false,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try HeartwoodError.translating("the store cannot be read") {
      try reader.scan(range, reversed: reversed, body)
    }
  }

  func count(_ range: KeyRange) throws -> Int {
    try HeartwoodError.translating("the store cannot be read") {
      Int(truncatingIfNeeded: try reader.count(in: range))
    }
  }

  func contains(_ key: [UInt8]) throws -> Bool {
    try HeartwoodError.translating("the store cannot be read") {
      try key.withUnsafeBytes { try reader.pointer(of: $0) } != nil
    }
  }

  /// Whether there are history records, or change sets will be made of those of the next saves.
  var keepsHistory: Bool {
    get throws {
      try number(KeySpace.newestHistoryKey) ?? 0 != number(KeySpace.deletedHistoryKey) ?? 0
        || replica().stamped > 0
    }
  }

  /// A value that is one number; nil if the key does not exist.
  func number(_ key: [UInt8]) throws -> UInt64? {
    try HeartwoodError.translating("the store cannot be read") {
      try reader.number(key)
    }
  }
}

extension KeyValueReader {
  /// A value that is one number; nil if the key does not exist.
  func number(_ key: [UInt8]) throws -> UInt64? {
    try key.withUnsafeBytes { try pointer(of: $0) }.map { try KeySpace.number(inValue: $0) }
  }
}

extension EntityDescription {
  /// The column of a relationship in a row of this root entity's family; nil if the row's entity does not have the relationship.
  fileprivate func column(of relationship: RelationshipDescription, _ row: RowView) -> Column? {
    guard let entity = try? entity(numbered: row.entityNumber), let owner = relationship.entity,
      entity.isKindOf(entity: owner)
    else { return nil }
    return entity.layout.columns[relationship.slot]
  }
}
