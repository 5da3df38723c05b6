/// Derived attributes that are new, or have another expression.
extension InPlaceMigration {
  /// Computes their values, some rows at a time.
  func migrateDerivations() throws {
    let schema = try StoreSchema(changes.destination, record)
    guard let plan = schema.derivations else { return }
    let writer = LogStoreTransaction(transaction, schema, identity)
    for root in schema.rootEntities {
      let concerned = Set(root.selfAndBelow.filter(hasOtherDerivations).map(\.number))
      guard !concerned.isEmpty else { continue }
      var (start, keys) = (UInt64(0), [UInt64]())
      repeat {
        keys = []
        try writer.view().scanRows(of: root, from: start, reversed: false) { found in
          if concerned.contains(found.row.entityNumber) { keys.append(found.key) }
          start = found.key + 1
          return keys.count < Self.rowsAtOnce
        }
        for key in keys {
          guard let (row, _) = try writer.derive(root, key, plan, isWhole: true) else { continue }
          note { $0.rewrittenObjects[row.entity.displayName, default: 0] += 1 }
        }
      } while keys.count == Self.rowsAtOnce
    }
    try writer.writeEntries()
    let violations = try writer.uniqueness.violations(in: writer)
    if !violations.isEmpty { throw ConstraintViolations(violations: violations) }
  }

  private static let rowsAtOnce = 1000

  private func hasOtherDerivations(_ entity: EntityDescription) -> Bool {
    entity.slots.contains { slot in
      guard let derivation = entity.property(at: slot).derivation else { return false }
      return changes.sourceProperty(at: slot, of: entity)?.derivation != derivation
    }
  }
}
