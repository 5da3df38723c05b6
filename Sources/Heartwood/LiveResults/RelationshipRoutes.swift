/// The rows of other objects that a live result reads over to-one relationships, and the way back from such a row to the objects of the
/// result.
///
/// If such a row has changed, the objects that lead to it now are those whose place may be another: an object that led to it before, and
/// does no more, has itself changed, or another row on its route has, which leads back to it.
struct RelationshipRoutes {
  /// Keys of rows, by the number of their root entity.
  struct Keys {
    fileprivate var byRoot: [UInt16: Set<UInt64>] = [:]
    var isEmpty: Bool { byRoot.isEmpty }
  }

  /// A relationship of a route, and its inverse.
  private struct Step {
    let destination: EntityDescription
    let inverse: RelationshipDescription
    /// The entity of an inverse that is a to-one relationship, and its column.
    let column: (entity: EntityDescription, column: Column)?
  }

  /// Every route with all its beginnings, each as steps from the objects of the result.
  private let routes: [[Step]]
  /// The numbers of the root entities of the rows at the ends of the routes.
  private let roots: Set<UInt16>

  /// - Returns: Nil if rows are read over to-many relationships, or there is no way back: a relationship has no inverse, or keeps the
  ///   identifiers of deleted objects.
  init?(_ request: ResolvedRequest, _ section: SectionName?) {
    guard var all = request.predicate.map(\.toOneRoutes) ?? [],
      let ofSort = request.sort.map(\.toOneRoutes) ?? []
    else { return nil }
    all += ofSort
    if let route = section?.toOneRoute { all.append(route) }
    var routes: [[Step]] = []
    var known: Set<[ObjectIdentifier]> = []
    for relationships in all {
      var steps: [Step] = []
      for relationship in relationships {
        guard let inverse = relationship.inverseRelationship, let owner = inverse.entity,
          let destination = relationship.destinationEntity, inverse.deleteRule != .noActionDeleteRule
        else { return nil }
        steps.append(
          Step(
            destination: destination.rootEntity, inverse: inverse,
            column: inverse.isToMany ? nil : (owner, owner.layout.columns[inverse.slot])))
        if known.insert(relationships.prefix(steps.count).map { ObjectIdentifier($0) }).inserted {
          routes.append(steps)
        }
      }
    }
    self.routes = routes
    roots = Set(routes.compactMap(\.last?.destination.number))
  }

  /// The rows that were touched and that the result may read.
  func relatives(in touched: TouchedObjects, _ context: ManagedObjectContext) -> Keys {
    var keys = Keys()
    guard !routes.isEmpty else { return keys }
    func add(_ key: UInt64, _ root: UInt16) {
      if roots.contains(root) { keys.byRoot[root, default: []].insert(key) }
    }
    for object in touched.objects { add(object.identifier.key, object.entity.rootEntity.number) }
    for identifier in touched.identifiers {
      add(context.permanentKeys.permanent(identifier.key), identifier.entity.rootEntity.number)
    }
    return keys
  }

  /// The keys of the objects that lead to one of the rows.
  ///
  /// - Parameters:
  ///   - source: The current state.
  ///   - most: The number of objects up to which they are searched for.
  /// - Returns: Nil if there are more.
  /// - Complexity: Linear in the objects that lead to the rows, at each step of a route.
  func owners(of keys: Keys, in source: any RowSource, atMost most: Int) throws -> Set<UInt64>? {
    var owners: Set<UInt64> = []
    for route in routes {
      guard let last = route.last, var found = keys.byRoot[last.destination.number] else { continue }
      for step in route.reversed() {
        var before: Set<UInt64> = []
        for key in found {
          try forEachOwner(of: key, over: step, in: source) { owner in
            before.insert(owner)
            return before.count <= most
          }
          if before.count > most { return nil }
        }
        found = before
      }
      owners.formUnion(found)
      if owners.count > most { return nil }
    }
    return owners
  }

  private func forEachOwner(
    of key: UInt64, over step: Step, in source: any RowSource, _ body: (UInt64) -> Bool
  ) throws {
    guard let (entity, column) = step.column else {
      return try source.destinations(step.inverse, of: key, body)
    }
    guard let row = try source.row(step.destination, key),
      try step.destination.entity(numbered: row.entityNumber).isKindOf(entity: entity), !row.isNull(column)
    else { return }
    _ = body(row.key(column))
  }
}
