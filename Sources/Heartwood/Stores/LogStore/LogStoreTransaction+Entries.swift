import HeartwoodBytes
import HeartwoodEngine

/// Data derived from rows: entries of indexes, and links of to-many relationships whose inverse is to-one.
extension LogStoreTransaction {
  func putEntries(of row: RowView, _ key: UInt64, _ stored: StoreEntity) {
    for index in stored.indexes {
      entries.add(index.isUnique ? .notedPut : .put, index, row, key)
    }
    for link in stored.derivedLinks where !row.isNull(link.column) {
      addLink(.put, link, from: row.key(link.column), to: key)
    }
  }

  func deleteEntries(of row: RowView, _ key: UInt64, _ stored: StoreEntity) {
    for index in stored.indexes {
      entries.add(.delete, index, row, key)
    }
    for link in stored.derivedLinks where !row.isNull(link.column) {
      addLink(.delete, link, from: row.key(link.column), to: key)
    }
  }

  /// Changes only the entries that differ.
  func moveEntries(from old: RowView, to new: RowView, _ key: UInt64, _ stored: StoreEntity) {
    for index in stored.indexes where !index.watchedColumns.allSatisfy({ old.isSame($0, in: new) }) {
      if index.kind == .words {
        moveWords(from: old, to: new, key, index)
        continue
      }
      let before = IndexKey.entry(index, old, key)
      let after = IndexKey.entry(index, new, key)
      guard before != after else { continue }
      if let after { entries.add(index.isUnique ? .notedPut : .put, after) }
      if let before { entries.add(.delete, before) }
    }
    for link in stored.derivedLinks where !old.isSame(link.column, in: new) {
      if !old.isNull(link.column) { addLink(.delete, link, from: old.key(link.column), to: key) }
      if !new.isNull(link.column) { addLink(.put, link, from: new.key(link.column), to: key) }
    }
  }

  private func moveWords(from old: RowView, to new: RowView, _ key: UInt64, _ index: StoreIndex) {
    let before = Set(IndexKey.entries(index, old, key))
    let after = Set(IndexKey.entries(index, new, key))
    for entry in after where !before.contains(entry) { entries.add(.put, entry) }
    for entry in before where !after.contains(entry) { entries.add(.delete, entry) }
  }

  /// Writes the collected changes if they are many: a row may have many words.
  func writeManyEntries() throws {
    if entries.count > 500_000 { try writeEntries() }
  }

  private func addLink(
    _ kind: KeyChanges.Kind, _ link: StoreEntity.DerivedLink, from source: UInt64, to target: UInt64
  ) {
    entries.add(kind) { bytes in
      KeySpace.appendEntry(KeySpace.link, link.relationship, source, target, to: &bytes)
      return true
    }
  }

  /// Writes the collected entries first if the links of the relationship are derived from rows.
  func prepareToRead(_ relationship: RelationshipDescription) throws {
    if relationship.isToMany && !relationship.hasEntries { try writeEntries() }
  }

  /// Writes the collected changes in key order.
  func writeEntries() throws {
    guard !entries.isEmpty else { return }
    let changes = try entries.write(to: reader)
    if changes.hasNoted { uniqueness.add(changes) }
  }
}

extension KeyChanges {
  /// Adds the changes of all entries of a row in an index.
  mutating func add(_ kind: Kind, _ index: StoreIndex, _ row: RowView, _ key: UInt64) {
    guard index.kind == .words else { return add(kind) { IndexKey.append(index, row, key, to: &$0) } }
    IndexKey.forEachWord(index, row) { word in
      add(kind) { bytes in
        IndexKey.append(index, word, key, to: &bytes)
        return true
      }
    }
  }
}

/// Entries that a save added to unique indexes.
///
/// They are checked at the end of the save: within one save a value may move from one row to another, in whatever order the rows are written.
struct AddedUniqueEntries {
  private struct Suspect {
    let index: StoreIndex
    let values: [UInt8]
    let key: UInt64
    let order: Int
  }

  private var batches: [KeyChanges] = []

  mutating func add(_ changes: KeyChanges) { batches.append(changes) }

  /// One violation for each added row whose values another row has too.
  func violations(in transaction: LogStoreTransaction) throws -> [ConstraintViolation] {
    var suspects: [Suspect] = []
    for batch in batches { suspects += try Self.suspects(batch, in: transaction) }
    var added = Dictionary(grouping: suspects, by: \.values).mapValues { Set($0.map(\.key)) }
    var violations: [ConstraintViolation] = []
    for suspect in suspects {
      guard let mine = added.removeValue(forKey: suspect.values) else { continue }
      violations += try Self.violations(suspect.index, suspect.values, mine, in: transaction)
    }
    return violations
  }

  /// The added entries whose values another entry has too, in the order in which their rows were written.
  private static func suspects(
    _ batch: KeyChanges, in transaction: LogStoreTransaction
  ) throws -> [Suspect] {
    var suspects: [Suspect] = []
    let cursor = try transaction.reader.cursor()
    try batch.forEach { kind, entry, order in
      guard kind == .notedPut else { return }
      let values = UnsafeRawBufferPointer(rebasing: entry.dropLast(IndexKey.keySize))
      guard try cursor.findsTwo(values),
        let index = transaction.schema.index(numbered: try KeySpace.number(of: entry))
      else { return }
      suspects.append(
        Suspect(index: index, values: Array(values), key: try KeySpace.lastNumber(entry), order: order))
    }
    return suspects.sorted { $0.order < $1.order }
  }

  private static func violations(
    _ index: StoreIndex, _ values: [UInt8], _ added: Set<UInt64>, in transaction: LogStoreTransaction
  ) throws -> [ConstraintViolation] {
    let keys = try transaction.keys(with: values)
    let root = index.entity.rootEntity
    guard let existing = keys.first(where: { !added.contains($0) }) ?? keys.first,
      let row = try transaction.row(root, existing)
    else { return [] }
    let shown = index.values(of: row, transaction.identity)
    let whole = IndexKey.whole(index, row)
    var violations: [ConstraintViolation] = []
    for key in keys where key != existing && added.contains(key) {
      // Long values are compared completely, because their entries contain only a hash.
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

extension Cursor {
  /// Whether at least two entries have exactly these values. The cursor is then at the first of them, otherwise after the only one.
  ///
  /// If it is called with values in ascending order, the cursor is usually at the next value already.
  fileprivate func findsTwo(_ values: UnsafeRawBufferPointer) throws -> Bool {
    if !isValid || !key.hasPrefix(values) { guard try seek(values) else { return false } }
    var found = 0
    while key.hasPrefix(values) {
      if key.count == values.count + IndexKey.keySize { found += 1 }
      if found == 2 { return try seek(values) }
      guard try next() else { return false }
    }
    return false
  }
}

extension LogStoreTransaction {
  /// The keys of the rows whose entries have exactly these values, ascending.
  func keys(with values: some Collection<UInt8>) throws -> [UInt64] {
    var keys: [UInt64] = []
    try scan(.prefix(Array(values))) { entry, _ in
      if entry.count == values.count + IndexKey.keySize { keys.append(try KeySpace.lastNumber(entry)) }
      return true
    }
    return keys
  }
}
