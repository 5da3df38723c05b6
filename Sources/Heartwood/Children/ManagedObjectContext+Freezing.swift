/// The unsaved changes of a context as rows, for the child contexts that read them.
extension ManagedObjectContext {
  /// The changes as they are.
  ///
  /// - Complexity: Linear in the number of changed objects.
  func frozenChanges() -> FrozenRows {
    var rows = FrozenRows.Contents()
    for object in changes.inserted { add(object, to: &rows) }
    noteStores(of: Array(changes.inserted), in: &rows)
    for object in changes.updated { add(object, to: &rows) }
    for object in changes.deleted { rows.add(nil, object.entity.rootEntity, object.identifier.key) }
    for object in changes.gone { rows.add(nil, object.entity.rootEntity, object.identifier.key) }
    return FrozenRows(rows)
  }

  private func add(_ object: ManagedObject, to rows: inout FrozenRows.Contents) {
    let (root, key) = (object.entity.rootEntity, object.identifier.key)
    rows.add(object.encodedRow(version: object.rowVersion, mapping: permanentKeys.permanent), root, key)
    for slot in object.changedStoredToManySlots {
      guard let state = object.relationshipState(at: slot) else { continue }
      let differences = state.differences
      rows.set(
        state.isLoaded
          ? .all(state.keys()) : .differences(added: differences.added, removed: differences.removed),
        at: slot, root, key)
    }
  }

  private func noteStores(of objects: [ManagedObject], in rows: inout FrozenRows.Contents) {
    // An object that no store can have is in none: its save will say so.
    guard let choice = try? objectStore().choice(for: objects, of: self) else { return }
    for object in objects { rows.note(store: choice.number(of: object), of: object.identifier.key) }
  }
}
