import HeartwoodFiles

/// Notifications of a store's observer about a save.
extension Save {
  /// Runs the save, and tells what it wrote or why it failed, once no lock is held.
  ///
  /// - Parameter write: Returns nil if there was nothing to write, which is not told.
  func telling(_ observation: StoreObservation, _ write: () throws -> SavePlan?) throws {
    try LateCalls.after {
      do {
        guard let plan = try write() else { return }
        observation.tell { .saved(ExecutedSave(by: context, plan, $0, nil)) }
      } catch {
        observation.tell { .saved(ExecutedSave(by: context, nil, $0, error)) }
        throw error
      }
    }
  }

  /// Tells the conflicts of one attempt.
  func tell(_ conflicts: HeartwoodError) {
    context.observation?.tell { _ in
      .conflicted(SaveConflicts(conflicts.mergeConflicts, conflicts.constraintConflicts))
    }
  }
}

extension ExecutedSave {
  fileprivate init(
    by context: ManagedObjectContext, _ plan: SavePlan?, _ duration: Duration, _ failure: (any Error)?
  ) {
    self.init(
      contextName: context.name, author: context.transactionAuthor, inserted: plan?.inserted.count ?? 0,
      updated: plan?.updated.count ?? 0, deleted: plan?.deleted.count ?? 0, duration: duration,
      failure: failure)
  }
}

extension SaveConflicts {
  fileprivate init(_ rows: [MergeConflict], _ constraints: [ConstraintConflict]) {
    let objects = constraints.flatMap(\.conflictingObjects)
    let names = rows.map(\.objectID.entity.displayName) + objects.map(\.entity.displayName)
    self.init(rows: rows.count, constraints: constraints.count, entityNames: Set(names).sorted())
  }
}
