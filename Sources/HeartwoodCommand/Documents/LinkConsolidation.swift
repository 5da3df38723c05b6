/// Merges the links given on both sides of relationships, so that each link is made once.
///
/// A file can give a link on either side or on both. Each side is first completed with the links of its
/// inverse. Then only one side is written: the ordered one, or both if both are; otherwise the to-one, otherwise the first by
/// name. A relationship that is its own inverse keeps all links.
struct LinkConsolidation {
  private struct Key: Hashable {
    /// The entity that declares the relationship.
    let entity: String
    let name: String
  }

  /// A relationship and its inverse, found once for each entity that objects have.
  private struct Sides {
    let key: Key
    let isNeeded: Bool
    let inverse: Key?
    let needsInverse: Bool
  }

  private let model: DocumentModel
  private let objects: [ImportDocument.Object]
  /// By relationship and source, in the order of the file. A link may occur twice: it can be given on both sides.
  private var destinations: [Key: [Int: [Int]]] = [:]
  /// By entity and name.
  private var sides: [String: [String: Sides]] = [:]

  init(_ objects: [ImportDocument.Object], model: DocumentModel) {
    self.objects = objects
    self.model = model
  }

  /// Adds the links that one object gives for one relationship, and the resulting links of the inverse.
  mutating func add(
    _ relationship: DocumentRelationship, from source: Int, to found: [Int]
  ) {
    guard !found.isEmpty else { return }
    let sides = sides(of: relationship, from: objects[source].entity)
    if sides.isNeeded {
      // A list that is given has its order; what inverses have added before follows.
      let added = destinations[sides.key]?[source] ?? []
      destinations[sides.key, default: [:]][source] = found + added
    }
    guard let inverse = sides.inverse, sides.needsInverse else { return }
    for destination in found {
      destinations[inverse, default: [:]][destination, default: []].append(source)
    }
  }

  private mutating func sides(of relationship: DocumentRelationship, from entity: String) -> Sides {
    if let known = sides[entity]?[relationship.name] { return known }
    let key = key(of: relationship.name, from: entity)
    let inverse = relationship.inverse.map { self.key(of: $0, from: relationship.destination) }
    let found = Sides(
      key: key, isNeeded: isNeeded(key), inverse: inverse, needsInverse: inverse.map(isNeeded) ?? false)
    sides[entity, default: [:]][relationship.name] = found
    return found
  }

  /// Whether the links of this side are written, or can contradict each other.
  private func isNeeded(_ key: Key) -> Bool {
    relationship(key).map { !$0.isToMany || isWritten($0, key) } ?? false
  }

  /// The links to write, with the indices of their objects.
  ///
  /// - Parameter count: The number of objects, with those of the store.
  /// - Throws: A failure if a to-one relationship has two destinations, given by itself or by its inverse.
  func consolidated(_ count: Int) throws(CommandFailure) -> some Sequence<
    (offset: Int, element: [PreparedImport.Link])
  > {
    var links = [[PreparedImport.Link]](repeating: [], count: count)
    for (key, given) in destinations.sorted(by: {
      ($0.key.entity, $0.key.name) < ($1.key.entity, $1.key.name)
    }) {
      guard let relationship = relationship(key) else { continue }
      let bySource = given.mapValues(Self.withoutDuplicates)
      try check(relationship, bySource)
      guard isWritten(relationship, key) else { continue }
      for (source, found) in bySource {
        links[source].append(
          PreparedImport.Link(name: key.name, isToMany: relationship.isToMany, destinations: found))
      }
    }
    return links.enumerated()
  }

  /// The destinations of relationships to one that are part of a uniqueness constraint, whichever side gives them.
  var constrained: [(source: Int, name: String, destination: Int)] {
    let names = Set(model.entities.lazy.flatMap(\.uniquenessConstraints).joined())
    return destinations.filter { names.contains($0.key.name) && relationship($0.key)?.isToMany == false }
      .flatMap { key, bySource in
        bySource.compactMap { source, found in found.first.map { (source, key.name, $0) } }
      }
  }

  /// The destinations in the order of their first occurrences.
  private static func withoutDuplicates(_ found: [Int]) -> [Int] {
    guard found.count > 1 else { return found }
    var seen = Set<Int>(minimumCapacity: found.count)
    return found.filter { seen.insert($0).inserted }
  }

  private func check(
    _ relationship: DocumentRelationship, _ bySource: [Int: [Int]]
  ) throws(CommandFailure) {
    guard !relationship.isToMany else { return }
    guard let (source, found) = bySource.filter({ $0.value.count > 1 }).min(by: { $0.key < $1.key }) else {
      return
    }
    let names = found.prefix(2).map(name)
    let reason = relationship.inverse.map { "; its inverse \($0) counts, too" } ?? ""
    throw .data(
      "\(source < objects.count ? objects[source].path : name(source)).\(relationship.name): leads to both \"\(names[0])\" and \"\(names[1])\"\(reason)"
    )
  }

  private func name(_ index: Int) -> String {
    guard index < objects.count else { return "an object of the store" }
    return objects[index].identifier ?? objects[index].path
  }

  private func isWritten(_ relationship: DocumentRelationship, _ key: Key) -> Bool {
    guard let name = relationship.inverse else { return true }
    let inverseKey = self.key(of: name, from: relationship.destination)
    guard let inverse = self.relationship(inverseKey), inverseKey != key else { return true }
    // Each side has an order of its own.
    if relationship.isOrdered || inverse.isOrdered { return relationship.isOrdered }
    if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
    return (key.entity, key.name) < (inverseKey.entity, inverseKey.name)
  }

  private func key(of name: String, from entity: String) -> Key {
    let declaring = model.lineage(of: entity).first { $0.relationships.contains { $0.name == name } }
    return Key(entity: declaring?.name ?? entity, name: name)
  }

  private func relationship(_ key: Key) -> DocumentRelationship? {
    model.entity(named: key.entity)?.relationships.first { $0.name == key.name }
  }
}
