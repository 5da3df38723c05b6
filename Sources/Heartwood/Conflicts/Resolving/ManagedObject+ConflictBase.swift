/// The row on which an object's unsaved values were made.
extension ManagedObject {
  /// Set if another save has changed the same properties since, and was merged.
  final var conflictBase: StoredRow? {
    get { pending?.header.conflictBase }
    set { if newValue != nil || pending != nil { makePendingValues().header.conflictBase = newValue } }
  }

  /// The version that a save expects in the store.
  final var baseVersion: UInt32 { conflictBase?.view.version ?? rowVersion }

  /// The value of a property in the row on which the unsaved values were made; the default without a row.
  final func baseValue(at slot: Int) -> Value {
    guard let row = (conflictBase ?? storedRow)?.view else { return entity.initialValue(at: slot) }
    let layout = entity.layout
    return row.value(layout.columns[slot], layout: layout, store: identifier.store)
  }

  /// Whether an edited property has another value in the row than in a former one, and than the unsaved one.
  final func isConflicting(with base: StoredRow?) -> Bool {
    base.map { isConflicting(with: $0, in: editedSlots) } ?? false
  }

  /// The same for some of the edited properties.
  final func isConflicting(with base: StoredRow, in slots: [Int]) -> Bool {
    guard let row, base.view.version != row.version else { return false }
    let layout = entity.layout
    return slots.contains { slot in
      guard layout.columns[slot].kind != .transient else { return false }
      let former = base.view.value(layout.columns[slot], layout: layout, store: identifier.store)
      let newest = row.value(layout.columns[slot], layout: layout, store: identifier.store)
      return former != newest && pending?.edit(slot) != newest && pending?.edit(slot) != former
    }
  }
}
