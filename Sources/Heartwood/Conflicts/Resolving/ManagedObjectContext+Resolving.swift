/// What merge policies call.
extension ManagedObjectContext {
  /// Changes a conflicting object so that a save on the newest row can succeed.
  ///
  /// - Parameter conflicting: All objects with conflicts.
  func resolve(_ conflict: MergeConflict, by type: MergePolicyType, _ conflicting: Set<ObjectIdentifier>) {
    RowConflictResolution(self).resolve(conflict, by: type, conflicting)
  }

  /// Changes the objects that violate uniqueness constraints so that a save can succeed.
  ///
  /// - Throws: As `UniqueConflictResolution.resolve(_:by:_:)`.
  func resolve(_ conflicts: [ConstraintConflict], by type: MergePolicyType, _ toMany: ToManyResolution) throws
  {
    try UniqueConflictResolution(self).resolve(conflicts, by: type, toMany)
  }

  /// Where the store wins, leaves the partners of one-to-one relationships that have another one by their own unsaved values.
  func leaveTakenPartners(of object: ManagedObject) {
    for relationship in object.entity.compiled.pairs where object.pending?.edit(relationship.slot) == nil {
      guard let inverse = relationship.inverseRelationship,
        case .object(let id) = object.committedValue(at: relationship.slot),
        let partner = registered(relationship.destinationEntity.rootEntity, id.key),
        !partner.state.contains(.deleted), let edit = partner.pending?.edit(inverse.slot),
        edit != .object(object.identifier)
      else { continue }
      willEdit(object)
      object.setEdit(relationship.slot, .null)
    }
  }
}
