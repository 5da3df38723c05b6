extension ChangeSet {
  /// The set that takes these changes back: applied to a store that has them, it leads to the state before. Its changes are made when it is applied.
  public var inverted: ChangeSet {
    var set = self
    set.generations = nil
    set.changes = changes.compactMap { change in
      // The state before did not have the object either.
      if change.isTombstone { return nil }
      var change = change
      change.stamp = nil
      change.kind =
        switch change.kind {
        case .inserted: change.isReturn ? .updated : .deleted
        case .deleted: .inserted
        case .updated: .updated
        }
      change.isReturn = false
      change.cells = change.cells.mapValues { CellChange(former: $0.value, value: $0.former) }
      change.links = change.links.compactMapValues { links in
        let changed = links.filter { !$0.isUnchanged }
        return changed.isEmpty
          ? nil : changed.map { LinkChange(destination: $0.destination, isAdded: !$0.isAdded) }
      }
      change.orders = change.orders.mapValues { OrderChange(former: $0.value, value: $0.former) }
      return change.isVoid ? nil : change
    }
    return set
  }

  /// Both changes as one: those of this set, then those of a set that begins where this one ends.
  ///
  /// - Throws: `.persistentStoreOperation` if it does not begin there, or is of another store or model.
  public func concatenated(with next: ChangeSet) throws -> ChangeSet {
    guard lineage == next.lineage, modelChecksum == next.modelChecksum,
      (generations == nil && next.generations == nil)
        || (generations != nil && generations?.upperBound == next.generations?.lowerBound)
    else {
      throw HeartwoodError(
        .persistentStoreOperation,
        "the change sets cannot be one: the second has to begin at the generation at which the first ends, and be of the same store and model"
      )
    }
    var joined = ChangeSet(
      lineage: lineage, generations: nil, needed: needed, known: next.known, endTime: next.endTime,
      modelChecksum: modelChecksum, changes: [])
    if let first = generations, let last = next.generations {
      joined.generations = first.lowerBound...last.upperBound
    }
    var byObject = Dictionary(changes.map { ($0.identity, $0) }, uniquingKeysWith: { $1 })
    var order = changes.map(\.identity)
    for change in next.changes {
      guard let former = byObject[change.identity] else {
        byObject[change.identity] = change
        order.append(change.identity)
        continue
      }
      byObject[change.identity] = former.joined(with: change)
    }
    joined.changes = order.compactMap { byObject[$0] }
    return joined
  }

  /// The set as it is where another one was applied before, and its values have stayed: former values are those of the other one, and what both
  /// have changed is left out.
  ///
  /// - Parameter other: A set that was applied to the store since this one was made.
  public func rebased(on other: ChangeSet) -> ChangeSet {
    let others = Dictionary(other.changes.map { ($0.identity, $0) }, uniquingKeysWith: { $1 })
    var set = self
    set.generations = nil
    set.changes = changes.compactMap { change in
      guard let theirs = others[change.identity] else { return change }
      guard theirs.isOfPresent, change.isOfPresent else {
        // Objects that one has deleted and the other changed stay as the other set has them; those that both have inserted or deleted are there.
        return theirs.isOfPresent && theirs.isUnchanged ? change : nil
      }
      var rest = change
      // A value that the other has changed back is as it was, except of an object that came back: that is a new one.
      let isNew = theirs.isReturn
      rest.cells = change.cells.filter { theirs.cells[$0.key].map { !isNew && $0.isUnchanged } ?? true }
      rest.orders = change.orders.filter { theirs.orders[$0.key].map { !isNew && $0.isUnchanged } ?? true }
      for (name, links) in change.links {
        let theirLinks = theirs.links[name, default: []].filter { isNew || !$0.isUnchanged }
        let known = Set(theirLinks.map(\.destination))
        let left = links.filter { !known.contains($0.destination) }
        rest.links[name] = left.isEmpty ? nil : left
      }
      return rest.isVoid ? nil : rest
    }
    return set
  }
}

extension ChangeSet.Change {
  /// This change and a later one of the same object as one; nil if nothing is left of both.
  fileprivate func joined(with next: ChangeSet.Change) -> ChangeSet.Change? {
    var joined = next
    switch (kind, next.kind) {
    case (.inserted, .deleted) where isReturn: break
    case (.inserted, .deleted): return next.stamp == nil ? nil : .tombstone(identity, next.stamp)
    case (.deleted, .inserted) where isTombstone: return next
    case (.inserted, .inserted): joined.isReturn = isReturn
    case (.inserted, _): (joined.kind, joined.isReturn, joined.stamp) = (.inserted, isReturn, stamp)
    case (.deleted, .inserted) where next.stamp == nil: joined.kind = .updated
    case (.deleted, .inserted): joined.isReturn = true
    default: break
    }
    for (name, former) in cells {
      let last = next.cells[name]
      joined.cells[name] = ChangeSet.CellChange(
        former: former.former, value: last?.value ?? former.value, stamp: last?.stamp ?? former.stamp)
    }
    for (name, former) in orders {
      let last = next.orders[name]
      joined.orders[name] = ChangeSet.OrderChange(
        former: former.former, value: last?.value ?? former.value, stamp: last?.stamp ?? former.stamp)
    }
    for (name, former) in links {
      var byDestination = Dictionary(
        (next.links[name] ?? []).map { ($0.destination, $0) }, uniquingKeysWith: { $1 })
      for link in former where byDestination[link.destination] == nil {
        byDestination[link.destination] = link
      }
      for link in former {
        guard var last = byDestination[link.destination] else { continue }
        let wasThere = link.isAdded == link.isUnchanged
        last.isUnchanged = wasThere == last.isAdded
        // Only another copy asks for a link that came and went.
        byDestination[link.destination] = last.isUnchanged && last.stamp == nil ? nil : last
      }
      let rest = byDestination.values.sorted { $0.destination.key < $1.destination.key }
      joined.links[name] = rest.isEmpty ? nil : rest
    }
    if joined.kind == .updated {
      joined.cells = joined.cells.filter {
        !$0.value.isUnchanged || $0.value.stamp != nil
      }
      joined.orders = joined.orders.filter { !$0.value.isUnchanged }
    }
    return joined.isVoid ? nil : joined
  }

  /// Whether it only names what was changed and changed back.
  fileprivate var isUnchanged: Bool {
    cells.values.allSatisfy(\.isUnchanged) && orders.values.allSatisfy(\.isUnchanged)
      && links.values.joined().allSatisfy(\.isUnchanged)
  }
}
