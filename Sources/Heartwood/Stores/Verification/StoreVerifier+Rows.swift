import HeartwoodBytes
import HeartwoodEngine

/// Rows and indexes.
extension StoreVerifier {
  /// Checks that every row is readable, has its index entries and links, and refers to existing rows.
  func checkRows(of root: EntityDescription) throws {
    let next = try nextKey(of: root)
    try view.scan(.prefix(KeySpace.head(KeySpace.row, self.schema.keyNumber(of: root)))) { entry, bytes in
      guard entry.count == KeySpace.rowKeySize else {
        self.reportStray(entry)
        return true
      }
      let key = try KeySpace.lastNumber(entry)
      if key >= next {
        self.report("\(self.name(root, key)) has a key that was not given out: the next one is \(next)")
      }
      do {
        try self.check(self.view.row(bytes, of: self.schema.family(of: root)), key, root)
        self.view.releaseRows()
      } catch let error as HeartwoodError where error.underlying == nil {
        self.report("\(self.name(root, key)): \(error.message)")
      }
      return true
    }
  }

  private func nextKey(of root: EntityDescription) throws -> UInt64 {
    do {
      return try view.number(KeySpace.counterKey(schema.keyNumber(of: root))) ?? 1
    } catch let error as HeartwoodError where error.underlying == nil {
      report("the keys of \(root.displayName): \(error.message)")
      return .max
    }
  }

  private func check(_ row: RowView, _ key: UInt64, _ root: EntityDescription) throws {
    let entity = try root.entity(numbered: row.entityNumber)
    let stored = schema.entity(entity)
    for slot in entity.slots {
      let column = entity.layout.columns[slot]
      try checkExternal(row, slot, key, entity)
      if column.kind != .toOne, column.kind != .toMany, !row.isNull(column), row.value(column).isNull {
        report(
          "\(name(entity, key)): the bytes of \(entity.property(at: slot).name) are no value of its type")
      }
    }
    for index in stored.indexes {
      let entries = IndexKey.entries(index, row, key)
      expectedEntries[index.number, default: 0] += entries.count
      if try entries.allSatisfy({ try view.contains($0) }) { continue }
      report("\(name(entity, key)) is missing in the index \(index.name)")
    }
    for link in stored.derivedLinks where !row.isNull(link.column) {
      let target = row.key(link.column)
      if try !view.contains(KeySpace.entry(KeySpace.link, link.relationship, target, key)) {
        let property = entity.property(at: Int(link.column.slot)).name
        report("\(name(entity, key)) has \(property) \(target), which has no link back")
      }
    }
    for relationship in entity.relationshipsBySlot where !relationship.isToMany && !relationship.isTransient {
      let column = entity.layout.columns[relationship.slot]
      guard !row.isNull(column) else { continue }
      try checkTarget(row.key(column), of: relationship, key)
      try checkPartner(row.key(column), of: relationship, key)
    }
  }

  /// Reports the destination of a one-to-one relationship that refers elsewhere.
  private func checkPartner(_ target: UInt64, of relationship: RelationshipDescription, _ source: UInt64)
    throws
  {
    guard relationship.isOneToOne, let inverse = relationship.inverseRelationship,
      let owner = relationship.entity,
      let destination = relationship.destinationEntity, try row(destination.rootEntity, target) != nil,
      try toOneKey(inverse, of: target) != source
    else { return }
    report(
      "\(name(owner, source)): \(relationship.name) is \(name(destination, target)), whose \(inverse.name) is another"
    )
  }

  /// Reports a destination that is missing or of a wrong entity, unless the model allows dangling references.
  func checkTarget(_ target: UInt64, of relationship: RelationshipDescription, _ source: UInt64) throws {
    guard let destination = relationship.destinationEntity, let owner = relationship.entity else { return }
    let place = "\(name(owner, source)): \(relationship.name)"
    guard try view.contains(KeySpace.rowKey(schema.keyNumber(of: destination.rootEntity), target)) else {
      if relationship.mayNotDangle {
        report("\(place) is \(name(destination, target)), which does not exist")
      }
      return
    }
    guard let row = try row(destination.rootEntity, target) else { return }
    let entity = try destination.rootEntity.entity(numbered: row.entityNumber)
    if !entity.isKindOf(entity: destination) {
      report("\(place) is \(name(entity, target)), which is no \(destination.displayName)")
    }
  }

  /// Checks that every entry of an index belongs to a row, and that the values in a unique index differ.
  func checkEntries(of index: StoreIndex) throws {
    let root = index.entity.rootEntity
    let entries = KeyRange.prefix(KeySpace.head(KeySpace.index, index.number))
    // The words of each row are there. If there are no more entries, all are right, and the rows need not be split again word by word.
    if index.kind == .words, try view.count(entries) == expectedEntries[index.number] ?? 0 { return }
    var previous: [UInt8] = []
    try view.scan(entries) { entry, _ in
      guard entry.count > IndexKey.headSize + IndexKey.keySize else {
        self.reportStray(entry)
        return true
      }
      let key = try KeySpace.lastNumber(entry)
      if try !self.isEntry(entry, of: index, root, key) {
        self.report(
          "the index \(index.name) has an entry for \(self.name(root, key)) that its row does not have")
      }
      let values = entry.dropLast(IndexKey.keySize)
      if index.isUnique, previous.elementsEqual(values) {
        self.report(
          "\(self.name(root, key)) has the same \(index.propertyNames.joined(separator: ", ")) as another "
            + "\(index.entity.displayName), which must be unique")
      }
      if index.isUnique { previous = Array(values) }
      self.view.releaseRows()
      return true
    }
  }

  private func isEntry(
    _ entry: UnsafeRawBufferPointer, of index: StoreIndex, _ root: EntityDescription, _ key: UInt64
  ) throws -> Bool {
    guard let row = try row(root, key) else { return false }
    let entity = try root.entity(numbered: row.entityNumber)
    guard entity.isKindOf(entity: index.entity) else { return false }
    return IndexKey.entries(index, row, key).contains { $0.elementsEqual(entry) }
  }
}

extension RelationshipDescription {
  /// Whether deleting a destination removes it from this relationship. References may dangle if there is no
  /// inverse, or if the inverse's delete rule is `.noActionDeleteRule`.
  var mayNotDangle: Bool {
    guard let inverse = inverseRelationship else { return false }
    return inverse.deleteRule != .noActionDeleteRule
  }
}
