/// Two rows with the same values under a uniqueness constraint.
struct ConstraintViolation: Sendable {
  /// The entity that declares the constraint.
  let entity: EntityDescription
  let constraint: [String]
  let values: [Value]
  /// The row that has the values already: a stored one, or another one of the same save.
  let existingKey: UInt64
  /// A row of this save.
  let newKey: UInt64
}

/// The error of a save that would violate uniqueness constraints.
struct ConstraintViolations: Error {
  let violations: [ConstraintViolation]
}
