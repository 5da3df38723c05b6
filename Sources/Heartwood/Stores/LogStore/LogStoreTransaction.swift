import Foundation
import HeartwoodEngine

/// A save in progress: writes rows and everything derived from them.
final class LogStoreTransaction: StoreTransaction, StoreReading {
  let reader: WriteTransaction
  let schema: StoreSchema
  let identity: StoreIdentity
  let converted = ConvertedRows(keepsPlaces: false)
  /// The changes for the history, in the order in which they were made.
  @exclusivity(unchecked) private(set) var changes: [HistoryChange] = []
  /// Entries derived from written rows that are not written yet.
  @exclusivity(unchecked) var entries = KeyChanges()
  @exclusivity(unchecked) var uniqueness = AddedUniqueEntries()
  @exclusivity(unchecked) private var changedLinks = ChangedLinks()
  /// The memberships that `reconcileOrders` checks.
  @exclusivity(unchecked) var memberships = OrderMemberships()
  /// The keys that this transaction assigned, by root entity. Only its own rows can have them.
  @exclusivity(unchecked) private var givenKeys: [UInt16: Range<UInt64>] = [:]
  /// The plan of derived attributes; nil if there are none, or rows are loaded with the values that they have.
  let derivations: DerivationPlan?
  /// The rows whose values `deriveValues` computes.
  @exclusivity(unchecked) var toDerive = RowsToDerive()
  /// The time of the transaction: the same for all that it writes.
  private(set) lazy var now = Date(timeIntervalSince1970: Double(reader.time) / 1e9)

  /// - Parameter derives: Whether derived values are computed; otherwise rows have them already.
  init(
    _ reader: WriteTransaction, _ schema: StoreSchema, _ identity: StoreIdentity, derives: Bool = true
  ) {
    derivations = derives ? schema.derivations : nil
    self.reader = reader
    self.schema = schema
    self.identity = identity
  }

  func newKeys(_ root: EntityDescription, _ count: Int, in store: Int) throws -> UInt64 {
    let counter = KeySpace.counterKey(schema.keyNumber(of: root))
    let first = try number(counter) ?? 1
    let (next, overflows) = first.addingReportingOverflow(UInt64(count))
    guard !overflows, next <= UInt64.keyInStoreMask else {
      throw HeartwoodError(.persistentStoreSave, "\(root.displayName) has no keys left for \(count) objects")
    }
    try checkNoRows(root, from: first)
    try put(counter, KeySpace.value(next))
    givenKeys[root.number] = (givenKeys[root.number]?.lowerBound ?? first)..<next
    entries.reserve(count * schema.entity(root).entryCount)
    if changes.isEmpty { changes.reserveCapacity(count) }
    return first
  }

  func noteGivenKey(_ key: UInt64, _ root: EntityDescription) throws {
    let counter = KeySpace.counterKey(schema.keyNumber(of: root))
    if try number(counter) ?? 1 <= key { try put(counter, KeySpace.value(key + 1)) }
  }

