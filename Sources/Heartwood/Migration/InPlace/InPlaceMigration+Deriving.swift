/// Derived attributes that are new, have another expression, or read what the migration changes.
extension InPlaceMigration {
  /// Computes their values, some rows at a time, before the indexes are built.
  func migrateDerivations() throws {
    guard let plan = new.derivations else { return }
    let writer = LogStoreTransaction(transaction, new, identity)
    for root in new.rootEntities {
      let concerned = changes.derivedSlotsToCompute(below: root)
      guard !concerned.isEmpty else { continue }
      var (start, keys) = (UInt64(0), [UInt64]())
      repeat {
        keys = []
        try writer.view().scanRows(of: root, from: start, reversed: false) { found in
          if concerned[found.row.entityNumber] != nil { keys.append(found.key) }
          start = found.key + 1
          return keys.count < Self.rowsAtOnce
        }
        for key in keys {
          guard let row = try writer.derive(root, key, plan, only: concerned)?.row,
            !rewritten.contains(RowAddress(row.entity, key))
          else { continue }
          note { $0.rewrittenObjects[row.entity.displayName, default: 0] += 1 }
        }
      } while keys.count == Self.rowsAtOnce
    }
    try writer.writeEntries()
  }

  private static let rowsAtOnce = 1000
}
