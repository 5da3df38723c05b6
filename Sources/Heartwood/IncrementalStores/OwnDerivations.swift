import Foundation

/// Derived attributes that depend on the object itself only: they have their values before a store of a program is asked to save.
extension ManagedObjectContext {
  /// Gives the objects of a save their values as edits.
  ///
  /// - Returns: The plan with them.
  func derivingOwnValues(_ plan: SavePlan) throws -> SavePlan {
    guard parent == nil, let contents = try objectStore() as? IncrementalContents,
      let derivations = try contents.openStore().derivations
    else { return plan }
    let view = IncrementalView(contents, contents.newestGeneration, self, hasOneReader: true)
    let now = Date()
    for object in plan.inserted { try deriveOwnValues(of: object, derivations, view, now) }
    for (object, slots) in zip(plan.updated, plan.changedSlots) where !slots.isEmpty {
      try deriveOwnValues(of: object, derivations, view, now)
    }
    return SavePlan(self)
  }

  private func deriveOwnValues(
    of object: ManagedObject, _ derivations: DerivationPlan, _ view: IncrementalView, _ now: Date
  ) throws {
    guard let known = derivations.of(object.entity), !known.ofOwnRow.isEmpty else { return }
    let mapping = permanentKeys.permanent
    let row = object.encodedRow(version: object.baseVersion, mapping: mapping)
    try row.withUnsafeBytes { bytes in
      let values = try known.values(of: RowView(unchecked: bytes), object.objectID.key, view, now)
      for (slot, value) in values where object.value(at: slot) != value { object.setEdit(slot, value) }
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
