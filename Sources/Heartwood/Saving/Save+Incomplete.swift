/// Saves to several stores of which some have failed after others had committed.
extension Save {
  /// Makes what the stores have committed the committed state of its objects; the other objects stay changed, so that another save
  /// writes them.
  ///
  /// - Returns: The error of the save.
  func finish(
    _ plan: SavePlan, _ outcome: SaveOutcome, after incomplete: IncompleteSave, _ choice: StoreChoice?
  ) -> HeartwoodError {
    let failed = Set(incomplete.failed.map(\.number))
    // The numbers of the stores, as new objects get permanent identifiers now.
    var lost: Set<ObjectIdentifier> = []
    for object in plan.all where failed.contains(choice?.number(of: object) ?? 0) {
      lost.insert(ObjectIdentifier(object))
    }
    let isDone = { (object: ManagedObject) in !lost.contains(ObjectIdentifier(object)) }
    let rest = SavePlan(plan, where: { !isDone($0) })
    let done = SavePlan(plan, where: isDone)
    var written = SaveOutcome()
    written.identifiers = outcome.identifiers.filter { isDone($0.0) }
    written.rows = outcome.rows.filter { isDone($0.0) }
    written.corrected = outcome.corrected.filter { !failed.contains($0.source.storeNumber) }
    written.derived = outcome.derived.filter { !failed.contains($0.key.storeNumber) }
    takeOver(done, written)
    for object in done.inserted { context.changes.inserted.remove(object) }
    for object in done.updated { context.changes.updated.remove(object) }
    for object in done.deleted { context.changes.deleted.remove(object) }
    context.changes.watched.removeAll { object in
      guard done.watched.contains(where: { $0 === object }) else { return false }
      object.state.remove(.watched)
      return true
    }
    let committed = Set(incomplete.committed.members.compactMap(\.store.text))
    context.nextSave.completedSteps.removeAll { committed.contains($0.storeID) }
    context.editCount &+= 1
    context.forgetShownChanges()
    context.view.held = nil
    context.persistentStoreCoordinator?.noteOwnSave(incomplete.committed)
    let derived = written.derived.compactMap { context.registered($0.entity.rootEntity, $0.key) }
    context.trackers.apply(rewritten: Array(done.written) + done.deleted + derived)
    report(done, written.derived, incomplete.committed)
    done.deleted.forEach(context.forget)
    return .incompleteSave(incomplete, rest)
  }
}

extension HeartwoodError {
  fileprivate static func incompleteSave(_ incomplete: IncompleteSave, _ rest: SavePlan) -> HeartwoodError {
    let saved = incomplete.committed.members.compactMap(\.store.text).joined(separator: ", ")
    let failed = incomplete.failed.compactMap(\.store.text)
    return HeartwoodError(
      .persistentStoreIncompleteSave,
      "the save is incomplete: the stores \(saved) have saved their objects, and \(failed.joined(separator: ", ")) have not: "
        + "\(incomplete.cause); their objects are still changed: mend the cause, and save again",
      objectIDs: rest.all.map(\.objectID), underlying: incomplete.cause,
      isOutcomeUnknown: (incomplete.cause as? HeartwoodError)?.isOutcomeUnknown ?? false
    ).affecting(failed)
  }
}
