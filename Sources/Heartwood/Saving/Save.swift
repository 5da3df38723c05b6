import Foundation
import HeartwoodBytes

/// A save is one transaction of the store: it writes all changes of the context, or none.
extension ManagedObjectContext {
  /// What `save()` does.
  package func saveChanges() throws {
    beginUse("saving")
    defer { endUse() }
    require(!isSaving, "save() was called by a hook or an observer of the same save: leave it to the caller")
    isSaving = true
    defer { isSaving = false }
    NotificationCenter.default.post(name: .managedObjectContextWillSave, object: self)
    // 1. Complete the changes: deletes that follow from rules, hooks, validation.
    try completeChanges()
    // 2. Write them. Conflicts are detected under the writer lock, and any conflict aborts the whole transaction. The merge
    //    policy then changes the conflicting objects, and the save is tried again.
    guard let (plan, outcome, generation) = try writeResolvingConflicts() else {
      if parent == nil { try persistentStoreCoordinator?.objectStore?.savePendingMetadata() }
      let gone = inaccessibleForTrackers
      finishWithoutTransaction()
      return tellTrackers(rewritten: gone)
    }
    // 3. Nothing can fail from here on: the written rows become the committed ones.
    let gone = inaccessibleForTrackers
    finish(plan, outcome)
    if let generation { movePin(to: generation) }
    let derived = outcome.derived.compactMap { registered($0.entity.rootEntity, $0.key) }
    tellTrackers(rewritten: plan.written + plan.deleted + gone + derived)
    report(plan, outcome.derived, generation)
    plan.deleted.forEach(forget)
    sweepIfDue()
  }

  private func completeChanges() throws {
    processPendingChanges()
    propagateDeletes()
    try throwIfUnreadable()
    if let lost = lostEdit {
      lostEdit = nil
      throw lost
    }
    try runWillSave()
    try validateChanges()
    endEvent()
  }

  /// - Returns: nil if there is nothing to write.
  private func writeResolvingConflicts() throws -> (SavePlan, SaveOutcome, generation: StoreGenerations?)? {
    var image: ContextImage?
    do {
      let written = try writeResolvingConflicts(&image)
      acceptResolution()
      return written
    } catch let error as HeartwoodError where error.code == .persistentStoreIncompleteSave {
      // What some stores have saved is no longer to be taken back.
      acceptResolution()
      publishUnited()
      throw error
    } catch {
      image?.restore(in: self, after: eventsOfResolution ?? [])
      eventsOfResolution = nil
      undoOfResolution = []
      unitedInSave = []
      throw error
    }
  }

  /// - Parameter image: Set before a merge policy changes anything.
  private func writeResolvingConflicts(_ image: inout ContextImage?) throws
    -> (SavePlan, SaveOutcome, generation: StoreGenerations?)?
  {
    var round = 1
    while true {
      let plan = parent == nil ? try objectStore().plan(of: self) : SavePlan(self)
      if plan.isEmpty { return nil }
      plan.readDeletedFaults()
      do {
        let (outcome, generation) = try write(plan)
        return (plan, outcome, generation)
      } catch let error as HeartwoodError where error.isConflict {
        guard round < Self.mostRoundsOfConflicts, parent == nil else { throw error }
        round += 1
        if image == nil, mergePolicy.mayChangeObjects {
          image = ContextImage(of: self)
          eventsOfResolution = []
        }
        try resolve(error)
        try completeChanges()
      }
    }
  }

  /// What the merge policy has changed can be undone once it is saved.
  private func acceptResolution() {
    eventsOfResolution = nil
    for record in undoOfResolution { registerUndo(record) }
    undoOfResolution = []
  }

  /// Lets the merge policy change the conflicting objects.
  ///
  /// - Throws: The error of the policy, with the store.
  private func resolve(_ conflict: HeartwoodError) throws {
    do {
      try mergePolicy.resolve(mergeConflicts: conflict.mergeConflicts + conflict.constraintConflicts)
    } catch let refused as HeartwoodError {
      throw refused.affecting(storeIdentity.text)
    }
  }

  /// Others may save between two rounds, and resolving one conflict may reveal another.
  private static let mostRoundsOfConflicts = 32

  /// - Returns: The generations that the save made; nil if it went to a parent.
  private func write(_ plan: SavePlan) throws -> (SaveOutcome, generation: StoreGenerations?) {
    if let parent {
      var outcome = SaveOutcome()
      try move(plan, to: parent)
      outcome.rows = plan.written.map {
        ($0, $0.encodedRow(version: $0.rowVersion, mapping: permanentKeys.permanent))
      }
      return (outcome, nil)
    }
    let info = TransactionInfo(author: transactionAuthor ?? authorOfChildren, contextName: name)
    let (outcome, newest) = try objectStore().save(plan, of: self, info)
    return (outcome, newest)
  }

