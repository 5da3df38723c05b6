/// Checks of relationships.
extension ModelChecks {
  func check(_ relationship: RelationshipDescription) throws(HeartwoodError) {
    let name = relationship.displayName
    guard let destination = relationship.destinationEntity else {
      throw .model("\(name) leads nowhere: set its `destinationEntity`")
    }
    guard destination.model === model else {
      throw .model("\(name) leads to \(destination.displayName), which is not in the model")
    }
    guard relationship.minCount >= 0, relationship.maxCount >= 0 else {
      throw .model("\(name) has a negative count of destinations")
    }
    guard relationship.maxCount == 0 || relationship.minCount <= relationship.maxCount else {
      throw .model(
        "\(name) needs at least \(relationship.minCount) destinations, but may have only \(relationship.maxCount)"
      )
    }
    guard !relationship.isOrdered || relationship.isToMany else {
      throw .model(
        "\(name) is ordered, but has one destination only: set `maxCount` to 0 or `isOrdered` to false")
    }
    if let inverse = relationship.inverseRelationship { try check(inverse, asInverseOf: relationship) }
  }

  private func check(
    _ inverse: RelationshipDescription, asInverseOf relationship: RelationshipDescription
  ) throws(HeartwoodError) {
    let name = relationship.displayName
    guard let owner = inverse.entity, relationship.destinationEntity?.isKindOf(entity: owner) == true else {
      throw .model(
        "the inverse of \(name), \(inverse.displayName), is no relationship of its destination "
          + "\(relationship.destinationEntity?.displayName ?? "?")")
    }
    guard let back = inverse.inverseRelationship else {
      throw .model(
        "\(inverse.displayName) does not name \(name) as its inverse, which names it: "
          + "each side of a pair must name the other")
    }
    guard inverse.isTransient == relationship.isTransient else {
      let (one, other) = relationship.isTransient ? (relationship, inverse) : (inverse, relationship)
      throw .model(
        "\(one.displayName) is transient, and its inverse \(other.displayName) is not: both sides of a pair are stored, or none is"
      )
    }
    guard back === relationship else {
      throw .model(
        "\(name) names \(inverse.displayName) as its inverse, but that one names \(back.displayName)")
    }
  }
}
