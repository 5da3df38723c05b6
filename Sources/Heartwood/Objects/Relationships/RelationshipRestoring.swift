/// Relationships whose other sides, or whose rows, others have changed.
struct RelationshipRestoring {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// Adds an object to a to-many relationship that the store does not have it in any more, whatever was read or taken out there before.
  func addAgain(_ object: ManagedObject, to other: ManagedObject, _ slot: Int) {
    let (state, key) = (context.state(other, slot), object.identifier.key)
    guard !state.added.contains(key) else { return }
    if state.isKnownOfStore(key) {
      state.dropRemoval(of: key)
      if state.isLoaded { context.reload(state, other, slot) }
    }
    context.willEdit(other)
    state.add(key)
  }
}

extension ManagedObject {
  /// The destinations in the row of to-one relationships whose inverse is to-many, by slot.
  final var committedOwners: [(slot: Int, owner: Value)] {
    entity.compiled.memberships.map { ($0.slot, committedValue(at: $0.slot)) }
  }

  /// The partners of edited to-one relationships in the row, by slot.
  final var committedPartners: [(slot: Int, partner: Value)] {
    editedSlots.filter { entity.compiled.relationshipBySlot[$0] != nil }.map { ($0, committedValue(at: $0)) }
  }

  /// Whether the deletion of the row leaves no unsaved change that a save could conflict with: objects that were only taken out
  /// of a relationship are out of it anyway.
  final var hasNothingWithoutRow: Bool {
    dropEqualEdits()
    guard pending?.hasEdits != true else { return false }
    return changedStoredToManySlots.allSatisfy { relationshipState(at: $0)?.added.isEmpty == true }
  }

  /// Drops unsaved values that are equal to those on which they were made: they are no changes.
  final func dropEqualEdits() {
    guard let pending, hasRow else { return }
    for slot in editedSlots where pending.edit(slot)?.isStored(as: baseValue(at: slot)) == true {
      pending.dropEdit(slot)
    }
    exposeRow()
  }
}
