import Foundation
import HeartwoodBytes

/// A save of a context: one transaction of the store, which has all changes of the context or none.
package struct Save {
  let context: ManagedObjectContext

  package init(_ context: ManagedObjectContext) { self.context = context }

  /// Completes the changes, writes them, and makes what was written the committed state.
  func run() throws {
    guard context.parent == nil, let observation = context.observation else {
      _ = try writeChanges()
      return
    }
    try telling(observation, writeChanges)
  }

  /// - Returns: The plan that was written; nil if there was nothing to write.
  private func writeChanges() throws -> SavePlan? {
    context.beginUse("saving")
    defer { context.endUse() }
    require(
      context.saveProgress == nil,
      "save() was called by a hook or an observer of the same save: leave it to the caller"
    )
    context.saveProgress = SaveProgress()
    defer { context.saveProgress = nil }
    NotificationCenter.default.post(name: .managedObjectContextWillSave, object: context)
    // 1. Complete the changes: deletes that follow from rules, hooks, validation.
    try completeChanges()
    // 2. Write them. Conflicts are detected under the writer lock, and any conflict aborts the whole transaction. The merge
    //    policy then changes the conflicting objects, and the save is tried again.
    guard let (plan, outcome, generation) = try writeResolvingConflicts() else {
      if context.parent == nil {
        try context.persistentStoreCoordinator?.objectStore?.savePendingMetadata()
        if !context.nextSave.completedSteps.isEmpty {
          try context.objectStore().save(context.nextSave.completedSteps)
        }
      }
      let gone = goneForTrackers
      finishWithoutTransaction()
      context.trackers.apply(rewritten: gone)
      // As Core Data does.
      NotificationCenter.default.post(name: .managedObjectContextDidSave, object: context)
      context.post(.managedObjectContextDidSaveObjectIDs, ObjectIDChanges())
      return nil
    }
    // 3. Nothing can fail from here on: the written rows become the committed ones.
    let gone = goneForTrackers
    finish(plan, outcome)
    if let generation { movePin(to: generation) }
    let derived = outcome.derived.compactMap { context.registered($0.entity.rootEntity, $0.key) }
    context.trackers.apply(rewritten: plan.written + plan.deleted + gone + derived)
    report(plan, outcome.derived, generation)
    plan.deleted.forEach(context.forget)
    context.sweepIfDue()
    return plan
  }

  /// Objects that the save lets leave because others have deleted them; they may have been inserted again since. Empty without live results.
  private var goneForTrackers: [ManagedObject] {
    context.trackers.isEmpty ? [] : Array(context.changes.gone)
  }

  private func completeChanges() throws {
    context.processPendingChanges()
    context.propagateDeletes()
    try context.throwIfUnreadable()
    if context.parent == nil { try context.persistentStoreCoordinator?.throwRefusal() }
    if let lost = context.nextSave.lostEdit {
      context.nextSave.lostEdit = nil
      throw lost
    }
    try runWillSave()
    try validateChanges()
    context.endEvent()
  }

  /// - Returns: nil if there is nothing to write.
  private func writeResolvingConflicts() throws -> (SavePlan, SaveOutcome, generation: StoreGenerations?)? {
    var former: ContextImage?
    do {
      let written = try writeUntilResolved(&former)
      acceptResolution()
      return written
    } catch let error as HeartwoodError where error.code == .persistentStoreIncompleteSave {
      // Objects that some stores have saved are no longer to be taken back.
      acceptResolution()
      publishUnited()
      throw error
    } catch {
      former?.restore(in: context, after: context.saveProgress?.resolution?.events ?? [])
      context.saveProgress?.resolution = nil
      context.unitedInSave = []
      throw error
    }
  }

  /// - Parameter former: Set before a merge policy changes anything.
  private func writeUntilResolved(_ former: inout ContextImage?) throws -> (
    SavePlan, SaveOutcome, generation: StoreGenerations?
  )? {
    var round = 1
    while true {
      let plan = context.parent == nil ? try context.objectStore().plan(of: context) : SavePlan(context)
      if plan.isEmpty { return nil }
      plan.readDeletedFaults()
      do {
        let (outcome, generation) = try write(plan)
        return (plan, outcome, generation)
      } catch let error as HeartwoodError where error.isConflict {
        guard round < Self.mostRoundsOfConflicts, context.parent == nil else { throw error }
        round += 1
        tell(error)
        if former == nil, context.mergePolicy.mayChangeObjects {
          former = ContextImage(of: context)
          context.saveProgress?.resolution = SaveProgress.Resolution()
        }
        try resolve(error)
        try completeChanges()
      }
    }
  }

  /// Registers the changes of the merge policy, which can be undone once they are saved.
  private func acceptResolution() {
    let resolution = context.saveProgress?.resolution
    context.saveProgress?.resolution = nil
    for record in resolution?.undo ?? [] { context.registerUndo(record) }
  }

  /// Lets the merge policy change the conflicting objects.
  ///
  /// - Throws: The error of the policy, with the store.
  private func resolve(_ conflict: HeartwoodError) throws {
    do {
      try context.mergePolicy.resolve(mergeConflicts: conflict.mergeConflicts + conflict.constraintConflicts)
    } catch let refused as HeartwoodError {
      throw refused.affecting(context.storeIdentity.text)
    }
  }

  /// Others may save between two rounds, and resolving one conflict may reveal another.
  private static let mostRoundsOfConflicts = 32

  /// - Returns: The generations that the save made; nil if it went to a parent.
  private func write(_ plan: SavePlan) throws -> (SaveOutcome, generation: StoreGenerations?) {
    if let parent = context.parent {
      var outcome = SaveOutcome()
      try ChildSave(context).move(plan, to: parent)
      outcome.rows = plan.written.map {
        ($0, $0.encodedRow(version: $0.rowVersion, mapping: context.permanentKeys.permanent))
      }
      return (outcome, nil)
    }
    var info = TransactionInfo(
      author: context.transactionAuthor ?? ChildSave(context).authorOfChildren, contextName: context.name)
    info.consumers = context.nextSave.completedSteps
    info.appliedChanges = context.appliedChanges
    let (outcome, newest) = try context.objectStore().save(plan, of: context, info)
    context.appliedChanges = nil
    return (outcome, newest)
  }

  /// Calls `didSave` of the saved objects, and posts the notifications of the save.
  func report(_ plan: SavePlan, _ derived: [DerivedRow], _ generation: StoreGenerations?) {
    for object in plan.written { object.didSave() }
    for object in plan.deleted {
      // `didSave` may ask whether its object is deleted, as with Core Data.
      object.state.insert(.deleted)
      object.didSave()
      object.state.remove(.deleted)
    }
    var saved = ContextChanges()
    saved.insertedObjects = Set(plan.inserted)
    saved.updatedObjects = Set(plan.updated)
    saved.deletedObjects = Set(plan.deleted)
    for row in derived {
      guard let object = context.registered(row.entity.rootEntity, row.key) else { continue }
      if !saved.insertedObjects.contains(object) { saved.updatedObjects.insert(object) }
    }
    // Of the lists, whose objects are neighbours in memory more often than those of a set.
    func identifiers(_ objects: [ManagedObject]) -> Set<ManagedObjectID> { Set(objects.lazy.map(\.objectID)) }
    var identifiers = ObjectIDChanges(
      insertedObjectIDs: identifiers(plan.inserted), updatedObjectIDs: identifiers(plan.updated),
      deletedObjectIDs: identifiers(plan.deleted))
    for row in derived {
      let identifier = ManagedObjectID(entity: row.entity, key: row.key, store: context.storeIdentity)
      if !identifiers.insertedObjectIDs.contains(identifier) {
        identifiers.updatedObjectIDs.insert(identifier)
      }
    }
    identifiers.queryGeneration = generation.map { QueryGenerationToken($0) }
    var info = saved.userInfo
    info[ManagedObjectContext.NotificationKey.queryGeneration.rawValue] = identifiers.queryGeneration
    NotificationCenter.default.post(name: .managedObjectContextDidSave, object: context, userInfo: info)
    context.post(.managedObjectContextDidSaveObjectIDs, identifiers)
    notifyFollowers(identifiers)
  }

  /// The contexts that merge by themselves what this one saves.
  private func notifyFollowers(_ changes: ObjectIDChanges) {
    context.children.notify(changes, from: nil)
    if let parent = context.parent {
      parent.children.notify(changes, from: context)
    } else {
      context.persistentStoreCoordinator?.followers.notify(changes, from: context)
    }
  }

  /// Calls `willSave` until a round of calls changes nothing.
  private func runWillSave() throws {
    let before = context.editCount
    let objects = context.changes.all
    var editCounts: [Int] = []
    editCounts.reserveCapacity(objects.count)
    for object in objects {
      editCounts.append(object.editCount)
      object.willSave()
    }
    context.propagateDeletes()
    guard context.editCount != before else { return }
    try repeatWillSave(
      Dictionary(uniqueKeysWithValues: zip(objects.lazy.map(ObjectIdentifier.init), editCounts)))
  }

  /// - Parameter seen: The edit count of each object when its `willSave` was last called.
  private func repeatWillSave(_ seen: [ObjectIdentifier: Int]) throws {
    var seen = seen
    let roundLimit = 100
    for round in 2...roundLimit {
      let before = context.editCount
      let objects = context.changes.all
      for object in objects where seen[ObjectIdentifier(object)] != object.editCount {
        seen[ObjectIdentifier(object)] = object.editCount
        object.willSave()
      }
      context.propagateDeletes()
      if context.editCount == before { return }
      if round == roundLimit { throw HeartwoodError.willSaveNeverSettles(objects) }
    }
  }

  private func finish(_ plan: SavePlan, _ outcome: SaveOutcome) {
    takeOver(plan, outcome)
    finishWithoutTransaction()
    context.nextSave.assignedStores = [:]
    // Every value that contained a temporary key has been saved with the permanent one. The rows of a child's parent may
    // still have temporary ones.
    if context.parent == nil { context.permanentKeys = KeyMap() }
  }

  /// Tells children which of their objects are others now.
  private func publishUnited() {
    context.publish(
      context.unitedInSave.map {
        Assignment(former: $0.key, identifier: $0.survivor.standing.identifier, isUnited: true)
      })
    context.unitedInSave = []
  }

  /// Makes what was written the committed state of the objects.
  func takeOver(_ plan: SavePlan, _ outcome: SaveOutcome) {
    context.permanentKeys.reserve(outcome.identifiers.count)
    context.publish(outcome.identifiers.map { Assignment(former: $0.identifier.key, identifier: $1) })
    for (object, identifier) in outcome.identifiers { context.rename(object, to: identifier) }
    let keys = context.permanentKeys
    var versions: [(ManagedObject, former: UInt32, version: UInt32)] = []
    for (object, row) in outcome.rows {
      let former = object.rowVersion
      object.commit(row: row)
      if context.assignedIdentifiers != nil { versions.append((object, former, object.rowVersion)) }
    }
    context.publishVersions(versions)
    for object in plan.written {
      object.forEachRelationshipState { $0.commit(mapping: keys.permanent) }
      object.forgetEdits()
      object.state.remove([.inserted, .updated])
      TransientLinks(context).keepForTransientLinks(object)
    }
    TransientLinks(context).renameTransientLinks()
    showDerived(outcome.derived)
    for (relationship, source) in outcome.corrected {
      guard let root = relationship.entity?.rootEntity, let object = context.registered(root, source) else {
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
      guard let object = context.registered(row.entity.rootEntity, row.key), object.storedRow != nil,
        !object.state.contains(.deleted)
      else { continue }
      if object.isRealised {
        object.commit(row: row.row)
      } else {
        object.turnIntoFault()
      }
      context.event.refreshed.append(object)
    }
  }

  /// Clears all change marks, and publishes what was united. Objects that are still marked as changed do not differ from their rows.
  private func finishWithoutTransaction() {
    for object in context.changes.updated {
      object.keepTransientEdits()
      object.dropEdits()
      let keys = context.permanentKeys
      object.forEachRelationshipState {
        if $0.isTransient { $0.commit(mapping: keys.permanent) } else { $0.forgetDifferences() }
      }
      object.state.remove(.updated)
      TransientLinks(context).keepForTransientLinks(object)
    }
    for object in context.changes.discarded {
      object.state.remove([.deleted, .inserted])
      context.forget(object)
    }
    for object in context.changes.gone { context.forget(object) }
    for object in context.changes.watched {
      object.state.remove(.watched)
      object.conflictBase = nil
    }
    context.nextSave.authorsOfChildren = []
    context.nextSave.completedSteps = []
    context.changes.endSave()
    context.forgetShownChanges()
    context.view.held = nil
    publishUnited()
  }

  /// Moves the pin of a pinned context to the generation of its own save, so that it sees that save.
  private func movePin(to generation: StoreGenerations) {
    guard context.view.pinned != nil else { return }
    // The view of the generation can still be opened: it is the newest or close to it. If not, the next read pins the newest
    // one, or throws what is wrong with the store; the state before the own save is not shown.
    context.view.pinned = try? context.objectStore().view(at: generation)
    context.view.pinsAtNextRead = context.view.pinned == nil
  }
}
