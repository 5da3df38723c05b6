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

  /// Every route with all its beginnings, each as the inverses of its relationships, from the objects of the result.
  private let routes: [[RelationshipDescription]]
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
    var routes: [[RelationshipDescription]] = []
    var known: Set<[ObjectIdentifier]> = []
    for relationships in all {
      var inverses: [RelationshipDescription] = []
      for relationship in relationships {
        guard let inverse = relationship.inverseRelationship, inverse.deleteRule != .noActionDeleteRule else {
          return nil
        }
        inverses.append(inverse)
        if known.insert(relationships.prefix(inverses.count).map { ObjectIdentifier($0) }).inserted {
          routes.append(inverses)
        }
      }
    }
    self.routes = routes
    roots = Set(routes.compactMap(\.last?.entity?.rootEntity.number))
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
      guard let last = route.last, var found = keys.byRoot[last.entity?.rootEntity.number ?? 0] else {
        continue
      }
      for inverse in route.reversed() {
        var before: Set<UInt64> = []
        for key in found {
          try source.origins(over: inverse, of: key) { owner in
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
}
