import Foundation

/// Writing relationships that have entries of their own in the store: to-many without a to-one inverse, and ordered
/// ones. The store derives a to-many with a to-one inverse from the rows of the other side.
extension SavePlan {
  /// Writes the differences of all to-many relationships.
  ///
  /// Orders come first, each as its own object has it. Links come second, so that a link written from the other side is
  /// appended at the end of an order.
  ///
  /// - Returns: Conflicts: orders that were changed both here and elsewhere.
  func writeRelationships(
    _ mapping: (UInt64) -> UInt64, in transaction: any StoreTransaction, _ outcome: inout SaveOutcome
  ) throws -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    var rest: [(RelationshipDescription, UInt64, RelationshipState)] = []
    for object in written {
      let key = mapping(object.identifier.key)
      for relationship in object.entity.relationshipsBySlot
      where relationship.isToMany && !relationship.isTransient {
        guard let state = object.relationshipState(at: relationship.slot), state.hasChanges else { continue }
        guard relationship.isOrdered else {
          // If the inverse is to-one, its rows imply the links.
          if relationship.ownsLinks { rest.append((relationship, key, state)) }
          continue
        }
        guard try writeOrdered(relationship, key, state, mapping, in: transaction, &outcome) else {
          conflicts.append(
            MergeConflict(
              object, newest: try transaction.row(object.entity.rootEntity, object.identifier.key),
              .order(relationship.slot)))
          continue
        }
        if relationship.isOrderedOnBothSides { rest.append((relationship, key, state)) }
      }
    }
    for (relationship, key, state) in rest {
      try writeLinks(relationship, key, state, mapping, in: transaction)
    }
    return conflicts
  }

  private func writeLinks(
    _ relationship: RelationshipDescription, _ key: UInt64, _ state: RelationshipState,
    _ mapping: (UInt64) -> UInt64, in transaction: any StoreTransaction
  ) throws {
    for target in state.removed.sorted() { try transaction.unlink(relationship, key, mapping(target)) }
    for target in state.added { try transaction.link(relationship, key, mapping(target)) }
  }

  /// Writes the added, removed and moved destinations of an ordered relationship.
  ///
  /// - Returns: false if an order that was set here was changed elsewhere too.
  private func writeOrdered(
    _ relationship: RelationshipDescription, _ key: UInt64, _ state: RelationshipState,
    _ mapping: (UInt64) -> UInt64, in transaction: any StoreTransaction, _ outcome: inout SaveOutcome
  ) throws -> Bool {
    if let order = state.order {
      // Others may have related an object that is deleted here, which its delete rule did not know.
      let kept = relationship.mayNotDangle ? order.filter(isNotDeleted(relationship)) : order
      if kept.count < order.count { outcome.corrected.append((relationship, key)) }
      guard try writeOrder(kept, over: state, relationship, key, mapping, in: transaction) else {
        return false
      }
    }
    if !relationship.isOrderedOnBothSides {
      try writeLinks(relationship, key, state, mapping, in: transaction)
    } else if state.order == nil {
      // Both sides have an order, so each side is written separately.
      let kept = try transaction.destinationKeys(relationship, of: key).filter { !state.removed.contains($0) }
      try transaction.setOrder(relationship, key, kept + state.added.map(mapping))
    }
    return true
  }

  /// Writes an order that was set here, if the store still has the order that it was derived from.
  ///
  /// - Returns: false if the order was changed elsewhere.
  private func writeOrder(
    _ order: [UInt64], over state: RelationshipState, _ relationship: RelationshipDescription, _ key: UInt64,
    _ mapping: (UInt64) -> UInt64, in transaction: any StoreTransaction
  ) throws -> Bool {
    let newest = try transaction.destinationKeys(relationship, of: key)
    guard isSame(newest, state.committed ?? [], relationship) else { return false }
    try transaction.setOrder(relationship, key, order.map(mapping))
    return true
  }

  /// Whether an order is the known one. Objects that this save deletes are ignored, as they may have been removed from the order already.
  private func isSame(_ newest: [UInt64], _ known: [UInt64], _ relationship: RelationshipDescription) -> Bool
  {
    if newest == known { return true }
    let isKept = isNotDeleted(relationship)
    return newest.filter(isKept) == known.filter(isKept)
  }

  /// Tells the keys of destinations that this save does not delete.
  private func isNotDeleted(_ relationship: RelationshipDescription) -> (UInt64) -> Bool {
    let root = relationship.destinationEntity.rootEntity
    let keys = Set(deleted.lazy.filter { $0.entity.rootEntity === root }.map(\.identifier.key))
    return { !keys.contains($0) }
  }

  /// Removes a deleted object from the other side of its links, as the store has them now.
  func unlink(_ object: ManagedObject, in transaction: any StoreTransaction) throws {
    let key = object.identifier.key
    for relationship in object.entity.relationshipsBySlot
    where relationship.ownsLinks && relationship.deleteRule != .noActionDeleteRule {
      for target in try transaction.destinationKeys(relationship, of: key) {
        try transaction.unlink(relationship, key, target)
      }
    }
  }

  /// Conflicts with concurrent saves that would leave dangling references: a reference to a deleted row, or a row that now
  /// references an object that this save deletes; and one-to-one relationships whose sides would not agree.
  func danglingReferences(
    _ mapping: (UInt64) -> UInt64, _ orders: [OrderOfDeleted], in transaction: any StoreTransaction
  ) throws -> [MergeConflict] {
    var conflicts: [MergeConflict] = []
    let rows = SavedRows(row: transaction.row)
    // Objects that this save deletes itself may stay referenced: that is what the rule noAction means.
    let own = Set(deleted.map(\.identifier))
    func check(_ object: ManagedObject) throws {
      try forEachNewTarget(of: object, mapping) { relationship, key in
        let destination: EntityDescription = relationship.destinationEntity
        let isAllowed =
          !relationship.mayNotDangle
          && own.contains(ManagedObjectID(entity: destination, key: key, store: transaction.identity))
        if try !isAllowed && (!key.isPermanentKey || transaction.row(destination.rootEntity, key) == nil) {
          conflicts.append(
            MergeConflict(
              object, newest: try transaction.row(object.entity.rootEntity, object.identifier.key),
              .dangling(relationship.slot, key)))
        }
      }
    }
    for object in written {
      try check(object)
      conflicts += try partnerConflicts(of: object, mapping, rows)
    }
    let referenced = Set(
      try orders.filter { try isReferenced($0, rows) }.map { ObjectIdentifier($0.object) })
    for object in deleted
    where try referenced.contains(ObjectIdentifier(object)) || isReferenced(object, in: transaction)
      || isPartnerLeft(by: object, rows)
    {
      conflicts.append(
        MergeConflict(
          object, newest: try transaction.row(object.entity.rootEntity, object.identifier.key), .referenced))
    }
    return conflicts
  }

  /// Calls `body` with the saved rows that an object newly references, by to-one values and links; and with temporary keys of objects
  /// that are not saved: they have left their context.
  func forEachNewTarget(
    of object: ManagedObject, _ mapping: (UInt64) -> UInt64,
    _ body: (RelationshipDescription, UInt64) throws -> Void
  ) throws {
    for relationship in object.entity.relationshipsBySlot where !relationship.isTransient {
      func visit(_ key: UInt64) throws {
        if key.isPermanentKey {
          if relationship.inverseRelationship != nil { try body(relationship, key) }
        } else if !mapping(key).isPermanentKey {
          try body(relationship, key)
        }
      }
      if relationship.isToMany {
        guard let state = object.relationshipState(at: relationship.slot) else { continue }
        for key in state.added { try visit(key) }
      } else if case .object(let id)? = object.pending?.edit(relationship.slot) {
        try visit(id.key)
      }
    }
  }

  /// The destinations of a deleted object in an ordered relationship with a to-one inverse, as the store had them before the save. They
  /// are deleted with the object, which others may have given more destinations.
  struct OrderOfDeleted {
    let object: ManagedObject
    let relationship: RelationshipDescription
    let keys: [UInt64]
  }

  func ordersOfDeleted(_ object: ManagedObject, in transaction: any StoreTransaction) throws
    -> [OrderOfDeleted]
  {
    try object.entity.relationshipsBySlot.filter { relationship in
      relationship.isOrderOfToOne && relationship.deleteRule != .noActionDeleteRule
    }.map { relationship in
      OrderOfDeleted(
        object: object, relationship: relationship,
        keys: try transaction.destinationKeys(relationship, of: object.identifier.key))
    }
  }

  /// Whether a row still refers to the deleted object.
  private func isReferenced(_ order: OrderOfDeleted, _ rows: SavedRows) throws -> Bool {
    try order.keys.contains { key in
      try partner(of: key, order.relationship, rows) == order.object.identifier.key
    }
  }

  /// Whether rows still reference a deleted object by a to-one relationship although the inverse's delete rule is not noAction.
  private func isReferenced(_ object: ManagedObject, in transaction: any StoreTransaction) throws -> Bool {
    for relationship in object.entity.relationshipsBySlot {
      guard relationship.isToMany, !relationship.isTransient, !relationship.ownsLinks,
        !relationship.isOrdered,
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

extension RelationshipDescription {
  fileprivate var isOrderedOnBothSides: Bool {
    isOrdered && inverseRelationship.map { $0.isToMany && $0.isOrdered } == true
  }
}
