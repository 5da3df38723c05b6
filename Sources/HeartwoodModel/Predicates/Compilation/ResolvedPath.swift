/// A path with its names resolved.
package struct ResolvedPath {
  package enum End {
    /// The object itself, at the end of the hops.
    case object(EntityDescription)
    case toOne(RelationshipDescription, Column, EntityDescription)
    case attribute(AttributeDescription, Column)
    /// The name of the object's entity, which is this one or below it.
    case entity(EntityDescription)
    /// A to-many relationship, with the steps of the path that follow it.
    case toMany(RelationshipDescription, EntityDescription, rest: [PathStep])
  }

  /// The number of to-many scopes between the object that the path starts from and the innermost one.
  package var outward: Int
  package var hops: [ToOneHop]
  /// The relationships of the hops, as far as they are to-one relationships.
  package var relationships: [RelationshipDescription] = []
  package var end: End
  /// The path's name in messages: `City.country.name`.
  package var name: String
  /// The position of the path in the predicate's text.
  package var column: Int?

  var isOwnRow: Bool { outward == 0 && hops.isEmpty }

  /// The slot at the end; nil for the object itself.
  package var slot: Int? {
    switch end {
    case .object, .entity: nil
    case .toOne(let relationship, _, _), .toMany(let relationship, _, _): relationship.slot
    case .attribute(let attribute, _): attribute.slot
    }
  }

  /// Throws if the path ends in an attribute whose values may be stored outside the rows: rows are what conditions and sorts
  /// read.
  package func checkIsInRow() throws(HeartwoodError) {
    guard case .attribute(let attribute, _) = end, attribute.mayBeOutsideRow else { return }
    throw .predicate(
      "\(name) may be stored outside the rows: it can be compared with nil only", column: column)
  }
}

