import HeartwoodBytes

/// Reading through a parent context.
///
/// A child context reads what its parent shows, unsaved changes included, and its save moves changes to the parent only.
/// Waiting goes upward: a child waits for its parent's queue, so a block on the parent's queue must not wait for the child's.
extension ManagedObjectContext {
  /// A child of another context, whose fetches show the parent's unsaved changes and whose saves go to the parent.
  ///
  /// - Parameters:
  ///   - concurrencyType: The kind of queue of the context.
  ///   - parent: The parent, which this context retains.
  public convenience init(_ concurrencyType: ConcurrencyType, parent: ManagedObjectContext) {
    self.init(concurrencyType)
    self.parent = parent
  }

  /// The view of the parent with its unsaved changes. Made again only after the parent has changed.
  ///
  /// This context has the identifiers that the view has: both are taken on the parent's queue.
  func viewOfParent(_ parent: ManagedObjectContext) throws -> any StoreView {
    try parent.waitForQueue {
      let view = try parent.viewForChildren()
      takeAssignedIdentifiers(parent.parent == nil ? nil : parent.takenIdentifiers)
      return view
    }
  }

  /// The objects that this context shows, unsaved changes included, as a view that any thread may read.
  func viewForChildren() throws -> any StoreView {
    beginUse("reading through a child context")
    defer { endUse() }
    if propagatesDeletesAtEndOfEvent { propagateDeletes() }
    try throwIfUnreadable()
    let base = try readingView().forOtherQueues
    guard !changes.isEmptyForFetches else {
      shownChanges = nil
      return base
    }
    var rows: FrozenRows?
    if let shown = shownChanges, shown.view.base === base {
      if shown.stamp == editCount { return shown.view }
      rows = ChangesForChildren(self).laterChanges(than: shown)
    }
    let view = ParentView(base, rows ?? ChangesForChildren(self).frozenChanges())
    shownChanges = ShownChanges(view, of: self)
    return view
  }

  // MARK: Identifiers

  /// Takes over the permanent identifiers that a save of the root context has assigned since.
  ///
  /// - Parameter most: Those after the first `most` are left for later; nil to take all.
  @inline(__always)
  func takeAssignedIdentifiers(_ most: Int? = nil) {
    guard let assigned = assignedIdentifiers, parent != nil else { return }
    if min(assigned.count, most ?? .max) > takenIdentifiers { take(assigned, most) }
    if assigned.versions.count > knownVersions.taken { takeSavedVersions(assigned.versions) }
  }

  private func take(_ assigned: AssignedIdentifiers, _ most: Int?) {
    let assignments = assigned.take(after: takenIdentifiers, most, by: self)
    takenIdentifiers += assignments.count
    var newest = KeyMap()
    for assignment in assignments {
      let (former, identifier) = (assignment.former, assignment.identifier)
      if !former.isPermanentKey { newest.insert(identifier.key, for: former) }
      if let object = identities.object(identifier.entity.rootEntity.number, former) {
        if assignment.isUnited { continue }
        rename(object, to: identifier)
        trackers.noteRenamed(object)
      } else if !former.isPermanentKey {
        permanentKeys.insert(identifier.key, for: former)
      }
    }
    Uniting(self).takeUnited(assignments.filter(\.isUnited))
    renameKeysOfObjects()
    // No object has a temporary key of earlier saves any more; only what the event has noted may.
    if event.isEmpty { permanentKeys = newest }
    editCount &+= 1
    forgetShownChanges()
  }

  /// Replaces temporary keys by their permanent ones, in all values of all objects.
  private func renameKeysOfObjects() {
    let store = storeIdentity
    identities.forEach { object in
      object.forEachRelationshipState { $0.rename(permanentKeys.permanent) }
      object.renameEdits(permanentKeys, in: store)
      object.renameRow(permanentKeys)
    }
  }

  /// Records the identifiers that a save or `obtainPermanentIDs` has assigned in the root context.
  func publish(_ assignments: [Assignment]) {
    RetiredKeys.add(assignments.lazy.map(\.former))
    assignedIdentifiers?.record(assignments)
  }
}

/// Objects that a merge policy has made one in the root context.
extension Uniting {
  /// Gives this context's objects the identifiers of those that they are one with now. They read their values again, and keep what is not
  /// saved.
  func takeUnited(_ assignments: [Assignment]) {
    guard !assignments.isEmpty else { return }
    var united = UnitedObjects()
    var keys = UnitedObjects.NewKeys()
    for assignment in assignments {
      let (former, identifier) = (assignment.former, assignment.identifier)
      let root: EntityDescription = identifier.entity.rootEntity
      keys.insert(identifier.key, for: former, of: root)
      guard let object = context.identities.object(root.number, former) else { continue }
      let survivor = takeUnited(object, identifier, &united)
      context.trackers.noteRenamed(survivor)
    }
    context.identities.forEach { object in
      redirect(object, keys)
      object.redirectRow(keys)
    }
  }

