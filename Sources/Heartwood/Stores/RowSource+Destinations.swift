extension RowSource {
  /// The keys of the destinations of a relationship, in its order if it has one.
  ///
  /// - Complexity: Linear in the destinations.
  func destinationKeys(_ relationship: RelationshipDescription, of key: UInt64) throws -> [UInt64] {
    var keys: [UInt64] = []
    try destinations(relationship, of: key) {
      keys.append($0)
      return true
    }
    return keys
  }
}
