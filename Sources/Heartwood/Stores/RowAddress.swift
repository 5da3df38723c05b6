/// Where a row is among those of a model: keys are given out by root entity.
struct RowAddress: Hashable {
  /// The number of the root entity.
  let root: UInt16
  let key: UInt64

  init(root: UInt16, key: UInt64) {
    self.root = root
    self.key = key
  }

  /// The address of a row of an entity or a subentity.
  init(_ entity: EntityDescription, _ key: UInt64) { self.init(root: entity.rootEntity.number, key: key) }

  init(_ identifier: ManagedObjectID) { self.init(identifier.entity, identifier.key) }
}

extension RowAddress: Comparable {
  static func < (left: RowAddress, right: RowAddress) -> Bool {
    (left.root, left.key) < (right.root, right.key)
  }
}

/// A to-many relationship of one row.
struct LinkAddress: Hashable {
  let owner: RowAddress
  let slot: Int

  init(_ owner: RowAddress, slot: Int) {
    self.owner = owner
    self.slot = slot
  }

  /// - Precondition: The relationship is in a model.
  init(_ relationship: RelationshipDescription, of key: UInt64) {
    self.init(
      RowAddress(root: relationship.entity?.rootEntity.number ?? .max, key: key), slot: relationship.slot)
  }
}
