/// Gives the evaluation of conditions access to the rows of other objects.
@usableFromInline package protocol RowSource: AnyObject {
  /// The row with a key of a root entity; nil if there is none. Its bytes are valid as long as the source's
  /// view.
  func row(_ root: EntityDescription, _ key: UInt64) throws -> RowView?

  /// Calls `body` with the key of each destination of a to-many relationship until it returns false.
  func destinations(
    _ relationship: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws

  /// The number of destinations.
  func destinationCount(_ relationship: RelationshipDescription, of key: UInt64) throws -> Int

  /// Whether a to-many relationship has a destination.
  func hasDestination(
    _ relationship: RelationshipDescription, _ target: UInt64, of key: UInt64
  ) throws -> Bool

  /// Adds the words of all objects that the source has.
  func count(_ counts: inout WordCounts) throws
}

extension RowSource {
  /// Calls `body` with the keys of the objects from which a relationship leads to an object, until it returns false.
  ///
  /// - Parameter inverse: The inverse of that relationship, by which they are found.
  package func origins(
    over inverse: RelationshipDescription, of key: UInt64, _ body: (UInt64) throws -> Bool
  ) throws {
    guard !inverse.isToMany else { return try destinations(inverse, of: key, body) }
    guard let entity = inverse.entity, let row = try row(entity.rootEntity, key),
      try entity.rootEntity.entity(numbered: row.entityNumber).isKindOf(entity: entity)
    else { return }
    let column = entity.layout.columns[inverse.slot]
    if !row.isNull(column) { _ = try body(row.key(column)) }
  }

  package func count(_ counts: inout WordCounts) throws {}

  package func hasDestination(
    _ relationship: RelationshipDescription, _ target: UInt64, of key: UInt64
  ) throws -> Bool {
    var isFound = false
    try destinations(relationship, of: key) { destination in
      isFound = destination == target
      return !isFound
    }
    return isFound
  }

  package func destinationCount(_ relationship: RelationshipDescription, of key: UInt64) throws -> Int {
    var count = 0
    try destinations(relationship, of: key) { _ in
      count += 1
      return true
    }
    return count
  }
}
