import HeartwoodEngine

/// Links and orders of to-many relationships whose form or number changes.
extension InPlaceMigration {
  func migrateRelationships() throws {
    var kept: Set<UInt16> = []
    var rebuilt: [Rebuilding] = []
    for entity in changes.sorted(changes.destination) {
      for case let relationship as RelationshipDescription in entity.ownColumns
      where relationship.isToMany && !relationship.isTransient {
        let work = Rebuilding(
          relationship: relationship, formers: changes.formers(of: relationship),
          inverseFormers: relationship.inverseRelationship.map(changes.formers) ?? [],
          isJoined: changes.isJoined(relationship))
        if isUnchanged(work) { kept.insert(new.number(of: relationship)) } else { rebuilt.append(work) }
      }
    }
    try dropLinks(except: kept)
    for work in rebuilt { try rebuild(work) }
  }

  /// A relationship of the destination with what it is made of.
  private struct Rebuilding {
    let relationship: RelationshipDescription
    let formers: [RelationshipDescription]
    /// The sources of its inverse.
    let inverseFormers: [RelationshipDescription]
    /// Whether the two sides were no inverses of each other, so that each may have links that the other has not.
    let isJoined: Bool
  }

  private func isUnchanged(_ work: Rebuilding) -> Bool {
    let relationship = work.relationship
    guard !work.isJoined, work.formers.count == 1, let former = work.formers.first, former.isToMany,
      former.isOrdered == relationship.isOrdered, former.hasEntries == relationship.hasEntries,
      old.number(of: former) == new.number(of: relationship), !changes.mayLose(former, relationship),
      !changes.mayLoseSources(former, relationship)
    else { return false }
    return relationship.hasEntries || work.inverseFormers == [former.inverseRelationship].compactMap { $0 }
  }

  private func dropLinks(except kept: Set<UInt16>) throws {
    for entity in changes.sorted(changes.source) {
      for case let relationship as RelationshipDescription in entity.ownColumns where relationship.isToMany {
        let number = old.number(of: relationship)
        guard !kept.contains(number) else { continue }
        for kind in [KeySpace.link, KeySpace.order, KeySpace.rank] {
          _ = try transaction.deleteRange(.prefix(KeySpace.head(kind, number)))
        }
      }
    }
  }

  private func rebuild(_ work: Rebuilding) throws {
    guard let entity = work.relationship.entity else { return }
    var writer = LinkWriter(new.number(of: work.relationship), isOrdered: work.relationship.isOrdered)
    let isReversed = work.formers.isEmpty
    func add(_ formers: [RelationshipDescription], isReversed: Bool, unlessThere: Bool) throws {
      for former in formers {
        try forEachPair(of: former) { source, target in
          let (own, other) = isReversed ? (target, source) : (source, target)
          let isKept = try isPairKept(former, source, target, work.relationship, entity, isReversed)
          guard isKept, try !unlessThere || !writer.has(own, other, in: transaction) else { return }
          try writer.add(own, other, to: transaction)
        }
      }
    }
    try add(
      isReversed ? work.inverseFormers : work.formers, isReversed: isReversed, unlessThere: false)
    // Links that only the other side has follow.
    if work.isJoined, !isReversed { try add(work.inverseFormers, isReversed: true, unlessThere: true) }
    let count = writer.count
    if count > 0 { note { $0.rewrittenLinks[work.relationship.displayName] = count } }
  }

  func isPairKept(
    _ former: RelationshipDescription, _ source: UInt64, _ target: UInt64,
    _ relationship: RelationshipDescription, _ entity: EntityDescription, _ isReversed: Bool
  ) throws -> Bool {
    guard let owner = former.entity?.rootEntity, let destination = relationship.destinationEntity
    else { return false }
    let sources: EntityDescription = isReversed ? destination : entity
    let targets: EntityDescription = isReversed ? entity : destination
    let isSourceKept = try view.withRow(owner, source) { row in
      try row.map { changes.isKept(try formerEntity(owner, $0), in: sources) } ?? false
    }
    guard isSourceKept else { return false }
    let isTargetKept = try isKept(target, of: former, in: targets)
    // Links that are made of an inverse are counted there.
    if !isTargetKept, !isReversed { note { $0.lostLinks[relationship.displayName, default: 0] += 1 } }
    return isTargetKept
  }

  /// Calls `body` with source and target of each link of a relationship of the source, orders in their order.
  func forEachPair(
    of former: RelationshipDescription, _ body: (UInt64, UInt64) throws -> Void
  ) throws {
    if former.isToMany {
      let kind = former.isOrdered ? KeySpace.order : KeySpace.link
      let counter = log.counter("links of \(former.displayName)", of: 0)
      defer { counter?.finish() }
      try view.scan(.prefix(KeySpace.head(kind, old.number(of: former)))) { key, value in
        counter?.advance()
        let target = try former.isOrdered ? KeySpace.number(inValue: value) : KeySpace.lastNumber(key)
        try body(try KeySpace.source(of: key), target)
        return true
      }
      return
    }
    guard let owner = former.entity else { return }
    let root = owner.rootEntity
    let counter = try log.counter("links of \(former.displayName)", of: view.rowCount(of: root))
    defer { counter?.finish() }
    try view.scanRows(of: root, from: nil, reversed: false) { found in
      counter?.advance()
      let entity = try formerEntity(root, found.row)
      guard entity.isKindOf(entity: owner) else { return true }
      let column = entity.layout.columns[former.slot]
      if !found.row.isNull(column) { try body(found.key, found.row.key(column)) }
      return true
    }
  }
}

/// Writes the links of one relationship, or its orders, one destination after the other.
private struct LinkWriter {
  private let number: UInt16
  private let isOrdered: Bool
  private var last: (source: UInt64, rank: UInt64)?
  private(set) var count = 0

  init(_ number: UInt16, isOrdered: Bool) {
    self.number = number
    self.isOrdered = isOrdered
  }

  mutating func add(_ source: UInt64, _ target: UInt64, to transaction: WriteTransaction) throws {
    count += 1
    guard isOrdered else {
      return try transaction.put(KeySpace.entry(KeySpace.link, number, source, target), [])
    }
    let before = try last?.source == source ? last?.rank : lastRank(of: source, in: transaction)
    guard let rank = OrderedLinks.rank(after: before) else {
      throw HeartwoodError(
        .migration, "an order of more than \(OrderedLinks.limit / OrderedLinks.step) objects cannot be made")
    }
    try transaction.put(KeySpace.entry(KeySpace.order, number, source, rank), KeySpace.value(target))
    try transaction.put(KeySpace.entry(KeySpace.rank, number, source, target), KeySpace.value(rank))
    last = (source, rank)
  }

  func has(_ source: UInt64, _ target: UInt64, in transaction: WriteTransaction) throws -> Bool {
    let key = KeySpace.entry(isOrdered ? KeySpace.rank : KeySpace.link, number, source, target)
    var isThere = false
    try transaction.scan(.prefix(key)) { _, _ in
      isThere = true
      return false
    }
    return isThere
  }

  private func lastRank(of source: UInt64, in transaction: WriteTransaction) throws -> UInt64? {
    var rank: UInt64?
    try transaction.scan(.prefix(KeySpace.source(KeySpace.order, number, source)), reversed: true) { key, _ in
      rank = try KeySpace.lastNumber(key)
      return false
    }
    return rank
  }
}
