import HeartwoodBytes

/// Deleting rows by their delete rules.
extension BatchWriter {
  /// Deletes rows of a family and what cascades from them; rows that do not exist are ignored.
  ///
  /// - Returns: The number of deleted rows.
  /// - Throws: `.validationRelationshipDeniedDelete` if the rule deny forbids one of the deletes.
  func delete(_ keys: [UInt64], of root: EntityDescription) throws -> Int {
    var deleted = DeletedRows()
    for key in keys { deleted.add(root, key) }
    try addCascades(to: &deleted)
    try checkDenials(of: deleted)
    var count = 0
    for (root, key) in deleted.rows {
      guard let row = try transaction.row(root, key) else { continue }
      let version = row.version
      let entity = try root.entity(numbered: row.entityNumber)
      for relationship in entity.relationshipsBySlot
      where !relationship.isTransient && relationship.deleteRule == .nullifyDeleteRule {
        let destinations = deleted.keys(of: relationship.destinationEntity.rootEntity)
        try leave(relationship, key, unless: destinations.contains)
      }
      let conflict = try transaction.delete(entity, key, expectedVersion: version)
      require(conflict == nil, "a row changed during the transaction that deletes it")
      count += 1
    }
    return count
  }

  /// Each row is met once, so that cycles of cascades end.
  private func addCascades(to deleted: inout DeletedRows) throws {
    var next = 0
    while next < deleted.rows.count {
      let (root, key) = deleted.rows[next]
      next += 1
      guard root.hasRelationship(with: .cascadeDeleteRule), let entity = try entity(root, key) else {
        continue
      }
      for relationship in entity.relationshipsBySlot
      where !relationship.isTransient && relationship.deleteRule == .cascadeDeleteRule {
        let destination = relationship.destinationEntity.rootEntity
        for target in try destinations(relationship, of: key) { deleted.add(destination, target) }
      }
    }
  }

  private func checkDenials(of deleted: DeletedRows) throws {
    for (root, key) in deleted.rows where root.hasRelationship(with: .denyDeleteRule) {
      guard let entity = try entity(root, key) else { continue }
      for relationship in entity.relationshipsBySlot
      where !relationship.isTransient && relationship.deleteRule == .denyDeleteRule {
        let other = relationship.destinationEntity.rootEntity
        let gone = deleted.keys(of: other)
        guard
          try destinations(relationship, of: key).contains(where: {
            try !gone.contains($0) && transaction.row(other, $0) != nil
          })
        else { continue }
        throw HeartwoodError.batchCount(
          .validationRelationshipDeniedDelete, relationship, identifier(entity, key),
          "still has destinations, and its delete rule is deny: delete or remove them first")
      }
    }
  }
}

/// The rows that a batch deletes, in the order in which they were found.
private struct DeletedRows {
  private(set) var rows: [(root: EntityDescription, key: UInt64)] = []
  private var keysByRoot: [UInt16: Set<UInt64>] = [:]

  mutating func add(_ root: EntityDescription, _ key: UInt64) {
    if keysByRoot[root.number, default: []].insert(key).inserted { rows.append((root, key)) }
  }

  func keys(of root: EntityDescription) -> Set<UInt64> { keysByRoot[root.number] ?? [] }
}

extension EntityDescription {
  /// Whether the entity or a subentity has a relationship with this delete rule.
  fileprivate func hasRelationship(with rule: DeleteRule) -> Bool {
    compiled.family.entities.contains {
      $0.relationshipsBySlot.contains { $0.deleteRule == rule && !$0.isTransient }
    }
  }
}
