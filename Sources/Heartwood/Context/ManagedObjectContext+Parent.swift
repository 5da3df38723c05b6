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

  /// What this context shows, unsaved changes included, as a view that any thread may read.
  func viewForChildren() throws -> any StoreView {
    beginUse("reading through a child context")
    defer { endUse() }
    if propagatesDeletesAtEndOfEvent { propagateDeletes() }
    try throwIfUnreadable()
    let base = try readingView().forOtherQueues
    guard !changes.isEmptyForFetches else {
      viewOfChanges = nil
      return base
    }
    if let known = viewOfChanges, known.stamp == editCount, known.view.base === base { return known.view }
    let view = ParentView(base, FrozenChanges(self))
    viewOfChanges = (editCount, view)
    return view
  }

  // MARK: Identifiers

  /// Takes over the permanent identifiers that a save of the root context has assigned since.
  ///
  /// - Parameter most: Those after the first `most` are left for later; nil to take all.
  @inline(__always)
  func takeAssignedIdentifiers(_ most: Int? = nil) {
    if let assigned = assignedIdentifiers, parent != nil, min(assigned.count, most ?? .max) > takenIdentifiers
    {
      take(assigned, most)
    }
  }

  private func take(_ assigned: AssignedIdentifiers, _ most: Int?) {
    let assignments = assigned.take(after: takenIdentifiers, most, by: self)
    takenIdentifiers += assignments.count
    var newest = KeyMap()
    for (temporary, identifier) in assignments {
      newest.insert(identifier.key, for: temporary)
      if let object = identities.object(identifier.entity.rootEntity.number, temporary) {
        rename(object, to: identifier)
        if !trackers.isEmpty { renamedByParent.append(object) }
      } else {
        permanentKeys.insert(identifier.key, for: temporary)
      }
    }
    renameKeysOfObjects()
    // No object has a temporary key of earlier saves any more; only what the event has noted may.
    if event.isEmpty { permanentKeys = newest }
    editCount &+= 1
    pendingLookup = nil
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
  func publish(_ assignments: [AssignedIdentifiers.Assignment]) {
    assignedIdentifiers?.record(assignments)
  }
}
