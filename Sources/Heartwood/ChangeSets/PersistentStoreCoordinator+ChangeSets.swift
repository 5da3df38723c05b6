import Foundation

/// Change sets between copies of a store.
extension PersistentStoreCoordinator {
  /// The differences between two generations of a store, for another copy of it.
  ///
  /// - Parameters:
  ///   - former: The number of the earlier generation, or transaction: one that the store can still read, or holds.
  ///   - present: The number of the later one; nil for the newest.
  ///   - store: One of several stores; nil for the only one.
  /// - Throws: The store's error if it no longer has one of the generations; `.persistentStoreOperation` if they are not in order;
  ///   `.persistentHistoryTokenExpired` if the history that says when its objects were changed is deleted;
  ///   `.persistentStoreUnsupportedRequestType` if the store has no past generations.
  /// - Complexity: Linear in the pages that differ, in the transactions since the last exchange, and in the changes between the generations, which are
  ///   in memory.
  public func changeSet(
    from former: UInt64, to present: UInt64? = nil, of store: PersistentStore? = nil
  ) throws -> ChangeSet {
    let views = try historyStore(store).pastViews(at: former, and: present)
    guard former <= views.later.generation else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "a change set is from an earlier generation to a later one, and \(former) is after \(views.later.generation): invert the set of the "
          + "other order")
    }
    return try changeSet(of: views)
  }

  private func changeSet(of views: GenerationPair) throws -> ChangeSet {
    var making = try ChangeSetMaking(from: views.earlier, to: views.later)
    return try making.run(managedObjectModel.versionChecksum)
  }

  /// The changes that another copy of a store does not have yet, by the positions of that copy.
  ///
  /// - Parameters:
  ///   - positions: `changeSetPositions(of:)` of the other copy.
  ///   - store: One of several stores; nil for the only one.
  /// - Throws: As `changeSet(from:to:of:)`.
  public func changeSet(
    after positions: [UUID: UInt64], of store: PersistentStore? = nil
  ) throws -> ChangeSet {
    let log = try historyStore(store)
    let later = try log.newestView()
    let replica = try later.replica()
    let former = max(positions[replica.ownLineage] ?? 0, replica.start)
    guard former <= later.generation else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "the other copy says that it has transaction \(former) of this one, whose newest is \(later.generation): this is an older copy of the store"
      )
    }
    let views = try? log.pastViews(at: former, and: later.generation)
    return try changeSet(
      of: views ?? GenerationPair(earlier: log.pastView(afterTransaction: former), later: later))
  }

  /// The number of the last transaction that a store has of each lineage: its own, and those of the copies that it has exchanged change sets with.
  ///
  /// - Parameter store: One of several stores; nil for the only one.
  /// - Throws: The store's error if it cannot be read.
  public func changeSetPositions(of store: PersistentStore? = nil) throws -> [UUID: UInt64] {
    let view = try historyStore(store).newestView()
    let replica = try view.replica()
    return replica.known.merging([replica.ownLineage: try view.changeSetPosition(replica)]) { $1 }
  }

  /// Begins a lineage of a store's own: objects that are inserted from now on are told from those of the store that it is a copy of. To be called
  /// for a copy (a backup, a copied folder) before anything else is saved to it.
  ///
  /// - Parameter store: One of several stores; nil for the only one.
  /// - Returns: The lineage.
  /// - Throws: The store's error if it cannot be written.
  @discardableResult
  public func beginLineage(of store: PersistentStore? = nil) throws -> UUID {
    let identifier = UUID()
    try historyStore(store).writeWithoutHistory("a lineage could not be begun") {
      try $0.beginLineage(identifier)
    }
    return identifier
  }

  /// Applies a change set of another copy to the only store, in one transaction. What the store has already is left out, so a set may come twice.
  ///
  /// - Parameters:
  ///   - set: The set.
  ///   - policy: The policy that decides where both have changed the same.
  ///   - author: The author of the transaction in the history.
  /// - Returns: A report on the changes.
  /// - Throws: `.persistentStoreSaveConflicts` with the policy `error` if both have changed the same; `.persistentHistoryTokenExpired` if something
  ///   between is missing that the store does not have, or if the set is of a copy that has no lineage of its own;
  ///   `.persistentStoreIncompatibleVersionHash` for another model; `.persistentStoreOperation` where there are several stores; and as a save.
  ///   Nothing is changed then.
  @discardableResult
  public func apply(
    _ set: ChangeSet, policy: ChangeSetPolicy = .error, author: String? = nil
  ) throws -> ChangeSetReport {
    let log = try historyStore(nil)
    try log.refuseIfReadOnly()
    var round = 0
    while true {
      let view = try log.newestView()
      if try set.isKnown(in: view, managedObjectModel.versionChecksum) {
        var report = ChangeSetReport()
        report.wasKnown = true
        return report
      }
      do {
        return try apply(set, policy, author, log, view)
      } catch let error as HeartwoodError where error.code == .managedObjectMerge && round < 32 {
        // Another context has saved the same objects meanwhile.
        round += 1
      } catch is AppliedChanges.Overtaken {
        round += 1
        guard round < 32 else {
          throw HeartwoodError(
            .managedObjectMerge,
            "the change set could not be applied: other contexts save the same objects again and again")
        }
      }
    }
  }

  private func apply(
    _ set: ChangeSet, _ policy: ChangeSetPolicy, _ author: String?, _ log: LogStore, _ view: LogStoreView
  ) throws -> ChangeSetReport {
    let context = ManagedObjectContext(.privateQueue, coordinator: self)
    context.transactionAuthor = author
    return try context.performAndWait {
      try context.setQueryGenerationFrom(
        QueryGenerationToken(generation: view.generation, storeID: log.identity.text))
      var applying = try ChangeSetApplying(set, policy, to: context, log, view)
      try applying.run()
      let conflicts = applying.report.conflicts
      guard policy != .error || conflicts.isEmpty else { throw ChangeSet.conflicting(conflicts) }
      while true {
        context.appliedChanges = applying.applied
        do {
          if context.hasChanges { try context.save() }
          // Nothing was left to save.
          if let applied = context.appliedChanges {
            try log.writeWithoutHistory("the change set could not be noted") { try $0.note(applied) }
          }
          return applying.report
        } catch let error as HeartwoodError
          where error.code == .managedObjectConstraintMerge && policy != .error
        {
          try applying.unite(error.constraintConflicts)
        }
      }
    }
  }
}

