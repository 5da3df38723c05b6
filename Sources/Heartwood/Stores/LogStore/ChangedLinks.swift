/// The links that a transaction has added and removed, for its history: those of to-many relationships that do not follow from rows.
///
/// Links of new and of deleted objects are left out: they come and go with their objects, but for those to deleted destinations without an inverse.
struct ChangedLinks {
  private struct Link: Hashable {
    let source: RowAddress
    let slot: Int
    let target: RowAddress
    let hasInverse: Bool
  }

  /// Whether the first change of each added it, and whether the last did: one that was removed and added is as it was.
  private var changes: [Link: (first: Bool, last: Bool)] = [:]

  mutating func note(
    _ relationship: RelationshipDescription, _ source: RowAddress, _ target: UInt64, isAdded: Bool
  ) {
    let link = Link(
      source: source, slot: relationship.slot, target: RowAddress(relationship.destinationEntity, target),
      hasInverse: relationship.inverseRelationship != nil)
    changes[link, default: (isAdded, isAdded)].last = isAdded
  }

  /// Gives the links to the updates of their objects.
  func add(to history: inout [HistoryChange]) {
    guard !changes.isEmpty else { return }
    var places: [RowAddress: Int] = [:]
    var deleted: Set<RowAddress> = []
    for (place, change) in history.enumerated() {
      let address = RowAddress(change.entity, change.key)
      switch change.kind {
      case .insert: break
      case .update: places[address] = place
      case .delete: deleted.insert(address)
      }
    }
    for (link, change) in changes.sorted(by: {
      ($0.key.slot, $0.key.target.key) < ($1.key.slot, $1.key.target.key)
    })
    where change.first == change.last && !(link.hasInverse && deleted.contains(link.target)) {
      guard let place = places[link.source] else { continue }
      history[place].links.append(.init(slot: link.slot, target: link.target.key, isAdded: change.last))
    }
  }
}
