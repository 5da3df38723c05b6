/// Both sides of relationships.
extension BatchWriter {
  /// The destination in a row; nil if there is none, or no row.
  private func destination(_ relationship: RelationshipDescription, of key: UInt64) throws -> UInt64? {
    var destination: UInt64?
    try transaction.destinations(relationship, of: key) {
      destination = $0
      return false
    }
    return destination
  }

  /// Writes one side of a to-one relationship.
  private func write(_ relationship: RelationshipDescription, of key: UInt64, _ target: UInt64?) throws {
    guard let root = relationship.entity?.rootEntity, let entity = try entity(root, key) else { return }
    if target == nil, validates, !relationship.isOptional {
      throw HeartwoodError.batchMissing(relationship, identifier(entity, key))
    }
    var values = [Value?](repeating: nil, count: entity.slots.count)
    values[relationship.slot] =
      target.map { .object(identifier(relationship.destinationEntity, $0)) } ?? .null
    try update(entity, key, values)
  }

  /// Sets a to-one relationship, and the other side.
  func assign(_ relationship: RelationshipDescription, of key: UInt64, _ target: UInt64?) throws {
    let former = try destination(relationship, of: key)
    guard former != target else { return }
    if let former { try release(relationship, former, from: key) }
    if let target { try claim(relationship, target, for: key) }
    try write(relationship, of: key, target)
  }

  /// Takes an object from the other side of a to-one relationship that its own row no longer has.
  private func release(_ relationship: RelationshipDescription, _ former: UInt64, from key: UInt64) throws {
    guard let inverse = relationship.inverseRelationship else { return }
    if inverse.isToMany { return touch(inverse, of: former) }
    if try destination(inverse, of: former) == key { try write(inverse, of: former, nil) }
  }

  /// Gives an object to the other side of a to-one relationship that its own row has, or will have.
  func claim(_ relationship: RelationshipDescription, _ target: UInt64, for key: UInt64) throws {
    guard let inverse = relationship.inverseRelationship else { return }
    if inverse.isToMany { return touch(inverse, of: target) }
    let holder = try destination(inverse, of: target)
    guard holder != key else { return }
    if let holder { try write(relationship, of: holder, nil) }
    try write(inverse, of: target, key)
  }

  /// Adds destinations to a to-many relationship, in this order.
  func add(_ targets: [UInt64], to relationship: RelationshipDescription, of key: UInt64) throws {
    if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      for target in targets { try assign(inverse, of: target, key) }
      return
    }
    for target in targets where try !transaction.hasDestination(relationship, target, of: key) {
      try transaction.link(relationship, key, target)
      touch(relationship, of: key)
      touch(relationship.inverseRelationship, of: target)
    }
  }

  /// Makes these the only destinations of a to-many relationship, in this order. Those that leave it are deleted if its delete rule is
  /// cascade.
  func replace(_ relationship: RelationshipDescription, of key: UInt64, _ targets: [UInt64]) throws {
    // The changes of earlier rows of the batch are read here.
    try transaction.writeEntries()
    let wanted = Set(targets)
    let leaving = try destinations(relationship, of: key).filter { !wanted.contains($0) }
    if relationship.deleteRule == .cascadeDeleteRule {
      _ = try delete(leaving, of: relationship.destinationEntity.rootEntity)
    } else if let inverse = relationship.inverseRelationship, !inverse.isToMany {
      for target in leaving { try assign(inverse, of: target, nil) }
    } else {
      for target in leaving {
        try transaction.unlink(relationship, key, target)
        touch(relationship, of: key)
        touch(relationship.inverseRelationship, of: target)
      }
    }
    try add(targets, to: relationship, of: key)
    if relationship.isOrdered {
      try transaction.setOrder(relationship, key, targets)
      touch(relationship, of: key)
    }
  }

  /// The destinations of a relationship whose rows exist, with their own entities.
  func destinations(_ relationship: RelationshipDescription, of key: UInt64) throws -> [UInt64] {
    let root = relationship.destinationEntity.rootEntity
    return try transaction.destinationKeys(relationship, of: key).filter {
      try transaction.row(root, $0) != nil
    }
  }

  /// Removes an object that is deleted from the other side of a relationship.
  ///
  /// - Parameter isDeleted: Whether a destination is deleted too.
  func leave(
    _ relationship: RelationshipDescription, _ key: UInt64, unless isDeleted: (UInt64) -> Bool
  ) throws {
    guard let inverse = relationship.inverseRelationship else { return }
    for target in try destinations(relationship, of: key) where !isDeleted(target) {
      if relationship.ownsLinks { try transaction.unlink(relationship, key, target) }
      if inverse.isToMany {
        touch(inverse, of: target)
      } else if try destination(inverse, of: target) == key {
        try write(inverse, of: target, nil)
      }
    }
  }
}
