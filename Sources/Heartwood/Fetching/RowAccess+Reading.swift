/// Reading the rows of an access.
extension RowAccess {
  /// Calls `body` for each row after the first `count`, until it returns false.
  func forEachRow(
    in view: any StoreView, _ entity: EntityDescription, skipping count: Int = 0,
    covering entryRows: EntryRows? = nil, reading slots: Set<Int>? = nil, _ body: (FoundRow) throws -> Bool
  ) throws {
    let root = entity.rootEntity
    if let entryRows, case .index(let index, let ranges, let reversed) = self {
      return try Self.forEachEntry(in: view, index, ranges, reversed, count, entryRows, body)
    }
    if case .scan = self {
      let start = count > 0 ? try view.rowKey(of: root, atRank: count) : 0
      guard let start else { return }
      if let slots { return try view.scanRows(of: root, from: start, reading: slots, body) }
      return try view.scanRows(of: root, from: start, reversed: false, body)
    }
    if case .requested(let fetch) = self { return try fetch.forEachRow(root, skipping: count, body) }
    try forEachKey(in: view, entity, skipping: count) { key in
      guard let row = try view.row(root, key) else { return try skipMissing(key, root) }
      return try body(FoundRow(key: key, row: row))
    }
  }

  /// Calls `body` with rows that are made of an index's entries, or read where an entry does not have the row's values.
  private static func forEachEntry(
    in view: any StoreView, _ index: StoreIndex, _ ranges: [IndexRange], _ reversed: Bool, _ count: Int,
    _ entryRows: EntryRows, _ body: (FoundRow) throws -> Bool
  ) throws {
    let root = index.entity.rootEntity
    var (remaining, continuesAfter) = (count, true)
    for range in ranges where continuesAfter {
      try view.scanEntries(index, range, reversed: reversed, skipping: &remaining) { key, values in
        let row = try values.flatMap { try entryRows.row($0) } ?? view.row(root, key)
        guard let row else { throw HeartwoodError.missingRow(key, index, root) }
        continuesAfter = try body(FoundRow(key: key, row: row))
        return continuesAfter
      }
    }
  }

  /// Calls `body` for each key after the first `count`, until it returns false.
  ///
  /// - Precondition: If some are skipped, an index has no entries that do not match.
  func forEachKey(
    in view: any StoreView, _ entity: EntityDescription, skipping count: Int = 0,
    _ body: (UInt64) throws -> Bool
  ) throws {
    var continuesAfter = true
    var remaining = count
    func stopping(_ key: UInt64) throws -> Bool {
      guard remaining == 0 else {
        remaining -= 1
        return true
      }
      continuesAfter = try body(key)
      return continuesAfter
    }
    switch self {
    case .nothing:
      return
    case .identifiers(let keys):
      for key in keys where try !stopping(key) { return }
    case .index(let index, let ranges, let reversed):
      for range in ranges where continuesAfter {
        try view.scanEntries(index, range, reversed: reversed, skipping: &remaining) { key, _ in
          continuesAfter = try body(key)
          return continuesAfter
        }
      }
    case .destinations(let relationship, let keys, _):
      // Several objects of a many-to-many relationship may share a destination.
      let mayRepeat = keys.count > 1 && relationship.inverseRelationship?.isToMany != false
      var seen: Set<UInt64> = []
      for key in keys where continuesAfter {
        try view.destinations(relationship, of: key) { destination in
          if mayRepeat && !seen.insert(destination).inserted { return true }
          return try stopping(destination)
        }
      }
    case .union, .intersection:
      for key in try combinedKeys(in: view, entity) where try !stopping(key) { return }
    case .requested(let fetch):
      for id in try fetch.identifiers() where try !stopping(id.key) { return }
    case .scan:
      let start = count > 0 ? try view.rowKey(of: entity.rootEntity, atRank: count) : 0
      guard let start else { return }
      remaining = 0
      try view.scanRows(of: entity.rootEntity, from: start, reversed: false) { try stopping($0.key) }
    }
  }

  /// Identifiers and relationships may refer to missing rows; an index entry for a missing row is damage.
  private func skipMissing(_ key: UInt64, _ root: EntityDescription) throws -> Bool {
    guard let index = onlyIndex else { return true }
    throw HeartwoodError.missingRow(key, index, root)
  }

  /// An index that has every key of the access; nil if it also has other keys.
  private var onlyIndex: StoreIndex? {
    switch self {
    case .index(let index, _, _): return index
    case .union(let parts):
      let indexes = parts.compactMap(\.onlyIndex)
      return indexes.count == parts.count ? indexes.first : nil
    case .intersection(let parts): return parts.lazy.compactMap(\.onlyIndex).first
    default: return nil
    }
  }
}
