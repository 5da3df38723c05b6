/// Objects that have the same value of a uniqueness constraint.
public struct ConstraintConflict: @unchecked Sendable {
  /// The names of the attributes and to-one relationships whose values together must be unique.
  public let constraint: [String]
  /// The duplicate values, in the order of `constraint` and in the types of `ManagedObject.value(forKey:)`.
  @_disfavoredOverload public let constraintValues: [Any]
  /// The object whose row in the store has the value; nil if all conflicting objects are unsaved changes of one context.
  public let databaseObjectID: ManagedObjectID?
  /// The changed objects of the saving context. Use them on that context's queue only.
  @_disfavoredOverload public let conflictingObjects: [ManagedObject]
  /// The values of the row in the store, by property name; nil without such a row.
  @_disfavoredOverload public let databaseSnapshot: [String: Any]?

  package init(
    constraint: [String], constraintValues: [Any], databaseObjectID: ManagedObjectID?,
    conflictingObjects: [ManagedObject], databaseSnapshot: [String: Any]?
  ) {
    self.constraint = constraint
    self.constraintValues = constraintValues
    self.databaseObjectID = databaseObjectID
    self.conflictingObjects = conflictingObjects
    self.databaseSnapshot = databaseSnapshot
  }

  /// The object of `databaseObjectID` in the saving context, a fault if it was not registered. Use it on that context's queue
  /// only.
  @_disfavoredOverload public var databaseObject: ManagedObject? {
    guard let databaseObjectID else { return nil }
    return conflictingObjects.first?.managedObjectContext?.object(with: databaseObjectID)
  }

  /// The values of each of `conflictingObjects` as last fetched or saved, by property name; empty for a new object.
  @_disfavoredOverload public var conflictingSnapshots: [[String: Any]] {
    conflictingObjects.map { $0.committedSnapshot() ?? [:] }
  }

  /// The names with the values, for messages.
  var shownValues: [String] {
    zip(constraint, constraintValues).map { name, value in
      switch value {
      case let text as String: "\(name) = \"\(text)\""
      case let object as ManagedObject: "\(name) = \(object.objectID)"
      default: "\(name) = \(value)"
      }
    }
  }
}

extension HeartwoodError {
  /// The error of a save of a context that would violate uniqueness constraints.
  static func violations(
    _ violations: [ConstraintViolation], of outcome: SaveOutcome, in context: ManagedObjectContext
  ) -> HeartwoodError { .constraints(UniqueClaims(context, outcome).conflicts(of: violations)) }
}

/// The objects of a save that claim values, by the keys that the save gave them.
private struct UniqueClaims {
  let context: ManagedObjectContext
  private var objects: [RowAddress: ManagedObject] = [:]

  init(_ context: ManagedObjectContext, _ outcome: SaveOutcome) {
    self.context = context
    for object in context.changes.inserted {
      objects[RowAddress(object.entity, object.identifier.key)] = object
    }
    for (object, identifier) in outcome.identifiers {
      objects[RowAddress(object.entity, identifier.key)] = object
    }
    for object in context.changes.updated {
      objects[RowAddress(object.entity, object.identifier.key)] = object
    }
  }

  /// One conflict for each value, with all objects that have it: the store reports violations in pairs.
  func conflicts(of violations: [ConstraintViolation]) -> [ConstraintConflict] {
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
    return groups.map(conflict)
  }

  private func conflict(_ group: [ConstraintViolation]) -> ConstraintConflict {
    let first = group[0]
    let holder = claimant(first.existingKey, first)
    let stored = ManagedObjectID(entity: first.entity, key: first.existingKey, store: context.storeIdentity)
    return ConstraintConflict(
      constraint: first.constraint,
      constraintValues: zip(first.constraint, first.values).map { name, value -> Any in
        if case .object(let id) = value {
          // A key that the save has given is not the object's own one yet.
          return objects[RowAddress(id)] ?? context.object(id.entity, id.key)
        }
        return first.entity.slot(named: name).flatMap { first.entity.anyValue(value, at: $0) } ?? "nil"
      },
      databaseObjectID: holder == nil ? stored : nil,
      conflictingObjects: (holder.map { [$0] } ?? []) + group.compactMap { claimant($0.newKey, first) },
      databaseSnapshot: holder == nil ? snapshot(of: stored) : nil)
  }

  /// The unsaved object with a key, if it has set a value of the constraint.
  private func claimant(_ key: UInt64, _ violation: ConstraintViolation) -> ManagedObject? {
    guard let object = objects[RowAddress(violation.entity, key)] else { return nil }
    if object.state.contains(.inserted) { return object }
    let names = violation.constraint
    return object.changedSlots().contains { names.contains(object.entity.property(at: $0).name) }
      ? object : nil
  }

  private func snapshot(of stored: ManagedObjectID) -> [String: Any]? {
    let root = stored.entity.rootEntity
    return try? context.readingView().withRow(root, stored.key) { row in
      try row.flatMap { try root.entity(numbered: $0.entityNumber).snapshot(ofRow: $0.bytes, in: context) }
    }
  }
}
