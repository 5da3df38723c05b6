/// The memberships in orders that a save may have changed.
///
/// An ordered relationship with a to-one inverse is stored twice: as an order, and as the to-one values of its destinations. Two
/// contexts may change both independently, so the end of a save compares what it has touched.
struct OrderMemberships {
  private struct Membership: Hashable {
    let relationship: ObjectIdentifier
    let source: UInt64
    let target: UInt64
  }

  private var all: [(RelationshipDescription, source: UInt64, target: UInt64)] = []
  private var known: Set<Membership> = []

  /// Notes that a destination may have entered or left an order. Ignores other relationships.
  mutating func note(_ relationship: RelationshipDescription, _ source: UInt64, _ target: UInt64) {
    guard relationship.isOrderOfToOne else { return }
    let membership = Membership(relationship: ObjectIdentifier(relationship), source: source, target: target)
    if known.insert(membership).inserted { all.append((relationship, source, target)) }
  }

  /// Everything that was noted, in that order; none of it is noted any more.
  mutating func takeAll() -> [(RelationshipDescription, source: UInt64, target: UInt64)] {
    defer { self = OrderMemberships() }
    return all
  }
}

extension LogStoreTransaction {
  /// Notes the orders that a row is in, or was in before it was deleted.
  func noteMemberships(of row: RowView, _ key: UInt64, _ stored: StoreEntity, isDeleted: Bool = false) {
    for relationship in stored.orderedInverses {
      // The rule noAction leaves a deleted object in the orders of others.
      if isDeleted && relationship.deleteRule == .noActionDeleteRule { continue }
      note(row, relationship, key, stored)
    }
  }

  /// Notes the orders that a changed row leaves and enters.
  func noteMemberships(from old: RowView, to new: RowView, _ key: UInt64, _ stored: StoreEntity) {
    for relationship in stored.orderedInverses
    where !old.isSame(stored.entity.layout.columns[relationship.slot], in: new) {
      note(old, relationship, key, stored)
      note(new, relationship, key, stored)
    }
  }

  private func note(
    _ row: RowView, _ relationship: RelationshipDescription, _ key: UInt64, _ stored: StoreEntity
  ) {
    let column = stored.entity.layout.columns[relationship.slot]
    guard !row.isNull(column), let inverse = relationship.inverseRelationship else { return }
    memberships.note(inverse, row.key(column), key)
  }
}
