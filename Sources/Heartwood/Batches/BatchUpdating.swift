/// The execution of a batch update.
struct BatchUpdating {
  let entity: EntityDescription
  let change: BatchChange
  let writer: BatchWriter

  /// Changes rows by their keys.
  func update(_ keys: [UInt64]) throws {
    let targets = BatchTargets(writer.transaction)
    let destinations = try change.destinations.map { relationship, reference in
      (relationship, try reference.map { try targets.requiredKey(of: $0, relationship) })
    }
    guard change.readsOtherRows else {
      for key in keys {
        guard let (concrete, values) = try newValues(of: key) else { continue }
        try write(values, concrete, key, destinations)
      }
      return
    }
    // Expressions must not see what the request has changed already.
    let new = try keys.map { try newValues(of: $0) }
    for (key, new) in zip(keys, new) {
      if let (concrete, values) = new { try write(values, concrete, key, destinations) }
    }
  }

  private func newValues(of key: UInt64) throws -> (EntityDescription, [Value?])? {
    let root = entity.rootEntity
    guard let row = try writer.transaction.row(root, key) else { return nil }
    let concrete = try root.entity(numbered: row.entityNumber)
    return (concrete, try change.newValues(of: row, key, concrete, in: writer.transaction))
  }

  private func write(
    _ values: [Value?], _ concrete: EntityDescription, _ key: UInt64,
    _ destinations: [(RelationshipDescription, UInt64?)]
  ) throws {
    try writer.update(concrete, key, values)
    for (relationship, target) in destinations { try writer.assign(relationship, of: key, target) }
  }
}
