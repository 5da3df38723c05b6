import Foundation

/// Making a change set of two generations of a store.
struct ChangeSetMaking {
  private let (earlier, later): (LogStoreView, LogStoreView)
  private let replica: ReplicaRecord
  /// The stamps of the store's changes between the generations that are not among its stored ones.
  private var newStamps: [StampKey: StoredStamp] = [:]
  private let olderStamps: OlderStamps
  /// The properties that were set between the generations, also to the value that they had: another copy may have set them before.
  private var set: [RowAddress: Set<UInt16>] = [:]
  /// The objects that were inserted between them, also again under their former identifiers.
  private var inserted: Set<RowAddress> = []
  /// The destinations of the links that were changed between them, also back to how they were, by the number of the property.
  private var links: [RowAddress: [UInt16: [UInt64]]] = [:]

  init(from earlier: LogStoreView, to later: LogStoreView) throws {
    (self.earlier, self.later) = (earlier, later)
    replica = try later.replica()
    olderStamps = OlderStamps(later, replica)
    newStamps = try later.newStamps(replica, after: earlier.generation)
  }

  mutating func run(_ modelChecksum: String) throws -> ChangeSet {
    let (from, to) = (earlier.generation, later.generation)
    let before = try earlier.replica()
    var needed = before.known
    // The history before the beginning of the lineage is of the one before it, also where only a later generation of that state is
    // left.
    let newest = try earlier.changeSetPosition(before)
    if newest > before.start { needed[before.ownLineage] = newest }
    var known = replica.known
    known[replica.ownLineage] = try later.changeSetPosition(replica)
    var deleted: Set<RowAddress> = []
    var stamped = newStamps
    var found = try later.differences(from: earlier) { key, value in
      guard let value, let key = try later.stampKey(of: key) else { return }
      let stored = try StoredStamp(decoding: value, replica)
      // Stamps of this store's older changes are written at the next exchange, or when a lineage begins.
      let lineage = stored.stamp.lineage
      let last = lineage == replica.ownLineage ? from : lineage == before.ownLineage ? newest : 0
      let isOlder = stored.stamp.number > before.stamped && stored.stamp.number <= last
      if stamped[key] == nil, !isOlder { stamped[key] = stored }
    }
    for (key, stamp) in stamped {
      if let property = key.property {
        if let target = key.target {
          links[key.address, default: [:]][property, default: []].append(target)
        } else {
          set[key.address, default: []].insert(property)
        }
      } else if stamp.isDeleted {
        deleted.insert(key.address)
        continue
      } else {
        inserted.insert(key.address)
      }
      if found[key.address] == nil { found[key.address] = RowDifference() }
    }
    for source in try addLinksOfReturned() where found[source] == nil { found[source] = RowDifference() }
    let sorted = found.sorted { $0.key < $1.key }
    return ChangeSet(
      lineage: replica.ownLineage, generations: from...to, needed: needed, known: known,
      endTime: try later.historyTime(of: later.newestHistory()), modelChecksum: modelChecksum,
      changes: try sorted.compactMap { try change($0.key, $0.value) }
        + deleted.filter { found[$0]?.hasRow != true }.sorted()
        .compactMap { try tombstone($0) })
  }

  /// Adds the links of the objects that were there before and have come back, also removed ones, whichever side has them: a copy that knows when they
  /// were changed, and had the object as a deleted one then, has left them out.
  ///
  /// - Returns: The objects that have the links.
  /// - Complexity: Linear in the stamps of the families that refer to such objects.
  private mutating func addLinksOfReturned() throws -> Set<RowAddress> {
    var sources: Set<RowAddress> = []
    /// The objects to which links of a property lead, by the family and the number of the property.
    var targets: [UInt16: [UInt16: Set<UInt64>]] = [:]
    func note(_ source: RowAddress, _ property: UInt16, _ target: UInt64) {
      links[source, default: [:]][property, default: []].append(target)
      sources.insert(source)
    }
    for address in inserted {
      guard let entity = try later.entity(of: address), try earlier.hasGiven(address) else { continue }
      try later.forEachStampedLink(of: address.root, address.key) { note($0, $1, $2) }
      for relationship in entity.relationshipsBySlot {
        guard let inverse = relationship.inverseRelationship, inverse.hasPortableLinks else { continue }
        let (root, number) = (relationship.destinationEntity.rootEntity, later.schema.number(of: inverse))
        targets[root.number, default: [:]][number, default: []].insert(address.key)
        for source in try later.destinationKeys(relationship, of: address.key) {
          note(RowAddress(root, source), number, address.key)
        }
      }
    }
    for (root, byProperty) in targets {
      try later.forEachStampedLink(of: root) { source, property, target in
        if byProperty[property]?.contains(target) == true { note(source, property, target) }
      }
    }
    return sources
  }

