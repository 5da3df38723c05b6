import Foundation

/// Derived attributes that depend on the object itself only: they have their values before a custom store is asked to save.
extension IncrementalContents {
  /// Gives the objects of a save their values as edits.
  ///
  /// - Returns: Whether there are such attributes.
  func deriveOwnValues(of plan: SavePlan, _ context: ManagedObjectContext) throws -> Bool {
    guard let derivations = try openStore().derivations else { return false }
    let view = IncrementalView(self, newestGeneration, context, hasOneReader: true)
    let now = Date()
    for object in plan.inserted { try object.deriveOwnValues(derivations, view, now) }
    for (object, slots) in zip(plan.updated, plan.changedSlots) where !slots.isEmpty {
      try object.deriveOwnValues(derivations, view, now)
    }
    return true
  }
}

extension ManagedObject {
  fileprivate func deriveOwnValues(
    _ derivations: DerivationPlan, _ view: IncrementalView, _ now: Date
  ) throws {
    guard let known = derivations.of(entity), !known.ofOwnRow.isEmpty, let context = managedObjectContext
    else { return }
    let row = encodedRow(version: baseVersion, mapping: context.permanentKeys.permanent)
    try row.withUnsafeBytes { bytes in
      let values = try known.values(of: RowView(unchecked: bytes), objectID.key, view, now)
      for (slot, value) in values where self.value(at: slot) != value { setEdit(slot, value) }
    }
  }
}

extension DerivationPlan.OfEntity {
  /// The values of the attributes that depend on a row only.
  func values(
    of row: RowView, _ key: UInt64, _ source: any RowSource, _ now: Date
  ) throws -> [(slot: Int, value: Value)] {
    try ofOwnRow.map { ($0.slot, try $0.value(of: row, key, in: source, now: now)) }
  }
}

/// The derived values of the rows of a batch insert that depend on each row only.
struct OwnDerivations {
  private let entity: EntityDescription
  private let known: DerivationPlan.OfEntity
  private let view: IncrementalView
  private let now = Date()

  /// Nil if the entity has no such attributes.
  init?(_ entity: EntityDescription, _ store: IncrementalStore) {
    guard let known = store.derivations?.of(entity), !known.ofOwnRow.isEmpty else { return nil }
    (self.entity, self.known) = (entity, known)
    let contents = IncrementalContents(store, store.identityOfObjects)
    view = IncrementalView(contents, contents.newestGeneration, hasOneReader: true)
  }

  /// Replaces them in the values of a row, by slot.
  func derive(_ values: inout [Value]) throws {
    var builder = RowBuilder(entity.layout)
    for slot in entity.slots { builder.set(slot, values[slot]) }
    let row = builder.finish(version: 1)
    try row.withUnsafeBytes { bytes in
      for (slot, value) in try known.values(of: RowView(unchecked: bytes), 0, view, now) {
        values[slot] = value
      }
    }
  }
}