  /// Each version of a row took a transaction, and versions that begin here count on.
  func versionOfRestoredRow(_ key: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: reader.generation.rawValue &+ 2)
  }

  /// Notes a link for the history. Those of new objects are not in it.
  func noteChange(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64, isAdded: Bool)
  {
    guard let owner = relationship.entity, givenKeys[owner.rootEntity.number]?.contains(source) != true,
      schema.entity(owner).portableLinks.contains(relationship.slot)
    else { return }
    changedLinks.note(relationship, RowAddress(owner, source), target, isAdded: isAdded)
  }

  private func checkNoRows(_ root: EntityDescription, from first: UInt64) throws {
    let cursor = try reader.cursor()
    let number = schema.keyNumber(of: root)
    guard try cursor.seek(KeySpace.rowKey(number, first)),
      cursor.key.starts(with: KeySpace.head(KeySpace.row, number))
    else { return }
    throw HeartwoodError.rowExists(root, try KeySpace.lastNumber(cursor.key))
  }

  func insert(_ entity: EntityDescription, _ key: UInt64, row: inout [UInt8]) throws {
    let stored = schema.entity(entity)
    if derivations != nil { row = try derived(row, key, stored, from: nil).row }
    let rowKey = KeySpace.rowKey(stored.keyNumber, key)
    let isNewKey = givenKeys[entity.rootEntity.number]?.contains(key) ?? false
    if try !isNewKey && contains(rowKey) { throw HeartwoodError.rowExists(entity, key) }
    try row.withUnsafeBytes { bytes in
      let row = try RowView(validating: bytes, layout: stored.entity.layout)
      putEntries(of: row, key, stored)
      noteMemberships(of: row, key, stored)
      noteSources(from: nil, to: row, key, stored.entity)
    }
    try put(rowKey, stored.numbered(row))
    try writeManyEntries()
    changes.append(HistoryChange(kind: .insert, entity: stored.entity, key: key))
  }

  func update(
    _ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32, row given: inout [UInt8]?,
    changedSlots: [Int], changedToMany: [Int]
  ) throws -> RowConflict? {
    let stored = schema.entity(entity)
    var changed = changedSlots + changedToMany
    var kept: [HistoryChange.KeptUpdate] = []
    defer { converted.trim() }
    if var row = given {
      let old = try self.row(entity.rootEntity, key)
      guard let old, old.version == expectedVersion else {
        return conflict(entity, key, expectedVersion, old)
      }
      // `moveEntries` only collects changes, so that the old row's bytes stay valid until the new row is put.
      let layout = stored.entity.layout
      let oldRow = try RowView(validating: old.bytes, layout: layout)
      if derivations != nil {
        let derived = try derived(row, key, stored, from: oldRow)
        row = derived.row
        given = row
        changed += derived.changed.filter { !changedSlots.contains($0) }
      }
      let unused = try row.withUnsafeBytes { newBytes in
        let newRow = try RowView(validating: newBytes, layout: layout)
        moveEntries(from: oldRow, to: newRow, key, stored)
        noteMemberships(from: oldRow, to: newRow, key, stored)
        noteSources(from: oldRow, to: newRow, key, stored.entity)
        kept = try keptValues(from: oldRow, to: newRow, changed, key, stored)
        return externalKeys(of: oldRow, exceptThoseOf: newRow, key, stored.entity)
      }
      try put(KeySpace.rowKey(stored.keyNumber, key), stored.numbered(row))
      for key in unused { try delete(key) }
      try writeManyEntries()
    } else if try !contains(KeySpace.rowKey(stored.keyNumber, key)) {
      return conflict(entity, key, expectedVersion, nil)
    }
    changes.append(
      HistoryChange(
        kind: .update, entity: stored.entity, key: key, updatedSlots: changed.sorted(), keptUpdates: kept)
    )
    return nil
  }

  func delete(_ entity: EntityDescription, _ key: UInt64, expectedVersion: UInt32) throws -> RowConflict? {
    let stored = schema.entity(entity)
    defer { converted.trim() }
    guard let old = try row(entity.rootEntity, key) else { return nil }
    guard old.version == expectedVersion else { return conflict(entity, key, expectedVersion, old) }
    let row = try RowView(validating: old.bytes, layout: stored.entity.layout)
    deleteEntries(of: row, key, stored)
    noteMemberships(of: row, key, stored, isDeleted: true)
    noteSources(from: row, to: nil, key, stored.entity)
    changes.append(
      HistoryChange(
        kind: .delete, entity: stored.entity, key: key, tombstone: try tombstone(of: row, key, stored)))
    let external = externalKeys(of: row, exceptThoseOf: nil, key, stored.entity)
    try deleteLinks(from: key, stored)
    for key in external { try delete(key) }
    try delete(KeySpace.rowKey(stored.keyNumber, key))
    return nil
  }

  /// Computes the derived values of a row, and writes it if they are others than before.
  ///
  /// - Parameter only: By the numbers of entities, the slots whose values are computed; nil for all that read other rows.
  func derive(
    _ root: EntityDescription, _ key: UInt64, _ plan: DerivationPlan, only: [UInt16: Set<Int>]? = nil
  ) throws -> RecomputedRow? {
    defer { converted.trim() }
    guard let old = try row(root, key) else { return nil }
    let stored = schema.entity(try root.entity(numbered: old.entityNumber))
    let layout = stored.entity.layout
    guard let known = plan.of(stored.entity) else { return nil }
    var values: [Int: Value] = [:]
    let wanted = only.map { $0[stored.entity.number] ?? [] }
    let derivations = wanted.map { slots in
      (known.ofOwnRow + known.ofOthers).filter { slots.contains($0.slot) }
    }
    for derivation in derivations ?? known.ofOthers {
      values[derivation.slot] = try derivation.value(of: old, key, in: self, now: now)
    }
    let (row, changed) = old.replacing(values, layout)
    guard !changed.isEmpty else { return nil }
    let kept = try row.withUnsafeBytes { bytes in
      let new = RowView(unchecked: bytes)
      moveEntries(from: old, to: new, key, stored)
      return try keptValues(from: old, to: new, changed, key, stored)
    }
    try put(KeySpace.rowKey(stored.keyNumber, key), stored.numbered(row))
    try writeManyEntries()
    return RecomputedRow(
      row: DerivedRow(entity: stored.entity, key: key, row: row), changed: changed, kept: kept)
  }

  /// Adds what was derived to the history: an object that was written is named once.
  func noteDerived(_ rows: [RecomputedRow]) {
    guard !rows.isEmpty else { return }
    var places: [RowAddress: Int] = [:]
    for (place, change) in changes.enumerated() where change.kind != .delete {
      places[RowAddress(change.entity, change.key)] = place
    }
    for recomputed in rows {
      let (row, changed) = (recomputed.row, recomputed.changed)
      guard let place = places[RowAddress(row.entity, row.key)] else {
        changes.append(
          HistoryChange(
            kind: .update, entity: row.entity, key: row.key, updatedSlots: changed,
            keptUpdates: recomputed.kept))
        continue
      }
      guard changes[place].kind == .update else { continue }
      changes[place].updatedSlots = Set(changes[place].updatedSlots + changed).sorted()
      changes[place].keptUpdates += recomputed.kept
    }
  }

  private func conflict(
    _ entity: EntityDescription, _ key: UInt64, _ expected: UInt32, _ newest: RowView?
  ) -> RowConflict {
    RowConflict(
      entity: entity, key: key, expectedVersion: expected, newestVersion: newest?.version ?? 0,
      newestRow: newest.map { Array($0.bytes) })
  }
}

