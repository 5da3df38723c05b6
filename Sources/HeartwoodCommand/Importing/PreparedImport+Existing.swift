import Heartwood

/// The objects of a store that a file names by unique values.
extension PreparedImport {
  /// Finds them, before anything is written. O(n log n) in the number of objects.
  ///
  /// - Throws: A failure that names the first reference to an object that is neither in the file nor in the store, or the first new object
  ///   without a value that it needs.
  mutating func findExisting(in store: CommandStore) throws {
    for indices in try inOrderOfKeys() {
      var wanted: [ObjectKey.Constraint: [Int]] = [:]
      for index in indices {
        if let key = objects[index].key { wanted[key.constraint, default: []].append(index) }
      }
      for (constraint, indices) in wanted {
        if constraint.names.count == 1, indices.allSatisfy({ objects[$0].key?.objects.isEmpty == true }) {
          try findByOneAttribute(constraint, indices, in: store)
        } else {
          try findByAll(constraint, indices, in: store)
        }
      }
    }
    for object in objects where object.existing == nil {
      if object.isSought, let key = object.key {
        throw CommandFailure.data(
          "\(object.path): neither the file nor the store has a \(object.entity) whose \(key.text)")
      }
      if let name = object.missing.first {
        throw CommandFailure.data(
          "\(object.path).\(name): a value is missing, \(object.entity).\(name) is not optional, and the store has no such object yet"
        )
      }
    }
  }

  /// The objects with keys, those first that others' keys lead to.
  private func inOrderOfKeys() throws(CommandFailure) -> [[Int]] {
    var waits = [Int](repeating: 0, count: objects.count)
    var waiting: [Int: [Int]] = [:]
    var level: [Int] = []
    var count = 0
    for (index, object) in objects.enumerated() {
      guard let key = object.key else { continue }
      count += 1
      for destination in key.objects where objects[destination].key != nil {
        waits[index] += 1
        waiting[destination, default: []].append(index)
      }
      if waits[index] == 0 { level.append(index) }
    }
    var levels: [[Int]] = []
    while !level.isEmpty {
      levels.append(level)
      count -= level.count
      var next: [Int] = []
      for follower in level.lazy.flatMap({ waiting[$0] ?? [] }) {
        waits[follower] -= 1
        if waits[follower] == 0 { next.append(follower) }
      }
      level = next
    }
    guard count > 0, let first = waits.firstIndex(where: { $0 > 0 }), let key = objects[first].key else {
      return levels
    }
    throw .data(
      "\(objects[first].path): --upsert \(key.constraint.text) can't find it, because its values lead to itself"
    )
  }

  private static var valuesOfFetch: Int { 500 }

  private mutating func findByOneAttribute(
    _ constraint: ObjectKey.Constraint, _ indices: [Int], in store: CommandStore
  ) throws {
    for start in stride(from: 0, to: indices.count, by: Self.valuesOfFetch) {
      let part = indices[start..<min(start + Self.valuesOfFetch, indices.count)]
      let values = part.compactMap { index -> (any PredicateArgument)? in
        guard case .value(let value)? = objects[index].key?.parts[0] else { return nil }
        return value.base as? any PredicateArgument
      }
      let request = FetchRequest<ManagedObject>(entityName: constraint.entity)
      let placeholders = values.map { _ in "%@" }.joined(separator: ", ")
      request.predicate = try FormatPredicate(
        "%K IN {\(placeholders)}", argumentArray: [constraint.names[0]] + values)
      var found: [ObjectKey: ManagedObjectID] = [:]
      for object in try store.context.fetch(request) {
        if let key = ObjectKey(constraint, object.value(forKey: constraint.names[0])) {
          found[key] = object.objectID
        }
      }
      store.context.reset()
      for index in part { setExisting(objects[index].key.flatMap { found[$0] }, of: index) }
    }
  }

  /// One descent of the constraint's index for each object. Objects whose keys lead to new ones are new.
  private mutating func findByAll(
    _ constraint: ObjectKey.Constraint, _ indices: [Int], in store: CommandStore
  ) throws {
    let entity = try store.entity(named: constraint.entity)
    let declared = entity.inheritedUniquenessConstraints.first {
      $0.entity == constraint.entity && $0.names == constraint.names
    }
    guard let declared else { return }
    for index in indices {
      let values = objects[index].key?.parts.map { part -> Any? in
        switch part {
        case .value(let value): value.base
        case .object(let destination): objects[destination].existing
        }
      }
      let key = entity.constrained(values ?? [], by: declared)
      setExisting(try key.flatMap { try declared.holder(of: $0, entity, in: store.context) }, of: index)
    }
    store.context.reset()
  }
}