/// Resolves the names of paths.
package struct PathResolver {
  /// The enclosing scopes, the fetched object first.
  package var scopes: [(scope: Scope, entity: EntityDescription)]

  /// The properties that the paths read of the fetched object's row.
  package let used = UsedProperties()

  package init(scopes: [(scope: Scope, entity: EntityDescription)]) {
    self.scopes = scopes
  }

  package func resolve(_ path: PropertyPath) throws(HeartwoodError) -> ResolvedPath {
    let resolved = try resolvedAlone(path)
    if resolved.outward == scopes.count - 1 { used.add(resolved) }
    used.addReached(resolved)
    used.addStart(level: scopes.count - 1 - resolved.outward)
    return resolved
  }

  /// The same, without noting what the path reads.
  func resolvedAlone(_ path: PropertyPath) throws(HeartwoodError) -> ResolvedPath {
    guard let level = scopes.lastIndex(where: { $0.scope === path.scope }) else {
      throw .predicate("it uses an object of a condition that it is not inside of", column: path.column)
    }
    var resolved = ResolvedPath(
      outward: scopes.count - 1 - level, hops: [], end: .object(scopes[level].entity),
      name: scopes[level].entity.displayName, column: path.column)
    var steps = path.steps[...]
    while let step = steps.popFirst() {
      guard resolved.hops.count <= TreeSize.greatestDepth else {
        throw .predicate(
          "a path leads over more than \(TreeSize.greatestDepth) relationships", column: path.column)
      }
      try follow(step, &steps, &resolved)
      guard case .toMany(let relationship, let destination, _) = resolved.end else { continue }
      guard case .item(let item)? = steps.first else { break }
      steps.removeFirst()
      guard relationship.isOrdered else {
        throw .predicate(
          "\(resolved.name) is not ordered, so that [\(item.text)] is none of its objects in particular; use ANY, ALL, NONE or SUBQUERY",
          column: path.column)
      }
      resolved.name += "[\(item.text)]"
      resolved.hops.append(ToOneHop(item, of: relationship, destination))
      resolved.end = .object(destination)
    }
    return resolved
  }

  /// Follows one more step from the current end of the path.
  private func follow(
    _ step: PathStep, _ steps: inout ArraySlice<PathStep>, _ path: inout ResolvedPath
  ) throws(HeartwoodError) {
    if case .attribute(let attribute, _) = path.end, attribute.type == .composite {
      return try followElement(step, of: attribute, &path)
    }
    if case .entity = path.end, case .name("name") = step { return }
    if case .kind(let kind) = step { return try narrow(&path, to: kind) }
    if case .item(let item) = step {
      throw .predicate(
        "\(path.name) is no ordered relationship: [\(item.text)] cannot follow it", column: path.column)
    }
    let entity = try entityForStep(step, &path)
    guard let name = try name(of: step, &steps, entity) else { return }
    guard let slot = entity.slot(named: name) else {
      if name == "objectID" || name == "self" { return }
      if name == "entity" {
        path.name += ".entity"
        path.end = .entity(entity)
        return
      }
      throw unknown(name, entity, path.column)
    }
    path.name += ".\(name)"
    let column = entity.layout.columns[slot]
    switch entity.property(at: slot) {
    case let attribute as AttributeDescription:
      guard !attribute.isTransient else {
        throw .predicate(
          "\(path.name) is transient and not stored: fetch without it, and filter or sort the objects",
          column: path.column, property: name)
      }
      path.end = .attribute(attribute, column)
    case let relationship as RelationshipDescription:
      guard let destination = relationship.destinationEntity else { throw unknown(name, entity, path.column) }
      guard !relationship.isTransient else {
        throw .predicate(
          "\(path.name) is transient and not stored: fetch without it, and filter or sort the objects",
          column: path.column, property: name)
      }
      path.end =
        relationship.isToMany
        ? .toMany(relationship, destination, rest: Array(steps)) : .toOne(relationship, column, destination)
    default: throw unknown(name, entity, path.column)
    }
  }

  /// Goes on with the object as one of another entity, if it is one.
  private func narrow(_ path: inout ResolvedPath, to kind: PathKind) throws(HeartwoodError) {
    if case .attribute = path.end {
      throw .predicate(
        "\(path.name) cannot be cast to \(kind.text): CAST of an attribute has the name of a type, \(CastType.names)",
        column: path.column)
    }
    let entity = try entityForStep(.kind(kind), &path)
    let wanted =
      switch kind {
      case .name(let name):
        entity.model?.entitiesByName[name]
          ?? entity.model?.entities.first {
            $0.managedObjectClassName.split(separator: ".").last.map(String.init) == name
              || $0.managedObjectClassName == name
          }
      case .type(let type): entity.model?.entity(of: type)
      }
    guard let wanted, wanted.isKindOf(entity: entity) || entity.isKindOf(entity: wanted) else {
      let names = entity.compiled.family.entities.map(\.displayName).sorted()
      throw .predicate(
        "\(path.name) is never a \(kind.text): CAST has an entity that it may be, \(ModelChecks.list(names)), or for an attribute a type",
        column: path.column)
    }
    path.name = "CAST(\(path.name), \"\(wanted.displayName)\")"
    guard !entity.isKindOf(entity: wanted) else { return }
    path.hops.append(ToOneHop(as: wanted))
    path.end = .object(wanted)
  }

  /// Follows a step to an element of a composite attribute, or to several nested ones.
  private func followElement(
    _ step: PathStep, of composite: AttributeDescription, _ path: inout ResolvedPath
  ) throws(HeartwoodError) {
    guard let entity = composite.entity else { return }
    let names: [String]?
    switch step {
    case .name(let name): names = [name]
    case .item, .kind: names = nil
    case .keyPath(let keyPath):
      names = (type(of: keyPath).rootType as? any CompositeValue.Type)?.elementNames(of: keyPath)
    }
    let full = names.map { composite.name + "." + $0.joined(separator: ".") }
    guard let names, let slot = full.flatMap({ entity.slot(named: $0) }),
      let element = entity.attribute(at: slot)
    else {
      throw .predicate(
        "\(path.name) has no element \(names.map { "'\($0.joined(separator: "."))'" } ?? "of this key path"); it has "
          + ModelChecks.list(entity.elementNames(of: composite)), column: path.column)
    }
    path.name += "." + names.joined(separator: ".")
    path.end = .attribute(element, entity.layout.columns[slot])
  }

  /// A key path of several properties yields its first name; the others are inserted before the remaining
  /// steps.
  private func name(
    of step: PathStep, _ steps: inout ArraySlice<PathStep>, _ entity: EntityDescription
  ) throws(HeartwoodError) -> String? {
    switch step {
    case .name(let name): return name
    case .item, .kind: return nil
    case .keyPath(let keyPath):
      let names = try entity.propertyNames(of: keyPath)
      steps = ArraySlice(names.dropFirst().map(PathStep.name) + steps)
      return names.first
    }
  }

  /// The entity whose property the next step names. A to-one relationship at the end becomes a hop.
  private func entityForStep(_ step: PathStep, _ path: inout ResolvedPath) throws(HeartwoodError)
    -> EntityDescription
  {
    switch path.end {
    case .object(let entity): return entity
    case .toOne(let relationship, let column, let destination):
      // The relationship's own cell has the identifier of the destination, so that no hop is needed.
      if case .name("objectID") = step, destination.slot(named: "objectID") == nil { return destination }
      path.hops.append(ToOneHop(column, destination))
      path.relationships.append(relationship)
      path.end = .object(destination)
      return destination
    case .entity:
      throw .predicate("\(path.name) has only a name", column: path.column)
    case .attribute, .toMany:
      let name = if case .name(let name) = step { "'\(name)'" } else { "a property" }
      throw .predicate("\(path.name) is an attribute: \(name) cannot follow it", column: path.column)
    }
  }

  private func unknown(_ name: String, _ entity: EntityDescription, _ column: Int?) -> HeartwoodError {
    guard !name.hasPrefix("$") else { return .unboundVariable(String(name.dropFirst()), column: column) }
    let names = entity.properties.map(\.name).sorted()
    let existing = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
    return .predicate(
      "\(entity.displayName) has no property '\(name)'; \(existing)", column: column, property: name)
  }
}

extension ConditionExpression {
  /// The attribute that the expression is a path to; nil for other expressions.
  package func attribute(of entity: EntityDescription) -> AttributeDescription? {
    guard case .path(let path) = kind, path.scope === Scope.fetched,
      let resolved = try? PathResolver(scopes: [(.fetched, entity)]).resolve(path),
      case .attribute(let attribute, _) = resolved.end
    else { return nil }
    return attribute
  }
}
