/// Brings together what both sides of a relationship say, so that each link is made once, whichever side named it.
///
/// A file may name a link on either side or on both. Here every side is completed by what its inverse says; then
/// one side is left to be written: the ordered one, else the to-one, else the first by name. A relationship that is its
/// own inverse keeps all.
struct LinkConsolidation {
  private struct Key: Hashable {
    /// The entity that declares the relationship.
    let entity: String
    let name: String
  }

  private struct Link: Hashable {
    let source: Int
    let destination: Int
  }

  private let model: DocumentModel
  private let objects: [ImportDocument.Object]
  private var destinations: [Key: [Int: [Int]]] = [:]
  private var seen: [Key: Set<Link>] = [:]

  init(_ objects: [ImportDocument.Object], model: DocumentModel) {
    self.objects = objects
    self.model = model
  }

  /// Takes what one object says of one relationship, and what that says of the inverse.
  mutating func add(
    _ relationship: DocumentRelationship, from source: Int, to found: [Int]
  ) {
    let key = key(of: relationship.name, from: objects[source].entity)
    let inverse = relationship.inverse.map { self.key(of: $0, from: relationship.destination) }
    for destination in found {
      insert(Link(source: source, destination: destination), key)
      if let inverse { insert(Link(source: destination, destination: source), inverse) }
    }
  }

  private mutating func insert(_ link: Link, _ key: Key) {
    guard seen[key, default: []].insert(link).inserted else { return }
    destinations[key, default: [:]][link.source, default: []].append(link.destination)
  }

  /// For each object, by its place, the links to write.
  ///
  /// - Throws: a failure if a to-one relationship leads to two objects, by its own word or that of its inverse.
  func consolidated() throws(CommandFailure) -> [[PreparedImport.Link]] {
    var links = [[PreparedImport.Link]](repeating: [], count: objects.count)
    for (key, bySource) in destinations.sorted(by: {
      ($0.key.entity, $0.key.name) < ($1.key.entity, $1.key.name)
    }) {
      guard let relationship = relationship(key) else { continue }
      try check(relationship, bySource)
      guard isWritten(relationship, key) else { continue }
      for (source, found) in bySource {
        links[source].append(
          PreparedImport.Link(name: key.name, isToMany: relationship.isToMany, destinations: found))
      }
    }
    return links
  }

  private func check(
    _ relationship: DocumentRelationship, _ bySource: [Int: [Int]]
  ) throws(CommandFailure) {
    guard !relationship.isToMany else { return }
    guard let (source, found) = bySource.filter({ $0.value.count > 1 }).min(by: { $0.key < $1.key }) else {
      return
    }
    let names = found.prefix(2).map { objects[$0].identifier ?? objects[$0].path }
    let reason = relationship.inverse.map { "; its inverse \($0) counts, too" } ?? ""
    throw .data(
      "\(objects[source].path).\(relationship.name): leads to both \"\(names[0])\" and \"\(names[1])\"\(reason)"
    )
  }

  private func isWritten(_ relationship: DocumentRelationship, _ key: Key) -> Bool {
    guard let name = relationship.inverse else { return true }
    let inverseKey = self.key(of: name, from: relationship.destination)
    guard let inverse = self.relationship(inverseKey), inverseKey != key else { return true }
    if relationship.isOrdered != inverse.isOrdered { return relationship.isOrdered }
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
