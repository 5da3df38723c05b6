import HeartwoodBytes

/// The difference of one row between two generations.
struct RowDifference: Sendable {
  /// The destinations that a to-many relationship has got and lost, and whether the others have another order.
  struct Links: Sendable {
    var added: [UInt64] = []
    var removed: [UInt64] = []
    var isReordered = false
  }

  /// Nil if the row is the same, or only one generation has it.
  var former: [UInt8]?
  var row: [UInt8]?
  /// The row's own entity, in the later generation that has it.
  var entity: EntityDescription?
  /// By slot.
  var links: [Int: Links] = [:]
  /// Whether the row itself was compared: it is in one generation only, or differs.
  var hasRow: Bool { former != nil || row != nil }
}

/// The two states of a store that differences compare.
struct GenerationPair {
  let earlier: LogStoreView
  let later: LogStoreView
}

extension LogStoreView {
  /// The rows and links that differ from those of another generation with the same model.
  ///
  /// - Parameter others: Called with other keys that differ, and their value in this generation.
  /// - Complexity: Linear in the pages of the trees that differ, in the rows that do, and in the destinations of ordered relationships of
  ///   which some have another place.
  func differences(
    from other: LogStoreView,
    others: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws -> Void = { _, _ in }
  ) throws -> [RowAddress: RowDifference] {
    let roots = Dictionary(
      schema.rootEntities.map { (schema.keyNumber(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
    var relationships: [UInt16: RelationshipDescription] = [:]
    for entity in schema.storedEntities {
      for relationship in entity.relationshipsBySlot
      where relationship.isToMany && !relationship.isTransient && relationship.entity === entity {
        relationships[schema.number(of: relationship)] = relationship
      }
    }
    var found: [RowAddress: RowDifference] = [:]
    // The ordered relationships with destinations that have another place.
    var moved: [LinkAddress: RelationshipDescription] = [:]
    _ = try HeartwoodError.translating("the generations cannot be compared") {
      try reader.differences(from: other.reader) { key, former, value in
        switch key.first {
        case KeySpace.row:
          if let root = roots[try KeySpace.number(of: key)] {
            let address = RowAddress(root: root.number, key: try KeySpace.lastNumber(key))
            found[address] = try self.difference(from: former, of: other, to: value, root)
          }
        case KeySpace.link, KeySpace.rank:
          guard let relationship = relationships[try KeySpace.number(of: key)],
            relationship.isOrdered == (key.first == KeySpace.rank)
          else { break }
          let address = RowAddress(
            relationship.entity?.rootEntity ?? relationship.destinationEntity, try KeySpace.source(of: key))
          let target = try KeySpace.lastNumber(key)
          var links = found[address]?.links[relationship.slot] ?? RowDifference.Links()
          switch (former, value) {
          case (nil, _): links.added.append(target)
          case (_, nil): links.removed.append(target)
          default: moved[LinkAddress(address, slot: relationship.slot)] = relationship
          }
          found[address, default: RowDifference()].links[relationship.slot] = links
        default: try others(key, value)
        }
        return true
      }
    }
    for (address, relationship) in moved {
      try checkOrder(&found[address.owner], relationship, of: address.owner.key, from: other)
    }
    return found
  }

  /// Notes whether the destinations that both generations have are in another order: some have another place, but it may be between the same
  /// neighbours.
  private func checkOrder(
    _ found: inout RowDifference?, _ relationship: RelationshipDescription, of key: UInt64,
    from other: LogStoreView
  ) throws {
    guard var links = found?.links[relationship.slot] else { return }
    let lost = Set(links.removed)
    let got = Set(links.added)
    let former = try other.destinationKeys(relationship, of: key).filter { !lost.contains($0) }
    links.isReordered = try destinationKeys(relationship, of: key).filter { !got.contains($0) } != former
    let isSame = !links.isReordered && links.added.isEmpty && links.removed.isEmpty
    found?.links[relationship.slot] = isSame ? nil : links
    if found?.hasRow == false, found?.links.isEmpty == true { found = nil }
  }

  /// The difference of two rows by their bytes in the stores.
  private func difference(
    from former: UnsafeRawBufferPointer?, of other: LogStoreView, to value: UnsafeRawBufferPointer?,
    _ root: EntityDescription
  ) throws -> RowDifference {
    let former = try former.map { try other.row($0, of: other.schema.family(of: root)) }
    let row = try value.map { try self.row($0, of: schema.family(of: root)) }
    defer {
      other.converted.trim()
      converted.trim()
    }
    var difference = RowDifference()
    difference.former = former.map { Array($0.bytes) }
    difference.row = row.map { Array($0.bytes) }
    let number = row?.entityNumber ?? former?.entityNumber
    difference.entity = try number.map { try root.entity(numbered: $0) }
    return difference
  }
}
