extension MergeConflict: SaveConflict {}
extension ConstraintConflict: SaveConflict {}

/// Errors of saves that a merge policy may resolve.
extension HeartwoodError {
  /// An error with the rows that changed since they were read.
  public init(
    _ code: Code, _ message: String, objectIDs: [ManagedObjectID] = [], property: String? = nil,
    details: [HeartwoodError] = [], mergeConflicts: [MergeConflict],
    constraintConflicts: [ConstraintConflict] = [], underlying: (any Error)? = nil,
    isOutcomeUnknown: Bool = false
  ) {
    self.init(
      code, message, objectIDs: objectIDs, property: property, details: details,
      conflicts: mergeConflicts as [any SaveConflict] + constraintConflicts, underlying: underlying,
      isOutcomeUnknown: isOutcomeUnknown)
  }

  /// An error with the violated uniqueness constraints.
  public init(
    _ code: Code, _ message: String, objectIDs: [ManagedObjectID] = [], property: String? = nil,
    details: [HeartwoodError] = [], constraintConflicts: [ConstraintConflict],
    underlying: (any Error)? = nil, isOutcomeUnknown: Bool = false
  ) {
    self.init(
      code, message, objectIDs: objectIDs, property: property, details: details,
      conflicts: constraintConflicts, underlying: underlying, isOutcomeUnknown: isOutcomeUnknown)
  }

  /// The rows that changed since they were read, for `.managedObjectMerge`.
  public var mergeConflicts: [MergeConflict] { conflicts.compactMap { $0 as? MergeConflict } }
  /// The violated uniqueness constraints, for `.managedObjectConstraintMerge`.
  public var constraintConflicts: [ConstraintConflict] { conflicts.compactMap { $0 as? ConstraintConflict } }
}