  /// Calls `didSave` of the saved objects, and posts the notifications of the save.
  func report(_ plan: SavePlan, _ derived: [DerivedRow], _ generation: StoreGenerations?) {
    for object in plan.written { object.didSave() }
    for object in plan.deleted { object.didSave() }
    var saved = ContextChanges()
    saved.insertedObjects = Set(plan.inserted)
    saved.updatedObjects = Set(plan.updated)
    saved.deletedObjects = Set(plan.deleted)
    for row in derived {
      guard let object = registered(row.entity.rootEntity, row.key) else { continue }
      if !saved.insertedObjects.contains(object) { saved.updatedObjects.insert(object) }
    }
    var identifiers = saved.objectIDs
    for row in derived {
      let identifier = ManagedObjectID(entity: row.entity, key: row.key, store: storeIdentity)
      if !identifiers.insertedObjectIDs.contains(identifier) {
        identifiers.updatedObjectIDs.insert(identifier)
      }
    }
    identifiers.queryGeneration = generation.map { QueryGenerationToken($0) }
    var info = saved.userInfo
    info[NotificationKey.queryGeneration.rawValue] = identifiers.queryGeneration
    NotificationCenter.default.post(name: .managedObjectContextDidSave, object: self, userInfo: info)
    post(.managedObjectContextDidSaveObjectIDs, identifiers)
    tellFollowers(identifiers)
  }

  /// Calls `willSave` until a round of calls changes nothing.
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

  /// - Parameter seen: The edit count of each object when its `willSave` was last called.
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
    takeOver(plan, outcome)
    finishWithoutTransaction()
    assignedStores = [:]
    // Every value that contained a temporary key has been saved with the permanent one. The rows of a child's parent may
    // still have temporary ones.
    if parent == nil { permanentKeys = KeyMap() }
  }

  /// Tells children which of their objects are others now.
  private func publishUnited() {
    publish(
      unitedInSave.map {
        Assignment(former: $0.key, identifier: $0.survivor.standing.identifier, isUnited: true)
      })
    unitedInSave = []
  }

  /// Makes what was written the committed state of the objects.
  func takeOver(_ plan: SavePlan, _ outcome: SaveOutcome) {
    permanentKeys.reserve(outcome.identifiers.count)
    publish(outcome.identifiers.map { Assignment(former: $0.identifier.key, identifier: $1) })
    for (object, identifier) in outcome.identifiers { rename(object, to: identifier) }
    let keys = permanentKeys
    var versions: [(ManagedObject, former: UInt32, version: UInt32)] = []
    for (object, row) in outcome.rows {
      let former = object.rowVersion
      object.commit(row: row)
      if assignedIdentifiers != nil { versions.append((object, former, object.rowVersion)) }
    }
    publishVersions(versions)
    for object in plan.written {
      object.forEachRelationshipState { $0.commit(mapping: keys.permanent) }
      object.forgetEdits()
      object.state.remove([.inserted, .updated])
      keepForTransientLinks(object)
    }
    renameTransientLinks()
    showDerived(outcome.derived)
    for (relationship, source) in outcome.corrected {
      guard let root = relationship.entity?.rootEntity, let object = registered(root, source) else {
        continue
      }
      object.relationshipState(at: relationship.slot)?.unload()
    }
    for object in plan.deleted {
      object.state.remove([.deleted, .inserted])
    }
  }

  /// Shows the derived values of registered objects that the store has computed with the save.
  private func showDerived(_ rows: [DerivedRow]) {
    for row in rows {
      guard let object = registered(row.entity.rootEntity, row.key), object.storedRow != nil,
        !object.state.contains(.deleted)
      else { continue }
      if object.isRealised {
        object.commit(row: row.row)
      } else {
        object.turnIntoFault()
      }
      event.refreshed.append(object)
    }
  }

  /// Clears all change marks, and publishes what was united. Objects that are still marked as changed do not differ from their rows.
  private func finishWithoutTransaction() {
    for object in changes.updated {
      object.keepTransientEdits()
      object.dropEdits()
      let keys = permanentKeys
      object.forEachRelationshipState {
        if $0.isTransient { $0.commit(mapping: keys.permanent) } else { $0.forgetDifferences() }
      }
      object.state.remove(.updated)
      keepForTransientLinks(object)
    }
    for object in discarded {
      object.state.remove([.deleted, .inserted])
      forget(object)
    }
    for object in changes.gone { forget(object) }
    for object in watched {
      object.state.remove(.watched)
      object.conflictBase = nil
    }
    discarded = ObjectList()
    watched = []
    authorsOfChildren = []
    changes = PendingChanges()
    forgetShownChanges()
    view.held = nil
    publishUnited()
  }

  /// Moves the pin of a pinned context to the generation of its own save, so that it sees that save.
  private func movePin(to generation: StoreGenerations) {
    guard view.pinned != nil else { return }
    // The view of the generation can still be opened: it is the newest or close to it. If not, the next read pins the newest
    // one, or throws what is wrong with the store; the state before the own save is not shown.
    view.pinned = try? objectStore().view(at: generation)
    view.pinsAtNextRead = view.pinned == nil
  }
}
