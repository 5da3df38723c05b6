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
}
