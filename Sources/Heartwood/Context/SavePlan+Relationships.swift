import Foundation

/// How a save writes relationships that have entries of their own: to-many without a to-one inverse,
/// and ordered ones. A to-many with a to-one inverse is derived by the store from the other side's rows.
extension SavePlan {
  /// Writes the differences of an object's to-many relationships.
  ///
  /// - Returns: a conflict when an order that was changed here was changed elsewhere too.
  func writeRelationships(
    of object: ManagedObject, _ mapping: (UInt64) -> UInt64, in transaction: any StoreTransaction
  ) throws -> MergeConflict? {
    let key = mapping(object.identifier.key)
    for relationship in object.entity.relationshipsBySlot where relationship.isToMany {
      guard let state = object.relationshipState(at: relationship.slot), state.hasChanges else { continue }
      if let order = state.order {
        guard try writeOrder(order, over: state, relationship, key, mapping, in: transaction) else {
          return MergeConflict(
            object, newest: try transaction.row(object.entity.rootEntity, object.identifier.key))
        }
      }
      // A to-one inverse implies all but the order.
      guard relationship.ownsLinks || relationship.isOrdered else { continue }
      for target in state.removed.sorted() { try transaction.unlink(relationship, key, mapping(target)) }
      for target in state.added { try transaction.link(relationship, key, mapping(target)) }
    }
    return nil
  }

  /// Writes an order that was set here, if the store still has the order that it was made from.
  private func writeOrder(
    _ order: [UInt64], over state: RelationshipState, _ relationship: RelationshipDescription, _ key: UInt64,
    _ mapping: (UInt64) -> UInt64, in transaction: any StoreTransaction
  ) throws -> Bool {
    var newest: [UInt64] = []
    try transaction.destinations(relationship, of: key) {
      newest.append($0)
      return true
    }
    guard newest == state.committed ?? [] else { return false }
    try transaction.setOrder(relationship, key, order.map(mapping))
    return true
  }

  /// Takes a deleted object out of the far side of its links, as the store has them now.
  func unlink(_ object: ManagedObject, in transaction: any StoreTransaction) throws {
    let key = object.identifier.key
    for relationship in object.entity.relationshipsBySlot
    where relationship.ownsLinks && relationship.deleteRule != .noActionDeleteRule {
      var targets: [UInt64] = []
      try transaction.destinations(relationship, of: key) {
        targets.append($0)
        return true
      }
      for target in targets { try transaction.unlink(relationship, key, target) }
    }
  }

  /// References that would point at nothing because of what others saved meanwhile: to a row that is
  /// gone, or from a row that came to point at a deleted one.
  func danglingReferences(
    in transaction: any StoreTransaction
  ) throws -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    // What this save deletes itself may stay referenced: that is what the rule noAction means.
    let own = Set(deleted.map(\.identifier))
    func check(_ object: ManagedObject) throws {
      try forEachNewTarget(of: object) { destination, key in
        let isOwn = own.contains(ManagedObjectID(entity: destination, key: key, store: transaction.identity))
        if try !isOwn && transaction.row(destination.rootEntity, key) == nil {
          conflicts.append(MergeConflict(object, newest: nil))
        }
      }
    }
    for object in written { try check(object) }
    for object in deleted where try isReferenced(object, in: transaction) {
      conflicts.append(
        MergeConflict(object, newest: try transaction.row(object.entity.rootEntity, object.identifier.key)))
    }
    return conflicts
  }

  /// The saved rows that an object came to point at, by to-one values and links.
  private func forEachNewTarget(
    of object: ManagedObject, _ body: (EntityDescription, UInt64) throws -> Void
  ) throws {
    for relationship in object.entity.relationshipsBySlot where relationship.inverseRelationship != nil {
      if relationship.isToMany {
        guard let state = object.relationshipState(at: relationship.slot) else { continue }
        for key in state.added where key.isPermanentKey { try body(relationship.destinationEntity, key) }
      } else if case .object(let id)? = object.side?.edit(relationship.slot), !id.isTemporaryID {
        try body(relationship.destinationEntity, id.key)
      }
    }
  }

  /// Whether rows still point at a deleted object by a to-one relationship whose other side promised
  /// that they would not.
  private func isReferenced(_ object: ManagedObject, in transaction: any StoreTransaction) throws -> Bool {
    for relationship in object.entity.relationshipsBySlot {
      guard relationship.isToMany, !relationship.ownsLinks, !relationship.isOrdered,
        relationship.deleteRule != .noActionDeleteRule
      else { continue }
      var found = false
      try transaction.destinations(relationship, of: object.identifier.key) { _ in
        found = true
        return false
      }
      if found { return true }
    }
    return false
  }
}