extension HeartwoodError {
  fileprivate static func rowExists(_ entity: EntityDescription, _ key: UInt64) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreSave, "\(entity.displayName) has a row with the key \(key) already; verify the store")
  }
}

/// Writes to the engine, with bytes as arrays.
extension LogStoreTransaction {
  func put(_ key: [UInt8], _ value: [UInt8] = []) throws(EngineError) { try reader.put(key, value) }

  @discardableResult
  func delete(_ key: [UInt8]) throws(EngineError) -> Bool { try reader.delete(key) }
}

/// The end of a save.
extension LogStoreTransaction {
  /// Checks what depends on all writes of the save, and writes the history.
  ///
  /// - Returns: the number of the transaction; nil if nothing was changed.
  /// - Throws: `ConstraintViolations` if values that must be unique are not.
  func finish(_ info: TransactionInfo) throws -> UInt64? {
    _ = try deriveValues()
    try writeEntries()
    let violations = try uniqueness.violations(in: self)
    let isAllowed = violations.isEmpty
    guard isAllowed else { throw ConstraintViolations(violations: violations) }
    changedLinks.add(to: &changes)
    if let applied = info.appliedChanges { try note(applied) }
    guard !changes.isEmpty else { return nil }
    let number = reader.generation.rawValue + 1
    guard try info.tracksHistory || keepsHistory else {
      try skipHistory(of: number)
      return number
    }
    let record = HistoryRecord(
      number: number, previous: try self.number(KeySpace.newestHistoryKey) ?? 0,
      nanoseconds: info.date?.nanosecondsSince1970 ?? reader.commitTime, author: info.author,
      contextName: info.contextName, program: info.program, changes: changes)
    try put(KeySpace.historyKey(number), HistoryCoding.encode(record, schema))
    try put(KeySpace.newestHistoryKey, KeySpace.value(number))
    if let retention = info.retention { try deleteHistory(retention, newest: record) }
    return number
  }

  /// Notes a transaction without a history record, as if its record were deleted: earlier tokens expire.
  ///
  /// - Precondition: The store keeps no history.
  private func skipHistory(of number: UInt64) throws {
    try put(KeySpace.newestHistoryKey, KeySpace.value(number))
    try put(KeySpace.deletedHistoryKey, KeySpace.value(number))
  }

