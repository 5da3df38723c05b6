/// Objects that have the same value of a uniqueness constraint.
public struct ConstraintConflict: @unchecked Sendable {
  /// The names of the attributes whose values together must be unique.
  public let constraint: [String]
  /// The duplicate values, in the order of `constraint` and in the types of `ManagedObject.value(forKey:)`.
  public let constraintValues: [Any]
  /// The object whose row in the store has the value; nil if all conflicting objects are unsaved changes of one context.
  public let databaseObjectID: ManagedObjectID?
  /// The changed objects of the saving context. Use them on that context's queue only.
  public let conflictingObjects: [ManagedObject]
}

extension ManagedObjectContext {
  /// The error of a save that would violate uniqueness constraints.
  func constraintError(_ violations: [ConstraintViolation], _ outcome: SaveOutcome) -> HeartwoodError {
    let inserted = Dictionary(uniqueKeysWithValues: outcome.identifiers.map { ($1, $0) })
    return .constraints(conflicts(of: violations, inserted: inserted))
  }

  /// One conflict for each value, with all objects that have it: the store reports violations in pairs.
  private func conflicts(
    of violations: [ConstraintViolation], inserted: [ManagedObjectID: ManagedObject]
  ) -> [ConstraintConflict] {
    var groups: [[ConstraintViolation]] = []
    for violation in violations {
      if let last = groups.last?.last, last.existingKey == violation.existingKey,
        last.entity === violation.entity, last.constraint == violation.constraint
      {
        groups[groups.count - 1].append(violation)
      } else {
        groups.append([violation])
      }
    }
    return groups.map { group in
      let first = group[0]
      let claimant = { (key: UInt64) -> ManagedObject? in
        inserted[ManagedObjectID(entity: first.entity, key: key, store: self.storeIdentity)]
          ?? self.changes.updated.first {
            $0.entity.rootEntity === first.entity.rootEntity && $0.identifier.key == key
              && !Set(first.constraint).isDisjoint(with: $0.changedValues().keys)
          }
      }
      let holder = claimant(first.existingKey)
      return ConstraintConflict(
        constraint: first.constraint,
        constraintValues: zip(first.constraint, first.values).map { name, value in
          first.entity.slot(named: name).flatMap { first.entity.anyValue(value, at: $0) } ?? "nil"
        },
        databaseObjectID: holder == nil
          ? ManagedObjectID(entity: first.entity, key: first.existingKey, store: storeIdentity) : nil,
        conflictingObjects: (holder.map { [$0] } ?? []) + group.compactMap { claimant($0.newKey) })
    }
  }
}
