extension RowLoader {
  /// Loads the destinations of relationships for many objects at once: one pass for the keys, and one for the rows, of each relationship.
  func prefetch(_ relationships: [PrefetchedRelationship], of objects: [ManagedObject]) throws {
    for step in relationships where !objects.isEmpty {
      let relationship = step.relationship
      guard let root = relationship.destinationEntity?.rootEntity else { continue }
      let keys =
        try relationship.isToMany
        ? loadDestinations(relationship, of: objects) : destinations(relationship, of: objects)
      try prefetch(step.next, of: self.objects(root, Set(keys).sorted()))
    }
  }

  private func destinations(
    _ relationship: RelationshipDescription, of objects: [ManagedObject]
  ) throws -> [UInt64] {
    try loadRows(objects)
    return objects.compactMap { object in
      switch object.pending?.edit(relationship.slot) {
      case .object(let id): return id.key
      case .some: return nil
      case nil: break
      }
      guard let row = object.row else { return nil }
      let column = object.entity.layout.columns[relationship.slot]
      return row.isNull(column) ? nil : row.key(column)
    }
  }

  /// Loads the keys of a to-many relationship where they are not loaded yet.
  private func loadDestinations(
    _ relationship: RelationshipDescription, of objects: [ManagedObject]
  ) throws -> [UInt64] {
    let slot = relationship.slot
    var states: [RelationshipState] = []
    var waiting: [UInt64: RelationshipState] = [:]
    for object in objects where object.state.isDisjoint(with: [.deleted, .inaccessible, .unreadable]) {
      let state = context.state(object, slot)
      states.append(state)
      if !state.isLoaded { waiting[object.identifier.key] = state }
    }
    try forEachDestinations(relationship, of: waiting.keys.sorted()) { source, keys in
      waiting[source]?.load(keys)
    }
    return states.flatMap { $0.isLoaded ? $0.keys() : [] }
  }
}

extension EntityDescription {
  /// The relationships of paths, with what they have in common once.
  ///
  /// - Throws: `.coreData` if a name is no relationship.
  func prefetched(_ paths: [any PrefetchPath]) throws(HeartwoodError) -> [PrefetchedRelationship] {
    var found: [PrefetchedRelationship] = []
    for path in paths { try add(path.prefetchedSteps[...], to: &found) }
    return found
  }

  private func add(
    _ steps: ArraySlice<PrefetchStep>, to found: inout [PrefetchedRelationship]
  ) throws(HeartwoodError) {
    guard let step = steps.first else { return }
    let names =
      switch step.path {
      case .keyPath(let keyPath): try propertyNames(of: keyPath)
      case .name(let name): [name]
      case .item(let item): [item.text]
      case .kind(let kind): [kind.text]
      }
    guard let name = names.first, let relationship = propertiesByName[name] as? RelationshipDescription,
      let destination = relationship.destinationEntity
    else {
      throw HeartwoodError(
        .coreData,
        "\(displayName).\(names.joined(separator: ".")) is no relationship, so that a fetch cannot load its destinations: "
          + "relationshipKeyPathsForPrefetching has paths of relationships only, such as "
          + "\(relationshipsBySlot.first?.name ?? "people")")
    }
    var next = PrefetchedRelationship(relationship: relationship)
    let index = found.firstIndex { $0.relationship === relationship }
    if let index { next = found[index] }
    let rest = names.dropFirst().map { PrefetchStep(path: .name($0)) } + steps.dropFirst()
    try destination.add(rest[...], to: &next.next)
    if let index { found[index] = next } else { found.append(next) }
  }
}
