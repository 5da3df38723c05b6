import HeartwoodBytes

/// Writes rows in one transaction, and keeps the other sides of their relationships right.
///
/// No objects are made. The history names what a save would name: also the objects on whose side a relationship has changed.
final class BatchWriter {
  let transaction: any StoreTransaction
  /// Whether values are checked by the rules of the model.
  let validates: Bool
  /// Rows that the batch inserts: their history is their insertion.
  private var firstNewKey: (root: UInt16, key: UInt64)?
  /// The same, of a store whose keys are not consecutive.
  private var newKeys: (root: UInt16, keys: Set<UInt64>)?
  /// The to-many relationships that have changed.
  private var touched: Set<Touched> = []
  private var touchedRoots: [UInt16: EntityDescription] = [:]
  /// To-one relationships whose destinations come later in the batch.
  var awaited: Set<Awaited> = []

  private struct Touched: Hashable {
    let root: UInt16
    let slot: UInt16
    let key: UInt64
  }

  init(_ transaction: any StoreTransaction, validates: Bool) {
    self.transaction = transaction
    self.validates = validates
  }

  /// Reserves keys for rows that the batch inserts.
  func newKeys(of entity: EntityDescription, _ count: Int) throws -> [UInt64] {
    let root = entity.rootEntity
    if let keys = try transaction.newKeys(of: entity, count) {
      newKeys = (root.number, (newKeys?.keys ?? []).union(keys))
      return keys
    }
    let first = try transaction.newKeys(root, count)
    if firstNewKey == nil { firstNewKey = (root.number, first) }
    return (0..<UInt64(count)).map { first + $0 }
  }

  func isNew(_ root: EntityDescription, _ key: UInt64) -> Bool {
    if let newKeys { return newKeys.root == root.number && newKeys.keys.contains(key) }
    return firstNewKey.map { $0.root == root.number && key >= $0.key } ?? false
  }

  /// Writes the data of values that are too large for the row.
  ///
  /// - Returns: By slot, where the data is.
  func writeExternal(_ values: [Value?], of entity: EntityDescription, _ key: UInt64) throws
    -> [Int: ExternalReference]
  {
    var references: [Int: ExternalReference] = [:]
    guard transaction.keepsExternalData else { return references }
    for slot in entity.layout.externalSlots where slot < values.count {
      guard case .data(let data)? = values[slot], data.count > ExternalReference.largestInRow,
        let attribute = entity.attribute(at: slot)
      else { continue }
      references[slot] = try transaction.putExternal(data, of: attribute, key)
    }
    return references
  }

  func insert(_ entity: EntityDescription, _ key: UInt64, _ values: [Value?]) throws {
    let external = try writeExternal(values, of: entity, key)
    var row = entity.newRow(values, external)
    try transaction.insert(entity, key, row: &row)
    if validates { try validate(row, key, entity) }
  }

  /// Writes other values in some columns of a row. A row that has them already is not written.
  ///
  /// - Parameter values: By slot; nil for columns that stay.
  func update(_ entity: EntityDescription, _ key: UInt64, _ values: [Value?]) throws {
    let external = try writeExternal(values, of: entity, key)
    guard let old = try transaction.row(entity.rootEntity, key) else { return }
    var writer = RowWriter(
      entity.layout, version: old.version &+ 1, estimatedVariableSize: old.bytes.count)
    for column in entity.layout.columns {
      let slot = Int(column.slot)
      if let reference = external[slot] {
        writer.write(reference, column)
      } else if slot < values.count, let value = values[slot] {
        writer.write(value, column)
      } else {
        writer.copy(column, from: old)
      }
    }
    let changed = writer.row.withUnsafeBytes { bytes in
      let new = RowView(unchecked: bytes)
      return values.indices.filter { slot in
        values[slot] != nil && !old.isSame(entity.layout.columns[slot], in: new)
      }
    }
    guard !changed.isEmpty else { return }
    var row: [UInt8]? = writer.row
    let conflict = try transaction.update(
      entity, key, expectedVersion: old.version, row: &row, changedSlots: changed, changedToMany: [])
    require(conflict == nil, "a row changed during the transaction that rewrites it")
    if validates { try validate(writer.row, key, entity) }
  }

  /// The entity of a row; nil if there is no row.
  func entity(_ root: EntityDescription, _ key: UInt64) throws -> EntityDescription? {
    try transaction.row(root, key).map { try root.entity(numbered: $0.entityNumber) }
  }

  func identifier(_ entity: EntityDescription, _ key: UInt64) -> ManagedObjectID {
    ManagedObjectID(entity: entity, key: key, store: transaction.identity)
  }

  /// Notes that the destinations of a to-many relationship have changed.
  func touch(_ relationship: RelationshipDescription?, of key: UInt64) {
    guard let relationship, relationship.isToMany, let root = relationship.entity?.rootEntity,
      !isNew(root, key)
    else { return }
    let change = Touched(
      root: root.number, slot: UInt16(truncatingIfNeeded: relationship.slot), key: key)
    if touched.insert(change).inserted { touchedRoots[root.number] = root }
  }

  /// Writes what depends on all rows: orders, and the history of changed relationships.
  func finish() throws {
    var changes = touched.sorted { ($0.root, $0.key, $0.slot) < ($1.root, $1.key, $1.slot) }[...]
    while let first = changes.first {
      let ofObject = changes.prefix { $0.root == first.root && $0.key == first.key }
      changes = changes.dropFirst(ofObject.count)
      guard let root = touchedRoots[first.root], let row = try transaction.row(root, first.key) else {
        continue
      }
      let entity = try root.entity(numbered: row.entityNumber)
      let version = row.version
      let slots = ofObject.map { Int($0.slot) }
      if validates { try validateCounts(of: entity, first.key, Set(slots)) }
      var unchanged: [UInt8]?
      _ = try transaction.update(
        entity, first.key, expectedVersion: version, row: &unchanged, changedSlots: [],
        changedToMany: slots)
    }
    _ = try transaction.reconcileOrders()
    _ = try transaction.deriveValues()
  }
}

extension EntityDescription {
  /// The row of a new object with some values, and defaults in place of the others.
  func newRow(_ values: [Value?], _ external: [Int: ExternalReference] = [:]) -> [UInt8] {
    var writer = RowWriter(layout, version: 1)
    for column in layout.columns {
      let slot = Int(column.slot)
      if let reference = external[slot] {
        writer.write(reference, column)
      } else {
        writer.write(value(at: slot, given: values), column)
      }
    }
    return writer.row
  }
}
