import HeartwoodBytes

/// What follows from rows: entries of indexes, and links of to-many relationships whose inverse is a
/// to-one value.
extension LogStoreTransaction {
  func putEntries(of row: RowView, _ key: UInt64, _ stored: StoreEntity) throws {
    for index in stored.indexes {
      if let entry = IndexKey.entry(index, row, key) { try putEntry(entry, of: index, key) }
    }
    for link in stored.derivedLinks where !row.isNull(link.column) {
      try put(KeySpace.entry(KeySpace.link, link.relationship, row.key(link.column), key))
    }
  }

  func deleteEntries(of row: RowView, _ key: UInt64, _ stored: StoreEntity) throws {
    for index in stored.indexes {
      if let entry = IndexKey.entry(index, row, key) { try delete(entry) }
    }
    for link in stored.derivedLinks where !row.isNull(link.column) {
      try delete(KeySpace.entry(KeySpace.link, link.relationship, row.key(link.column), key))
    }
  }

  /// Changes only the entries that differ.
  func moveEntries(from old: RowView, to new: RowView, _ key: UInt64, _ stored: StoreEntity) throws {
    for index in stored.indexes where !index.columns.allSatisfy({ old.isSame($0, in: new) }) {
      let before = IndexKey.entry(index, old, key)
      let after = IndexKey.entry(index, new, key)
      guard before != after else { continue }
      if let before { try delete(before) }
      if let after { try putEntry(after, of: index, key) }
    }
    for link in stored.derivedLinks where !old.isSame(link.column, in: new) {
      if !old.isNull(link.column) {
        try delete(KeySpace.entry(KeySpace.link, link.relationship, old.key(link.column), key))
      }
      if !new.isNull(link.column) {
        try put(KeySpace.entry(KeySpace.link, link.relationship, new.key(link.column), key))
      }
    }
  }

  private func putEntry(_ entry: [UInt8], of index: StoreIndex, _ key: UInt64) throws {
    try put(entry)
    if index.isUnique { uniqueness.add(entry, of: index, key) }
  }
}

/// Entries that a save added to unique indexes.
///
/// They are checked when everything is written: a value may go from one row to another in one save, in
/// whatever order the two rows come.
struct AddedUniqueEntries {
  private var entries: [(index: StoreIndex, values: [UInt8], key: UInt64)] = []

  mutating func add(_ entry: [UInt8], of index: StoreIndex, _ key: UInt64) {
    entries.append((index, Array(entry.dropLast(IndexKey.keySize)), key))
  }

  /// One for each added row whose values another row has too.
  func violations(in transaction: LogStoreTransaction) throws -> [ConstraintViolation] {
    var violations: [ConstraintViolation] = []
    var added: [[UInt8]: Set<UInt64>] = [:]
    for entry in entries {
      // Two keys are enough to know that there is trouble; nearly always there is one.
      guard try transaction.keys(with: entry.values, limit: 2).count > 1 else { continue }
      added[entry.values, default: []].insert(entry.key)
    }
    for entry in entries {
      guard let mine = added.removeValue(forKey: entry.values) else { continue }
      violations += try self.violations(entry.index, entry.values, mine, in: transaction)
    }
    return violations
  }

  private func violations(
    _ index: StoreIndex, _ values: [UInt8], _ added: Set<UInt64>, in transaction: LogStoreTransaction
  ) throws -> [ConstraintViolation] {
    let keys = try transaction.keys(with: values, limit: .max)
    let root = index.entity.rootEntity
    guard let existing = keys.first(where: { !added.contains($0) }) ?? keys.first,
      let row = try transaction.row(root, existing)
    else { return [] }
    let shown = index.columns.map(row.value)
    let whole = IndexKey.whole(index, row)
    var violations: [ConstraintViolation] = []
    for key in keys where key != existing && added.contains(key) {
      // Long values are compared whole: their entries know only a hash of them.
      guard let other = try transaction.row(root, key), IndexKey.whole(index, other) == whole else {
        continue
      }
      violations.append(
        ConstraintViolation(
          entity: index.entity, constraint: index.propertyNames, values: shown, existingKey: existing,
          newKey: key))
    }
    return violations
  }
}

extension LogStoreTransaction {
  /// The rows whose entries have exactly these values, ascending.
  fileprivate func keys(with values: [UInt8], limit: Int) throws -> [UInt64] {
    var keys: [UInt64] = []
    try scan(.prefix(values)) { entry, _ in
      guard entry.count == values.count + IndexKey.keySize else { return true }
      keys.append(try KeySpace.lastNumber(entry))
      return keys.count < limit
    }
    return keys
  }
}