  private func change(_ address: RowAddress, _ difference: RowDifference) throws -> ChangeSet.Change? {
    guard let entity = try difference.entity ?? later.entity(of: address) else { return nil }
    let stored = later.schema.entity(entity)
    let kind = difference.kind
    var change = ChangeSet.Change(
      identity: try identity(address, entity.rootEntity), entity: entity.displayName, kind: kind,
      stamp: kind == .updated ? nil : try stamp(StampKey(address: address)))
    if difference.hasRow {
      try read(difference.former, entity) { former in
        try read(difference.row, entity) { row in
          for slot in entity.slots where entity.isPortable(slot) {
            let before =
              try former.map { try cell($0, slot, address.key, entity, in: earlier) } ?? .value(.null)
            let after = try row.map { try cell($0, slot, address.key, entity, in: later) } ?? .value(.null)
            guard !before.isStored(as: after) else { continue }
            change.cells[entity.property(at: slot).path] = ChangeSet.CellChange(
              former: before, value: after,
              stamp: try stamp(StampKey(address: address, property: stored.propertyNumbers[slot])))
          }
        }
      }
    }
    if kind != .deleted { try addUnchanged(to: &change, address, entity) }
    for (slot, links) in difference.links {
      let relationship = entity.relationship(at: slot)
      let number = stored.propertyNumbers[slot]
      if relationship.hasPortableLinks {
        let all = links.added.map { ($0, true) } + links.removed.map { ($0, false) }
        change.links[relationship.name] = try all.map { target, isAdded in
          ChangeSet.LinkChange(
            destination: try identity(target, relationship), isAdded: isAdded,
            stamp: try stamp(StampKey(address: address, property: number, target: target)))
        }
      }
      if relationship.isOrdered {
        change.orders[relationship.name] = ChangeSet.OrderChange(
          former: try destinations(relationship, address.key, in: earlier),
          value: try destinations(relationship, address.key, in: later),
          stamp: try stamp(StampKey(address: address, property: number)))
      }
    }
    if kind != .deleted { try addUnchangedLinks(to: &change, address, entity, difference) }
    return change.isVoid ? nil : change
  }

  /// Adds the links that were changed and are as they were; of an object that was inserted again, all.
  private func addUnchangedLinks(
    to change: inout ChangeSet.Change, _ address: RowAddress, _ entity: EntityDescription,
    _ difference: RowDifference
  ) throws {
    guard change.isReturn || links[address] != nil else { return }
    let numbers = later.schema.entity(entity).propertyNumbers
    for relationship in entity.relationshipsBySlot where relationship.hasPortableLinks {
      let number = numbers[relationship.slot]
      let changed = links[address]?[number] ?? []
      guard change.isReturn || !changed.isEmpty else { continue }
      let differing = difference.links[relationship.slot].map { Set($0.added + $0.removed) } ?? []
      let present = Set(try later.destinationKeys(relationship, of: address.key))
      let targets = Set(changed).union(change.isReturn ? present : []).subtracting(differing).sorted()
      guard !targets.isEmpty else { continue }
      change.links[relationship.name, default: []] += try targets.map { target in
        ChangeSet.LinkChange(
          destination: try identity(target, relationship), isAdded: present.contains(target),
          isUnchanged: true,
          stamp: try stamp(StampKey(address: address, property: number, target: target), isUnchanged: true))
      }
    }
  }

  /// Adds the values and orders that were set and are the same, or nil in a new object; of an object that was inserted again, all.
  private func addUnchanged(
    to change: inout ChangeSet.Change, _ address: RowAddress, _ entity: EntityDescription
  ) throws {
    let isRevived = change.kind == .updated && inserted.contains(address)
    guard isRevived || set[address] != nil, let row = try later.row(entity.rootEntity, address.key) else {
      return
    }
    if isRevived {
      (change.kind, change.isReturn, change.stamp) = (.inserted, true, try stamp(StampKey(address: address)))
    }
    let numbers = later.schema.entity(entity).propertyNumbers
    for slot in entity.slots where entity.isPortable(slot) {
      let path = entity.property(at: slot).path
      guard change.cells[path] == nil, isRevived || set[address]?.contains(numbers[slot]) == true else {
        continue
      }
      let value = try cell(row, slot, address.key, entity, in: later)
      change.cells[path] = ChangeSet.CellChange(
        former: value, value: value, stamp: try stamp(StampKey(address: address, property: numbers[slot])))
    }
    for relationship in entity.relationshipsBySlot where relationship.isOrdered && !relationship.isTransient {
      let number = numbers[relationship.slot]
      guard isRevived || set[address]?.contains(number) == true else { continue }
      let order = try destinations(relationship, address.key, in: later)
      change.orders[relationship.name] = ChangeSet.OrderChange(
        former: order, value: order, stamp: try stamp(StampKey(address: address, property: number)))
    }
  }

  /// The delete of an object that neither generation has: it came and went between them, or was deleted by another copy before it came.
  private func tombstone(_ address: RowAddress) throws -> ChangeSet.Change? {
    guard let root = later.schema.rootEntities.first(where: { $0.number == address.root }),
      let stamp = try stamp(StampKey(address: address))
    else { return nil }
    return .tombstone(try identity(address, root), stamp)
  }

