/// The lines of a diagram of a model: entities that inherit, and entities that are related.
struct ModelLines {
  /// A relationship, with its inverse if it has one.
  struct Association: Equatable {
    /// The index of the entity that has the relationship.
    let from: Int
    let to: Int
    let relationship: DocumentRelationship
    let inverse: DocumentRelationship?
  }

  /// Indices of a superentity and an entity that inherits from it.
  private(set) var inheritances: [(parent: Int, child: Int)] = []
  /// Each relationship once: with an inverse, at the side of one destination's owner.
  private(set) var associations: [Association] = []

  init(_ model: DocumentModel) {
    let places = Dictionary(
      model.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    for (index, entity) in model.entities.enumerated() {
      if let parent = entity.superentity.flatMap({ places[$0] }) { inheritances.append((parent, index)) }
      for relationship in entity.relationships {
        guard let destination = places[relationship.destination] else { continue }
        let found = relationship.inverse.flatMap { name in
          model.lineage(of: relationship.destination).lazy.compactMap { owner in
            owner.relationships.first { $0.name == name }.map { (owner.name, $0) }
          }.first
        }
        let inverse = found?.1
        let owner = found.flatMap { places[$0.0] } ?? destination
        guard isDrawnFrom(index, relationship, owner, inverse) else { continue }
        associations.append(
          Association(from: index, to: destination, relationship: relationship, inverse: inverse))
      }
    }
  }

  /// Whether the pair is drawn from this side. It is drawn once: from the side that has many destinations, of which each has one owner.
  private func isDrawnFrom(
    _ entity: Int, _ relationship: DocumentRelationship, _ other: Int, _ inverse: DocumentRelationship?
  ) -> Bool {
    guard let inverse else { return true }
    if relationship.isToMany != inverse.isToMany { return relationship.isToMany }
    return (entity, relationship.name) <= (other, inverse.name)
  }
}

extension ModelLines.Association {
  /// Whether the entity that has the relationship is drawn above its destination: it has the others, or both are alike.
  var pointsDown: Bool { relationship.isToMany || inverse?.isToMany == false }
}

extension DocumentRelationship {
  /// How many destinations an object has, as UML writes it.
  var cardinality: String {
    let least = isOptional ? minimumCount : max(1, minimumCount)
    guard isToMany else { return least == 0 ? "0..1" : "1" }
    if maximumCount > 0 { return least == maximumCount ? "\(least)" : "\(least)..\(maximumCount)" }
    return least == 0 ? "*" : "\(least)..*"
  }
}

extension DocumentAttribute {
  /// The type as diagrams and the text of a model write it.
  var typeText: String { type.rawValue + (isOptional ? "?" : "") }
}
