/// Objects in conflict, changed as the types of a policy say.
extension MergePolicy {
  /// Changes the objects so that a save on the newest rows can succeed.
  final func changeObjects(of conflicts: [MergeConflict]) {
    let conflicting = Set(conflicts.lazy.map { ObjectIdentifier($0.sourceObject) })
    for conflict in conflicts {
      guard let context = conflict.sourceObject.managedObjectContext else { continue }
      RowConflictResolution(context).resolve(conflict, by: mergeType, conflicting)
    }
  }

  /// Changes the objects that violate uniqueness constraints so that a save can succeed.
  ///
  /// - Throws: As `UniqueConflictResolution.resolve(_:by:_:)`.
  final func changeObjects(of conflicts: [ConstraintConflict]) throws {
    let contexts = conflicts.lazy.compactMap { $0.conflictingObjects.first?.managedObjectContext }
    guard let context = contexts.first else { return }
    try UniqueConflictResolution(context).resolve(conflicts, by: uniqueType, toMany)
  }
}