  private func read<Result>(
    _ bytes: [UInt8]?, _ entity: EntityDescription, _ body: (RowView?) throws -> Result
  ) throws -> Result {
    guard let bytes else { return try body(nil) }
    return try bytes.withUnsafeBytes { bytes in
      // An object may have come back as one of another entity: nothing of the former row is its own.
      let isOther = bytes.count > 8 && RowView(unchecked: bytes).entityNumber != entity.number
      return try body(isOther ? nil : RowView(validating: bytes, layout: entity.layout))
    }
  }

  private func cell(
    _ row: RowView, _ slot: Int, _ key: UInt64, _ entity: EntityDescription, in view: LogStoreView
  ) throws -> ChangeSet.Cell {
    let column = entity.layout.columns[slot]
    if let relationship = entity.compiled.relationshipBySlot[slot] {
      return row.isNull(column) ? .value(.null) : .object(try identity(row.key(column), relationship))
    }
    return .value(try view.wholeValue(of: row, slot, key, entity))
  }

  private func destinations(
    _ relationship: RelationshipDescription, _ key: UInt64, in view: LogStoreView
  ) throws -> [ChangeSet.Identity] {
    try view.destinationKeys(relationship, of: key).map { try identity($0, relationship) }
  }

  private func identity(_ key: UInt64, _ relationship: RelationshipDescription) throws -> ChangeSet.Identity {
    let root = relationship.destinationEntity.rootEntity
    return try identity(RowAddress(root, key), root)
  }

  private func identity(_ address: RowAddress, _ root: EntityDescription) throws -> ChangeSet.Identity {
    try later.identity(address, root, replica)
  }

  /// The stamp of a change; that of the object where its own is not known, as of one that was inserted.
  private func stamp(_ key: StampKey, isUnchanged: Bool = false) throws -> ChangeStamp? {
    let objectKey = StampKey(address: key.address)
    let ofObject = try newStamps[objectKey] ?? later.storedStamp(objectKey, replica)
    guard key.property != nil else { return try (ofObject ?? olderStamps[key])?.stamp }
    var own = try newStamps[key] ?? later.storedStamp(key, replica)
    // A history that was written before it had links has their relationships only. One that has some has all that were changed.
    if own == nil, !isUnchanged, key.target != nil, newStamps[objectKey] == nil,
      key.property.map({ links[key.address]?[$0] == nil }) == true
    {
      own = newStamps[StampKey(address: key.address, property: key.property)]
    }
    // A value is not older than its object, which may have been deleted and inserted again.
    if let own, let ofObject, !ofObject.isDeleted { return max(own.stamp, ofObject.stamp) }
    return try (own ?? newStamps[objectKey] ?? olderStamps[key] ?? ofObject ?? olderStamps[objectKey])?.stamp
  }
}

/// The stamps of the store's changes before the earlier generation that are not among its stored ones: read when the first one is asked for, as
/// nearly all that is asked for has changed since.
private final class OlderStamps {
  private let view: LogStoreView
  private let replica: ReplicaRecord
  private var found: [StampKey: StoredStamp]?

  init(_ view: LogStoreView, _ replica: ReplicaRecord) { (self.view, self.replica) = (view, replica) }

  subscript(key: StampKey) -> StoredStamp? {
    get throws {
      let found = try found ?? view.newStamps(replica)
      self.found = found
      return found[key]
    }
  }
}

extension EntityDescription {
  /// Whether change sets have a column: not what is computed, or not stored.
  func isPortable(_ slot: Int) -> Bool {
    if let relationship = compiled.relationshipBySlot[slot] {
      return !relationship.isToMany && !relationship.isTransient
    }
    guard let attribute = attribute(at: slot) else { return false }
    return !attribute.isTransient && attribute.derivation == nil
  }
}

extension LogStoreView {
  /// An object, over all copies of the store.
  ///
  /// - Parameter entity: Any of the object's family.
  func identity(
    _ address: RowAddress, _ entity: EntityDescription, _ replica: ReplicaRecord
  ) throws -> ChangeSet.Identity {
    let origin = try origin(of: address, replica)
    return ChangeSet.Identity(lineage: origin.lineage, root: entity.rootEntity.displayName, key: origin.key)
  }

  /// The stamps of what this store has changed since the last ones that it has.
  ///
  /// - Parameter first: The last transaction whose changes are left out.
  /// - Throws: `.persistentHistoryTokenExpired` if the history that says when things were changed is deleted.
  func newStamps(_ replica: ReplicaRecord, after first: UInt64 = 0) throws -> [StampKey: StoredStamp] {
    try checkStamps(replica)
    return try stampsSince(replica, after: first).stamps
  }

  private func checkStamps(_ replica: ReplicaRecord) throws {
    let deleted = try newestDeletedHistory()
    guard replica.stamped > 0, replica.stamped < deleted else { return }
    throw HeartwoodError(
      .persistentHistoryTokenExpired,
      "the history after transaction \(replica.stamped) was deleted up to \(deleted) before it was exchanged: when its objects were changed is not "
        + "known any more; copy another one in place of this store")
  }
}
