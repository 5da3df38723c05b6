import HeartwoodEngine

/// Rows of former layouts are written again in parts, each a transaction of its own, between which others read and save.
extension LogStore {
  /// Whether rows of former layouts may remain.
  var hasDeferredMigration: Bool {
    get throws { try newestView().schema.record.hasDeferredWork }
  }

  /// How many rows have to be read to find those of former layouts.
  var deferredMigrationRows: Int {
    get throws {
      let view = try newestView()
      return try view.schema.rootEntities.filter { view.schema.hasFormerLayouts(below: $0) }
        .reduce(0) { try $0 + view.rowCount(of: $1) }
    }
  }

  /// Writes all rows of former layouts again.
  func finishDeferredMigration() throws {
    while try continueDeferredMigration() {}
  }

  /// Writes the rows of former layouts of one family again.
  ///
  /// - Parameters:
  ///   - mayGoOn: asked before each transaction, which reads up to 4000 rows.
  ///   - noteRead: called after each of them with the number of rows.
  /// - Returns: Whether some of other families may remain.
  func continueDeferredMigration(
    _ mayGoOn: () -> Bool = { true }, _ noteRead: (Int) -> Void = { _ in }
  ) throws -> Bool {
    try refuseIfReadOnly()
    let schema = try newestView().schema
    guard let root = schema.rootEntities.first(where: { schema.hasFormerLayouts(below: $0) }) else {
      return false
    }
    var next: UInt64? = 0
    while let start = next {
      guard mayGoOn() else { return true }
      let (following, read) = try HeartwoodError.translating(
        "the migration could not be finished", .migration
      ) {
        try engine.write { transaction in
          try RowRewriting(transaction, currentSchema(of: transaction), root).run(from: start)
        }
      }
      noteRead(read)
      next = following
    }
    return try hasDeferredMigration
  }
}

extension StoreSchema {
  fileprivate func hasFormerLayouts(below root: EntityDescription) -> Bool {
    root.selfAndBelow.contains { !entity($0).storage.former.isEmpty }
  }
}

/// Writes a part of a family's rows again, in their present layout.
private struct RowRewriting {
  private let transaction: WriteTransaction
  private let schema: StoreSchema
  private let root: EntityDescription
  /// How many rows one transaction reads.
  private static let batch = 4000

  init(_ transaction: WriteTransaction, _ schema: StoreSchema, _ root: EntityDescription) {
    self.transaction = transaction
    self.schema = schema
    self.root = root
  }

  /// - Returns: The key to go on from, nil at the end, and how many rows were read.
  func run(from start: UInt64) throws -> (next: UInt64?, read: Int) {
    let number = schema.keyNumber(of: root)
    let family = schema.family(of: root)
    var range = KeyRange.prefix(KeySpace.head(KeySpace.row, number))
    range.lower = KeyRange.Bound(KeySpace.rowKey(number, start), isInclusive: true)
    var rows: [(key: UInt64, row: [UInt8])] = []
    var read = 0
    var last: UInt64 = 0
    try transaction.scan(range, reversed: false) { key, bytes in
      last = try KeySpace.lastNumber(key)
      read += 1
      try ConvertedRows.withRow(bytes, of: family) { row in
        let stored = schema.entity(try root.entity(numbered: row.entityNumber))
        let written = UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self))
        if !stored.writes(written) { rows.append((last, stored.numbered(Array(row.bytes)))) }
      }
      return read < Self.batch
    }
    for (key, row) in rows { try transaction.put(KeySpace.rowKey(number, key), row) }
    guard read < Self.batch else { return (last + 1, read) }
    try finish()
    return (nil, read)
  }

  /// Notes that no rows of former layouts are left. If the rows' numbers are not the model's, they can be now.
  private func finish() throws {
    var record = schema.record
    let wanted = Set(root.selfAndBelow.map(\.number))
    let used = Set(root.selfAndBelow.map { schema.entity($0).storage.rowNumber })
    for place in record.entities.indices {
      guard let entity = schema.model.entitiesByName[record.entities[place].name], entity.rootEntity === root
      else { continue }
      record.entities[place].storage.former = []
      let number = record.entities[place].storage.rowNumber
      guard number != entity.number, !used.contains(entity.number), wanted.contains(entity.number) else {
        continue
      }
      record.entities[place].storage.former = [MigratedRecord.layout(of: schema.entity(entity))]
      record.entities[place].storage.rowNumber = entity.number
    }
    try transaction.put(KeySpace.schemaKey, record.encoded())
  }
}
