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
    while true {
      guard try hasDeferredMigration else { return false }
      guard mayGoOn() else { return true }
      let part = try HeartwoodError.translating("the migration could not be finished", .migration) {
        try engine.write { transaction in
          try RowRewriting(transaction, currentSchema(of: transaction))?.run()
        }
      }
      noteRead(part?.read ?? 0)
      guard part?.isLast == false else { return try hasDeferredMigration }
    }
  }
}

extension StoreSchema {
  fileprivate func hasFormerLayouts(below root: EntityDescription) -> Bool {
    root.selfAndBelow.contains { !entity($0).storage.former.isEmpty }
  }
}

/// Writes a part of a family's rows again, in their present layout.
///
/// Several processes and threads may do this at the same time. Nothing is known from one part to the next but what the store has: which
/// layouts rows may have, and the place at which the next part begins. A migration between two parts removes the place.
private struct RowRewriting {
  private let transaction: WriteTransaction
  private let schema: StoreSchema
  private let root: EntityDescription
  /// How many rows one transaction reads.
  private static let batch = 4000

  /// A part of the first family that may have rows of former layouts; nil if there is none.
  init?(_ transaction: WriteTransaction, _ schema: StoreSchema) {
    guard let root = schema.rootEntities.first(where: { schema.hasFormerLayouts(below: $0) }) else {
      return nil
    }
    self.transaction = transaction
    self.schema = schema
    self.root = root
  }

  /// - Returns: How many rows were read, and whether this was the family's last part.
  func run() throws -> (read: Int, isLast: Bool) {
    let number = schema.keyNumber(of: root)
    let place = KeySpace.rewritingKey(number)
    let family = schema.family(of: root)
    let start = try transaction.number(place)
    var range = KeyRange.prefix(KeySpace.head(KeySpace.row, number))
    range.lower = KeyRange.Bound(KeySpace.rowKey(number, start ?? 0), isInclusive: true)
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
    guard read < Self.batch || last == .max else {
      try transaction.put(place, KeySpace.value(last + 1))
      return (read, false)
    }
    try finish()
    _ = try transaction.delete(place)
    return (read, true)
  }

  /// Notes that no rows of former layouts are left. If the rows' numbers are not the model's, they can be now.
  private func finish() throws {
    var record = schema.record
    let wanted = Set(root.selfAndBelow.map(\.number))
    let used = Set(root.selfAndBelow.map { schema.entity($0).storage.rowNumber })
    let entities = schema.model.entitiesByName
    for place in record.entities.indices {
      guard let entity = entities[record.entities[place].name], entity.rootEntity === root
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
