import Foundation

/// A save is one transaction of the store: all changes of the context, or none.
extension ManagedObjectContext {
  /// Writes all changes as one transaction; durable when it returns, as far as the store promises.
  ///
  /// Where nothing has really changed, nothing is written and no transaction is made. After an error
  /// the context is as it was, and may be saved again once the cause is mended.
  ///
  /// - Throws: `HeartwoodError`: validation errors (`.validationMultipleErrors` carries all of them in
  ///   `details`), `.managedObjectMerge` when rows were changed elsewhere since they were read,
  ///   `.managedObjectConstraintMerge` when a uniqueness constraint would be broken, or the store's
  ///   own error. An error whose `isOutcomeUnknown` is true says that the transaction may be there
  ///   when the store is opened again.
  public func save() throws {
    beginUse("saving")
    defer { endUse() }
    // 1. Settle what the context wants: deletes that follow from rules, hooks, validation.
    processPendingChanges()
    propagateDeletes()
    try throwIfUnreadable()
    try runWillSave()
    try validateChanges()

    // 2. Write it: conflicts are judged under the writer lock, and any of them undoes the whole.
    let plan = SavePlan(self)
    if plan.isEmpty {
      finishWithoutTransaction()
      return
    }
    let store = try objectStore()
    var outcome = SaveOutcome()
    let info = TransactionInfo(author: transactionAuthor, contextName: name)
    let generation: UInt64
    do {
      (_, generation) = try store.save(info) { outcome = try plan.write(to: $0) }
    } catch let refused as ConstraintViolations {
      throw constraintError(refused.violations, outcome)
    }

    // 3. Nothing can fail from here on: take the written rows as the committed ones.
    finish(plan, outcome)
    movePin(to: generation, in: store)
    for object in plan.written { object.didSave() }
    for object in plan.deleted { object.didSave() }
    plan.deleted.forEach(forget)
    sweepIfDue()
  }

  /// Calls `willSave` until no call changes anything any more.
  private func runWillSave() throws {
    let before = editCount
    let objects = changes.all
    var editCounts: [Int] = []
    editCounts.reserveCapacity(objects.count)
    for object in objects {
      editCounts.append(object.editCount)
      object.willSave()
    }
    propagateDeletes()
    guard editCount != before else { return }
    try repeatWillSave(
      Dictionary(uniqueKeysWithValues: zip(objects.lazy.map(ObjectIdentifier.init), editCounts)))
  }

  /// - Parameter seen: how often each object had been edited when it was last called.
  private func repeatWillSave(_ seen: [ObjectIdentifier: Int]) throws {
    var seen = seen
    let roundLimit = 100
    for round in 2...roundLimit {
      let before = editCount
      let objects = changes.all
      for object in objects where seen[ObjectIdentifier(object)] != object.editCount {
        seen[ObjectIdentifier(object)] = object.editCount
        object.willSave()
      }
      propagateDeletes()
      if editCount == before { return }
      if round == roundLimit { throw HeartwoodError.willSaveNeverSettles(objects) }
    }
  }

  private func finish(_ plan: SavePlan, _ outcome: SaveOutcome) {
    permanentKeys.reserve(outcome.identifiers.count)
    for (object, identifier) in outcome.identifiers { rename(object, to: identifier) }
    let keys = permanentKeys
    for (object, row) in outcome.rows { object.commit(row: row) }
    for object in plan.written {
      object.forEachRelationshipState { $0.commit(mapping: keys.permanent) }
      object.forgetEdits()
      object.state.remove([.inserted, .updated])
    }
    for object in plan.deleted {
      object.state.remove([.deleted, .inserted])
    }
    finishWithoutTransaction()
    // Every value that held a temporary key has been saved with the lasting one.
    permanentKeys = KeyMap()
  }

  /// Clears every mark of a change: what was marked changed has no difference left.
  private func finishWithoutTransaction() {
    for object in changes.updated {
      object.dropEdits()
      object.forEachRelationshipState { $0.forgetDifferences() }
      object.state.remove(.updated)
    }
    for object in discarded {
      object.state.remove([.deleted, .inserted])
      forget(object)
    }
    for object in changes.deleted where object.state.contains(.inaccessible) { forget(object) }
    for object in watched { object.state.remove(.watched) }
    discarded = []
    watched = []
    changes = PendingChanges()
    view.held = nil
  }

  /// A pinned context sees its own save, so its pin moves past it.
  private func movePin(to generation: UInt64, in store: any ObjectStore) {
    guard view.pinned != nil else { return }
    // The generation is the newest one or a little older: the writer just made it.
    if let moved = try? store.view(at: generation) { view.pinned = moved }
  }
}
