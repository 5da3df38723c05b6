/// The values that must be unique, as they are when a plan is carried out.
struct RevertUniqueness {
  private typealias Values = UniquenessConstraint.Values

  /// The values that an object gets under a constraint.
  private struct Wish {
    let objectID: ManagedObjectID
    let constraint: UniquenessConstraint
    /// Nil if one is missing, which no other object's equal.
    let values: Values?
    /// The object in the list of updates; nil if it comes back.
    let update: Int?
  }

  private let context: ManagedObjectContext
  /// The store before the transaction.
  private let before: ManagedObjectContext

  init(_ context: ManagedObjectContext, _ before: ManagedObjectContext) {
    (self.context, self.before) = (context, before)
  }

  /// Takes out of a plan what would give an object values that another one has.
  ///
  /// - Returns: The conflicts.
  /// - Complexity: One descent of an index for each object and constraint whose values come back.
  func refuseTaken(_ plan: inout RevertPlan) throws -> [RevertConflict] {
    let wishes = try wishes(of: plan)
    var leaving = Dictionary(grouping: wishes) { $0.constraint }.mapValues { Set($0.map(\.objectID)) }
    for constraint in leaving.keys { leaving[constraint]?.formUnion(plan.removals.map(\.objectID)) }
    var granted: [UniquenessConstraint: [Values: ManagedObjectID]] = [:]
    var conflicts: [RevertConflict] = []
    for wish in wishes {
      guard let values = wish.values else { continue }
      let holder =
        try granted[wish.constraint]?[values]
        ?? holder(of: values, wish, besides: leaving[wish.constraint] ?? [])
      guard let holder else {
        granted[wish.constraint, default: [:]][values] = wish.objectID
        continue
      }
      conflicts += plan.refuse(wish.objectID, wish.update, wish.constraint, holder)
    }
    return conflicts
  }

  private func wishes(of plan: RevertPlan) throws -> [Wish] {
    var wishes: [Wish] = []
    for difference in plan.returning {
      for constraint in difference.objectID.entity.inheritedUniquenessConstraints {
        let values = try values(under: constraint, of: difference.objectID) { _ in nil }
        wishes.append(
          Wish(objectID: difference.objectID, constraint: constraint, values: values, update: nil))
      }
    }
    for (index, update) in plan.updates.enumerated() {
      for constraint in update.object.entity.inheritedUniquenessConstraints
      where update.slots.contains(where: { update.object.entity.has(constraint, $0) }) {
        let values = try values(under: constraint, of: update.object.objectID) { slot in
          update.slots.contains { update.object.entity.isColumn(slot, of: $0) }
            ? nil : update.object.value(at: slot)
        }
        wishes.append(
          Wish(objectID: update.object.objectID, constraint: constraint, values: values, update: index))
      }
    }
    return wishes
  }

  /// - Parameter kept: The value that stays in a column; nil if the former one comes back.
  private func values(
    under constraint: UniquenessConstraint, of identifier: ManagedObjectID, _ kept: (Int) -> Value?
  ) throws -> Values? {
    let slots = constraint.names.compactMap { identifier.entity.slot(named: $0) }
    return try Values(
      before.performAndWait {
        let then: ManagedObject = try before.existingObject(with: identifier)
        return slots.map { kept($0) ?? then.value(at: $0) }
      })
  }

  /// Another object that has values, and does not leave them.
  private func holder(
    of values: Values, _ wish: Wish, besides leaving: Set<ManagedObjectID>
  ) throws -> ManagedObjectID? {
    let entity = wish.objectID.entity
    guard let holder = try wish.constraint.holder(of: values, entity, in: context),
      holder != wish.objectID, !leaving.contains(holder)
    else { return nil }
    let object = context.object(holder.entity, holder.key)
    let slots = wish.constraint.names.compactMap { holder.entity.slot(named: $0) }
    return !object.isDeleted && Values(slots.map { object.value(at: $0) }) == values ? holder : nil
  }
}

extension RevertPlan {
  /// Takes out what gives an object the values of a constraint.
  fileprivate mutating func refuse(
    _ objectID: ManagedObjectID, _ index: Int?, _ constraint: UniquenessConstraint, _ holder: ManagedObjectID
  ) -> [RevertConflict] {
    guard let index else {
      guard returning.contains(where: { $0.objectID == objectID }) else { return [] }
      returning.removeAll { $0.objectID == objectID }
      return [RevertConflict(objectID: objectID, property: nil, reason: .isTaken, other: holder)]
    }
    let entity = objectID.entity
    let refused = updates[index].slots.filter { entity.has(constraint, $0) }
    updates[index].slots.removeAll(where: refused.contains)
    return refused.map {
      RevertConflict(
        objectID: objectID, property: entity.property(at: $0).name, reason: .isTaken, other: holder)
    }
  }
}

extension EntityDescription {
  /// Whether a constraint has a column, or an element of it.
  fileprivate func has(_ constraint: UniquenessConstraint, _ slot: Int) -> Bool {
    constraint.names.contains { name in self.slot(named: name).map { isColumn($0, of: slot) } ?? false }
  }

  /// Whether a column is another one, or an element of it.
  fileprivate func isColumn(_ slot: Int, of whole: Int) -> Bool {
    slot == whole || isElement(slot) && compositeSlots(around: slot).contains(whole)
  }
}
