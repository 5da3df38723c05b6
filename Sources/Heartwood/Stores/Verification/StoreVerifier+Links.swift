import HeartwoodBytes
import HeartwoodEngine

/// To-many relationships: links and orders agree with the rows and with each other, in both directions.
extension StoreVerifier {
  func checkLinks(_ relationship: RelationshipDescription) throws {
    let number = schema.number(of: relationship)
    guard relationship.isOrdered else {
      return try eachEntry(KeySpace.link, number) { source, target, _ in
        try self.checkLink(relationship, source, target)
      }
    }
    try eachEntry(KeySpace.order, number) { source, rank, value in
      let target = try KeySpace.number(inValue: value)
      if try self.storedNumber(KeySpace.entry(KeySpace.rank, number, source, target)) != rank {
        self.report(
          "\(self.place(relationship, source)): the rank of \(target) is not where the order has it")
      }
      try self.checkLink(relationship, source, target)
    }
    try eachEntry(KeySpace.rank, number) { source, target, value in
      let rank = try KeySpace.number(inValue: value)
      if try self.storedNumber(KeySpace.entry(KeySpace.order, number, source, rank)) != target {
        self.report("\(self.place(relationship, source)): \(target) has a rank, but no place in the order")
      }
    }
    if relationship.inverseRelationship?.isToMany == false { try checkOrderIsComplete(relationship) }
  }

  private func place(_ relationship: RelationshipDescription, _ source: UInt64) -> String {
    "\(relationship.entity.map { name($0, source) } ?? "\(source)"): \(relationship.name)"
  }

  private func eachEntry(
    _ kind: UInt8, _ number: UInt16, _ body: (UInt64, UInt64, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try view.scan(.prefix(KeySpace.head(kind, number))) { key, value in
      guard key.count == KeySpace.entrySize else {
        self.reportStray(key)
        return true
      }
      do {
        try body(try KeySpace.source(of: key), try KeySpace.lastNumber(key), value)
      } catch let error as HeartwoodError where error.underlying == nil {
        self.report(error.message)
      }
      return true
    }
  }

  private func storedNumber(_ key: [UInt8]) throws -> UInt64? {
    do {
      return try view.number(key)
    } catch let error as HeartwoodError where error.underlying == nil {
      return nil
    }
  }

  private func checkLink(
    _ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64
  ) throws {
    defer { view.releaseRows() }
    guard let owner = relationship.entity, let inverse = relationship.inverseRelationship else {
      return try checkSource(relationship, source)
    }
    if inverse.isToMany {
      try checkSource(relationship, source)
      try checkTarget(target, of: relationship, source)
      let bothExist = try exists(owner, source) && exists(relationship.destinationEntity, target)
      if bothExist, try !view.hasDestination(inverse, source, of: target) {
        report("\(place(relationship, source)) has \(target), but \(inverse.name) there does not have it")
      }
    } else if try toOneKey(inverse, of: target) != source {
      // An order may outlive its targets, as any reference may. A link is derived from a row that exists.
      if relationship.isOrdered, try !exists(relationship.destinationEntity, target) {
        return try checkTarget(target, of: relationship, source)
      }
      report("\(place(relationship, source)) has \(target), whose \(inverse.name) is another")
    }
  }

  /// Deleting a row deletes the links that start at it, so a remaining one is reported.
  private func checkSource(_ relationship: RelationshipDescription, _ source: UInt64) throws {
    guard let owner = relationship.entity, try !exists(owner, source) else { return }
    if relationship.inverseRelationship?.deleteRule == .noActionDeleteRule { return }
    report("\(place(relationship, source)) has destinations, but the object does not exist")
  }

  private func exists(_ entity: EntityDescription, _ key: UInt64) throws -> Bool {
    try view.contains(KeySpace.rowKey(schema.keyNumber(of: entity.rootEntity), key))
  }

  /// The destination of a to-one relationship in the row with a key; nil without one.
  func toOneKey(_ relationship: RelationshipDescription, of key: UInt64) throws -> UInt64? {
    guard let root = relationship.entity?.rootEntity, let row = try row(root, key) else { return nil }
    let entity = try root.entity(numbered: row.entityNumber)
    guard let owner = relationship.entity, entity.isKindOf(entity: owner) else { return nil }
    let column = entity.layout.columns[relationship.slot]
    return row.isNull(column) ? nil : row.key(column)
  }

  /// Reports rows that name an owner with an order but are missing from that order.
  private func checkOrderIsComplete(_ relationship: RelationshipDescription) throws {
    guard let inverse = relationship.inverseRelationship, let root = inverse.entity?.rootEntity,
      let owner = relationship.entity
    else { return }
    try view.scan(.prefix(KeySpace.head(KeySpace.row, schema.keyNumber(of: root)))) { entry, _ in
      let key = try KeySpace.lastNumber(entry)
      guard let source = try self.toOneKey(inverse, of: key), try self.exists(owner, source) else {
        return true
      }
      if try !self.view.hasDestination(relationship, key, of: source) {
        self.report("\(self.place(relationship, source)) lacks \(key), whose \(inverse.name) it is")
      }
      return true
    }
  }
}