extension ChangeSet {
  /// Whether a store has all of the set already.
  ///
  /// - Throws: If it lacks something that the set builds on, or if the set is of another model.
  fileprivate func isKnown(in view: LogStoreView, _ checksum: String) throws -> Bool {
    guard checksum == modelChecksum else {
      throw HeartwoodError(
        .persistentStoreIncompatibleVersionHash,
        "the change set was made with another model than the store has: exchange everything, migrate both, and make the set again"
      )
    }
    guard generations != nil else { return false }
    let replica = try view.replica()
    let newest = try view.changeSetPosition(replica)
    func has(_ lineage: UUID) -> UInt64 {
      lineage == replica.ownLineage ? newest : replica.known[lineage] ?? 0
    }
    if lineage == replica.ownLineage {
      let end = known[lineage] ?? 0
      let isOwn = try end <= newest && (endTime == nil || view.historyTime(of: end) ?? endTime == endTime)
      guard isOwn else {
        throw HeartwoodError(
          .persistentHistoryTokenExpired,
          "the change set is of a copy of this store that went its own way and has no lineage of its own: call beginLineage() for it before "
            + "anything else is saved to it")
      }
      return true
    }
    if let seen = known[replica.ownLineage], seen > newest {
      throw HeartwoodError.olderCopy(
        "the change set's copy has transaction \(seen) of this store, whose newest is \(newest)")
    }
    for (lineage, number) in needed where has(lineage) < number {
      throw HeartwoodError(
        .persistentHistoryTokenExpired,
        "the change set begins at transaction \(number) of \(lineage), and the store has what is before it only up to \(has(lineage)): apply what is "
          + "between first, or make a set after changeSetPositions()")
    }
    // An earlier version has not counted a transaction that only noted when something was changed.
    return known.allSatisfy { has($0.key) >= $0.value } && !stamps.contains { has($0.lineage) < $0.number }
  }

  var stamps: some Sequence<ChangeStamp> {
    changes.lazy.flatMap { change in
      let ofParts = change.cells.values.map(\.stamp) + change.orders.values.map(\.stamp)
      return ([change.stamp] + ofParts + change.links.values.joined().map(\.stamp)).compactMap(\.self)
    }
  }

  fileprivate static func conflicting(_ conflicts: [ChangeSetConflict]) -> HeartwoodError {
    let names = conflicts.prefix(5).map { conflict in
      (conflict.objectID.map { "\($0)" } ?? "an object that was deleted")
        + (conflict.property.map { ".\($0)" } ?? "")
    }
    let rest = conflicts.count > 5 ? " and \(conflicts.count - 5) more" : ""
    return HeartwoodError(
      .persistentStoreSaveConflicts,
      "the change set and the store have changed the same: \(names.joined(separator: ", "))\(rest); apply it with a policy that decides"
    )
  }
}

extension HeartwoodError {
  static func olderCopy(_ reason: String) -> HeartwoodError {
    HeartwoodError(
      .persistentHistoryTokenExpired,
      "\(reason): this is an older copy of the store, which goes on alone only after beginLineage(), called before anything else is saved to it"
    )
  }
}