  private func takeUnited(
    _ object: ManagedObject, _ identifier: ManagedObjectID, _ united: inout UnitedObjects
  ) -> ManagedObject {
    let (root, key) = (identifier.entity.rootEntity, identifier.key)
    if context.identities.object(root.number, key) == nil, object.entity === identifier.entity {
      context.rename(object, to: identifier)
      object.readAgain()
      return object
    }
    let survivor =
      context.identities.object(root.number, key)
      ?? context.makeFault(identifier.entity.factory, key, in: context.storeIdentity)
    if object.hasUnsavedValues {
      context.changes.updated.remove(object)
      unite(object, with: survivor, UniqueResolution.byOthers, &united)
    } else {
      context.changes.updated.remove(object)
      object.state = []
      context.forget(object)
      object.standFor(survivor, in: context)
    }
    return survivor
  }
}

extension UniqueResolution {
  /// The resolution of another context.
  fileprivate static let byOthers = UniqueResolution(
    type: .mergeByPropertyObjectTrump, replaces: false, conflicting: [])
}

/// The unsaved changes of a context as rows, for the child contexts that read them.
struct ChangesForChildren {
  let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) { self.context = context }

  /// The changes as they are.
  ///
  /// - Complexity: Linear in the number of changed objects.
  func frozenChanges() -> FrozenRows {
    var rows = FrozenRows.Contents()
    for object in context.changes.inserted { add(object, to: &rows) }
    noteStores(of: Array(context.changes.inserted), in: &rows)
    for object in context.changes.updated { add(object, to: &rows) }
    for objects in [context.changes.deleted, context.changes.gone] {
      for object in objects { rows.addDeleted(object.entity.rootEntity, object.identifier.key) }
    }
    return FrozenRows(rows)
  }

  /// The changes as they are, made of those that were shown last; nil if something has changed that no event has, or so much that it would
  /// cost no less.
  ///
  /// - Complexity: Linear in the number of objects that have changed since, and amortised O(log n) for each of n changed ones.
  func laterChanges(than shown: ShownChanges) -> FrozenRows? {
    guard shown.editCountOfEvents == context.editCountOfEvents, !shown.view.base.isOfSeveralStores else {
      return nil
    }
    // The event goes on: what it has changed so far may change again, and comes again when it ends.
    let changed = shown.changed + context.event.changedObjects
    guard changed.count < context.changes.countForFetches / 2 else { return nil }
    var rows = FrozenRows.Contents()
    var seen: Set<ObjectIdentifier> = []
    var new: [ManagedObject] = []
    for object in changed where seen.insert(ObjectIdentifier(object)).inserted {
      let (root, key) = (object.entity.rootEntity, object.identifier.key)
      if object.state.contains(.deleted) {
        rows.addDeleted(root, key)
      } else if object.hasUnsavedState {
        add(object, to: &rows)
        if object.state.contains(.inserted) { new.append(object) }
      } else {
        rows.addUnchanged(root, key)
      }
    }
    noteStores(of: new, in: &rows)
    return shown.view.changes.adding(rows)
  }

  private func add(_ object: ManagedObject, to rows: inout FrozenRows.Contents) {
    let (root, key) = (object.entity.rootEntity, object.identifier.key)
    rows.add(
      object.encodedRow(version: object.rowVersion, mapping: context.permanentKeys.permanent), root, key)
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
    guard let choice = try? context.objectStore().choice(for: objects, of: context) else { return }
    for object in objects { rows.note(store: choice.number(of: object), of: object.identifier.key) }
  }
}

/// The versions of rows that saves of the root context write.
extension ManagedObjectContext {
  /// Tells children which versions the rows of a save have.
  func publishVersions(_ rows: [(ManagedObject, former: UInt32, version: UInt32)]) {
    guard parent == nil, let assignedIdentifiers, assignedIdentifiers.hasContexts else { return }
    assignedIdentifiers.versions.record(
      rows.map { object, former, version in
        SavedVersions.Entry(
          root: object.entity.rootEntity.number, key: object.identifier.key, former: former, version: version)
      })
  }

  /// Takes over the versions that saves of the root have given to rows that this context has read.
  func takeSavedVersions(_ saved: SavedVersions) {
    let (entries, isComplete) = saved.after(knownVersions.taken)
    knownVersions.taken = saved.count
    if !isComplete { knownVersions.isComplete = false }
    for entry in entries {
      guard let object = identities.object(entry.root, entry.key), object.rowVersion == entry.former else {
        continue
      }
      object.setVersion(entry.version)
    }
  }
}
