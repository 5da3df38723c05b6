import HeartwoodBytes

/// Computing the derived values of objects of one root entity.
extension StoreDerivation {
  func derive(
    _ root: EntityDescription, _ keys: [UInt64], _ body: ([Values]) throws -> Void
  ) throws {
    try lock(keys.map { identifier(root, $0) }, .writing)
    let view = IncrementalView(contents, contents.newestGeneration, context, hasOneReader: true)
    defer { withExtendedLifetime(view) {} }
    try view.load(root, keys)
    var members: [(key: UInt64, row: RowView, entity: EntityDescription)] = []
    for key in keys {
      // Others may have deleted it, or the transaction itself.
      guard let row = try view.row(root, key) else { continue }
      members.append((key, row, try root.entity(numbered: row.entityNumber)))
    }
    try load(members.map { ($0.key, $0.entity) }, view)
    var computed: [Values] = []
    for (key, row, entity) in members {
      guard let known = plan.of(entity) else { continue }
      let isRewritten = rewritten[root.number]?.contains(key) == true
      var values: [Int: Value] = [:]
      for derivation in isRewritten ? known.ofOwnRow + known.ofOthers : known.ofOthers {
        values[derivation.slot] = try derivation.value(of: row, key, in: view, now: now)
      }
      let (bytes, changed) = row.replacing(values, entity.layout)
      if !changed.isEmpty || saved.contains(contents.identifier(entity, key)) {
        request?.derived.append(DerivedRow(entity: entity, key: key, row: bytes))
      }
      guard !changed.isEmpty else { continue }
      computed.append(
        Values(
          objectID: contents.identifier(entity, key),
          changes: changed.compactMap { slot in
            entity.attribute(at: slot).map { ($0, StoredValue(values[slot] ?? .null)) }
          }))
    }
    if !computed.isEmpty { try body(computed) }
  }

  /// Reads what the derivations of objects read, together, and locks what is at the ends of to-one relationships.
  private func load(_ members: [(key: UInt64, entity: EntityDescription)], _ view: IncrementalView) throws {
    for (entity, objects) in Dictionary(grouping: members, by: { $0.entity.number }).values.map({
      ($0[0].entity, $0)
    }) {
      var loaded: Set<[ObjectIdentifier]> = []
      for source in (plan.of(entity)?.ofOthers ?? []).flatMap(\.sources) where !source.route.isEmpty {
        guard loaded.insert(source.route.map { ObjectIdentifier($0) }).inserted else { continue }
        var keys = objects.map(\.key)
        for relationship in source.route {
          keys = try step(relationship, keys, view)
        }
      }
    }
  }

  private func step(
    _ relationship: RelationshipDescription, _ keys: [UInt64], _ view: IncrementalView
  ) throws -> [UInt64] {
    guard let root = relationship.destinationEntity?.rootEntity, let source = relationship.entity?.rootEntity
    else { return [] }
    var found: Set<UInt64> = []
    if relationship.isToMany {
      try view.load(relationship, of: keys)
      for key in keys {
        try view.destinations(relationship, of: key) {
          found.insert($0)
          return true
        }
      }
    } else {
      for key in keys {
        guard let row = try view.row(source, key) else { continue }
        let entity = try source.entity(numbered: row.entityNumber)
        let column = entity.layout.columns[relationship.slot]
        if !row.isNull(column) { found.insert(row.key(column)) }
      }
      try lock(found.sorted().map { contents.identifier(root, $0) }, .reading)
    }
    let sorted = found.sorted()
    try view.load(root, sorted)
    return sorted
  }
}
