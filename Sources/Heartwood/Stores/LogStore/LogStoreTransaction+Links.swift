import HeartwoodEngine

/// Orders, and links that are not derived from to-one values.
extension LogStoreTransaction {
  func link(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws {
    guard relationship.hasEntries else { return }
    memberships.note(relationship, source, target)
    noteLinks(relationship, source, target)
    try addEntry(relationship, source, target)
    guard let inverse = relationship.inverseRelationship, inverse.isToMany else { return }
    try addEntry(inverse, target, source)
  }

  func unlink(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) throws {
    guard relationship.hasEntries else { return }
    memberships.note(relationship, source, target)
    noteLinks(relationship, source, target)
    try removeEntry(relationship, source, target)
    guard let inverse = relationship.inverseRelationship, inverse.isToMany else { return }
    try removeEntry(inverse, target, source)
  }

  func setOrder(
    _ relationship: RelationshipDescription, _ source: UInt64, _ targets: [UInt64]
  ) throws {
    guard relationship.isOrdered else { return }
    let places = try places(relationship, source)
    noteLinks(relationship, source)
    for change in OrderedLinks.changes(from: places, to: targets) {
      switch change {
      case .remove(let place):
        memberships.note(relationship, source, place.target)
        try remove(place, relationship, source)
      case .add(let place):
        memberships.note(relationship, source, place.target)
        try add(place, relationship, source)
      }
    }
  }

  /// Deletes the links and orders that start at a row.
  func deleteLinks(from key: UInt64, _ stored: StoreEntity) throws {
    for relationship in stored.ownLinks {
      let number = schema.number(of: relationship)
      let kinds = relationship.isOrdered ? [KeySpace.order, KeySpace.rank] : [KeySpace.link]
      for kind in kinds { _ = try reader.deleteRange(.prefix(KeySpace.source(kind, number, key))) }
    }
  }

  func reconcileOrders() throws -> [(relationship: RelationshipDescription, source: UInt64)] {
    var corrected: [(RelationshipDescription, UInt64)] = []
    for (relationship, source, target) in memberships.takeAll() {
      let number = schema.number(of: relationship)
      let isIn = try contains(KeySpace.entry(KeySpace.rank, number, source, target))
      guard try refers(target, backTo: source, by: relationship) != isIn else { continue }
      if isIn {
        try removeEntry(relationship, source, target)
      } else {
        try addEntry(relationship, source, target)
      }
      corrected.append((relationship, source))
    }
    return corrected
  }

  /// Whether the row of a destination refers to a source that exists.
  private func refers(
    _ target: UInt64, backTo source: UInt64, by relationship: RelationshipDescription
  ) throws -> Bool {
    let destination: EntityDescription = relationship.destinationEntity
    guard let inverse = relationship.inverseRelationship, let owner = relationship.entity,
      let row = try row(destination.rootEntity, target)
    else { return false }
    let entity = try destination.rootEntity.entity(numbered: row.entityNumber)
    guard entity.isKindOf(entity: destination) else { return false }
    let column = entity.layout.columns[inverse.slot]
    guard !row.isNull(column), row.key(column) == source else { return false }
    return try contains(KeySpace.rowKey(schema.keyNumber(of: owner.rootEntity), source))
  }

  private func addEntry(
    _ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64
  ) throws {
    let number = schema.number(of: relationship)
    guard relationship.isOrdered else {
      noteChange(relationship, source, target, isAdded: true)
      return try put(KeySpace.entry(KeySpace.link, number, source, target))
    }
    guard try !contains(KeySpace.entry(KeySpace.rank, number, source, target)) else { return }
    guard let rank = OrderedLinks.rank(after: try lastRank(number, source)) else {
      // No rank is left at the end: the whole order is renumbered.
      return try setOrder(relationship, source, try places(relationship, source).map(\.target) + [target])
    }
    try add(OrderedLinks.RankedTarget(rank: rank, target: target), relationship, source)
  }

  private func removeEntry(
    _ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64
  ) throws {
    let number = schema.number(of: relationship)
    guard relationship.isOrdered else {
      noteChange(relationship, source, target, isAdded: false)
      try delete(KeySpace.entry(KeySpace.link, number, source, target))
      return
    }
    guard let rank = try self.number(KeySpace.entry(KeySpace.rank, number, source, target)) else { return }
    try remove(OrderedLinks.RankedTarget(rank: rank, target: target), relationship, source)
  }

  private func places(
    _ relationship: RelationshipDescription, _ source: UInt64
  ) throws -> [OrderedLinks.RankedTarget] {
    var places: [OrderedLinks.RankedTarget] = []
    try scan(.prefix(KeySpace.source(KeySpace.order, schema.number(of: relationship), source))) {
      key, value in
      places.append(
        OrderedLinks.RankedTarget(
          rank: try KeySpace.lastNumber(key), target: try KeySpace.number(inValue: value)))
      return true
    }
    return places
  }

  private func lastRank(_ relationship: UInt16, _ source: UInt64) throws -> UInt64? {
    var rank: UInt64?
    try scan(.prefix(KeySpace.source(KeySpace.order, relationship, source)), reversed: true) { key, _ in
      rank = try KeySpace.lastNumber(key)
      return false
    }
    return rank
  }

  private func add(
    _ place: OrderedLinks.RankedTarget, _ relationship: RelationshipDescription, _ source: UInt64
  ) throws {
    let number = schema.number(of: relationship)
    noteChange(relationship, source, place.target, isAdded: true)
    try put(
      KeySpace.entry(KeySpace.order, number, source, place.rank), KeySpace.value(place.target))
    try put(KeySpace.entry(KeySpace.rank, number, source, place.target), KeySpace.value(place.rank))
  }

  private func remove(
    _ place: OrderedLinks.RankedTarget, _ relationship: RelationshipDescription, _ source: UInt64
  ) throws {
    let number = schema.number(of: relationship)
    noteChange(relationship, source, place.target, isAdded: false)
    try delete(KeySpace.entry(KeySpace.order, number, source, place.rank))
    try delete(KeySpace.entry(KeySpace.rank, number, source, place.target))
  }
}