  /// Deletes the oldest history records.
  ///
  /// - Parameters:
  ///   - isKept: Nil where the records after it decide; up to 256 of them in a row.
  ///   - most: How many others are deleted at most.
  /// - Returns: how many were deleted; less than `most` if there are no more.
  func deleteHistory(
    before number: UInt64, keepingFrom isKept: (HistoryRecord, _ bytes: Int) throws -> Bool?,
    atMost most: Int
  ) throws -> Int {
    var (keys, undecided): ([[UInt8]], [[UInt8]]) = ([], [])
    var last: UInt64 = 0
    try scan(.prefix([KeySpace.history])) { key, value in
      let found = try KeySpace.lastNumber(key)
      guard found < number, keys.count < most, undecided.count < 256 else { return false }
      // A record that cannot be read is not worth keeping.
      let record = try? HistoryCoding.decode(value, number: found, schema)
      let keeps = try record.map { try isKept($0, value.count) } ?? false
      if keeps == true { return false }
      undecided.append(Array(key))
      if keeps == false {
        keys += undecided
        (undecided, last) = ([], found)
      }
      return true
    }
    guard !keys.isEmpty else { return 0 }
    try keepStamps(through: last)
    for key in keys { try delete(key) }
    try put(KeySpace.deletedHistoryKey, KeySpace.value(last))
    return keys.count
  }

  /// Deletes single history records. The one behind a gap says then that it follows the one before it.
  ///
  /// - Parameter numbers: In order; not that of the newest record.
  /// - Complexity: Linear in the records from the first to the last of these.
  func deleteHistory(of numbers: some RandomAccessCollection<UInt64>) throws {
    guard let first = numbers.first, let last = numbers.last else { return }
    let wanted = Set(numbers)
    var deleted: [UInt64] = []
    var followers: [(number: UInt64, record: [UInt8])] = []
    var before: UInt64?
    let earlier = KeyRange(from: KeySpace.historyKey(0), to: KeySpace.historyKey(first))
    try scan(earlier, reversed: true) { key, _ in
      before = try KeySpace.lastNumber(key)
      return false
    }
    // Without a record before them they are the beginning of the history, which is later then.
    let former = try number(KeySpace.deletedHistoryKey) ?? 0
    var beginning = former
    try scan(KeyRange(from: KeySpace.historyKey(first), through: KeySpace.historyKey(.max))) { key, value in
      let number = try KeySpace.lastNumber(key)
      if wanted.contains(number) {
        deleted.append(number)
        if before == nil { beginning = number }
        return true
      }
      if let record = try HistoryCoding.following(before ?? beginning, value, number: number) {
        followers.append((number, record))
      }
      before = number
      return number <= last
    }
    guard let newest = deleted.last else { return }
    try keepStamps(through: newest)
    for number in deleted { try delete(KeySpace.historyKey(number)) }
    for (number, record) in followers { try put(KeySpace.historyKey(number), record) }
    if beginning != former { try put(KeySpace.deletedHistoryKey, KeySpace.value(beginning)) }
    // Retention counts the bytes again.
    try delete(KeySpace.historyBytesKey)
  }
}

extension Date {
  /// - Parameter nanoseconds: Since 1 January 1970 UTC.
  package init(nanosecondsSince1970 nanoseconds: Int64) {
    // Whole seconds and fraction separately, because a double does not have this many digits.
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    self.init(timeIntervalSince1970: Double(seconds) + Double(rest) / 1e9)
  }

  /// The latest time of a store that the date may name: a date has about a tenth of a microsecond less than a time of the store.
  package var latestStoreTime: Int64 { min(nanosecondsSince1970, .max - 1_000) + 1_000 }

  /// Nanoseconds since 1 January 1970 UTC, clamped to 64 bits.
  package var nanosecondsSince1970: Int64 {
    // Whole seconds and fraction separately, because a double does not have this many digits.
    let seconds = timeIntervalSince1970.rounded(.down)
    let fraction = ((timeIntervalSince1970 - seconds) * 1e9).rounded()
    guard let whole = Int64(exactly: seconds), let rest = Int64(exactly: fraction) else {
      return seconds < 0 ? .min : .max
    }
    let (product, overflows) = whole.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflowsToo) = product.addingReportingOverflow(rest)
    return overflows || overflowsToo ? (whole < 0 ? .min : .max) : sum
  }
}
