/// Reading the rows of an access.
extension RowAccess {
  /// Calls `body` for each row after the first `count`, until it returns false.
  func forEachRow(
    in view: any StoreView, _ entity: EntityDescription, skipping count: Int = 0,
    _ body: (FoundRow) throws -> Bool
  ) throws {
    let root = entity.rootEntity
    if case .scan = self {
      let start = count > 0 ? try view.rowKey(of: root, atRank: count) : 0
      guard let start else { return }
      return try view.scanRows(of: root, from: start, reversed: false, body)
    }
    var remaining = count
    try forEachKey(in: view, entity) { key in
      if remaining > 0 {
        remaining -= 1
        return true
      }
      guard let row = try view.row(root, key) else { return try skipMissing(key, root) }
      return try body(FoundRow(key: key, row: row))
    }
  }

  /// Calls `body` for each key until it returns false.
  func forEachKey(
    in view: any StoreView, _ entity: EntityDescription, _ body: (UInt64) throws -> Bool
  ) throws {
    var continuesAfter = true
    func stopping(_ key: UInt64) throws -> Bool {
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
        try view.scanIndex(index, range, reversed: reversed, stopping)
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
    case .scan:
      try view.scanRows(of: entity.rootEntity, from: nil, reversed: false) { try stopping($0.key) }
    }
  }

  /// Identifiers and relationships may refer to missing rows; an index entry for a missing row is damage.
  private func skipMissing(_ key: UInt64, _ root: EntityDescription) throws -> Bool {
    guard case .index(let index, _, _) = self else { return true }
    throw Self.missingRow(key, index, root)
  }

  static func missingRow(_ key: UInt64, _ index: StoreIndex, _ root: EntityDescription) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreDamaged,
      "the index \(index.name) of \(root.displayName) names the row p\(key), which does not exist; "
        + "verify the store")
  }
}
