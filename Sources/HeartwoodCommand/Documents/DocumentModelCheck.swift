/// Checks that the entities of a `model` section are consistent. Walks each inheritance tree once from the
/// root and keeps the inherited properties on the way. O(n) in the number of properties.
struct DocumentModelCheck {
  private enum Kind {
    case attribute, toOne, toMany
  }

  private let model: DocumentModel
  private let places: [String: JSONPlace]
  private var below: [String: [DocumentEntity]] = [:]
  private var visited: Set<String> = []
  /// The own and inherited properties of the current entity.
  private var properties: [String: Kind] = [:]

  /// - Parameter members: The entities in their order in the file.
  init(_ model: DocumentModel, _ members: [(name: String, place: JSONPlace)]) {
    self.model = model
    places = Dictionary(members.map { ($0.name, $0.place) }, uniquingKeysWith: { first, _ in first })
  }

  consuming func run() throws(CommandFailure) {
    for entity in model.entities {
      guard let parent = entity.superentity else { continue }
      guard model.entity(named: parent) != nil else {
        throw failure(entity, "superentity \"\(parent)\" is no entity of this model")
      }
      below[parent, default: []].append(entity)
    }
    for root in model.entities where root.superentity == nil { try walk(from: root) }
    if let lost = model.entities.first(where: { !visited.contains($0.name) }) {
      throw failure(lost, "it inherits from itself")
    }
  }

  private mutating func walk(from root: DocumentEntity) throws(CommandFailure) {
    var waiting: [(entity: DocumentEntity, isLeft: Bool)] = [(root, false)]
    while let (entity, isLeft) = waiting.popLast() {
      if isLeft {
        for (name, _) in Self.properties(of: entity) { properties[name] = nil }
        continue
      }
      visited.insert(entity.name)
      try check(entity)
      waiting.append((entity, true))
      waiting += (below[entity.name] ?? []).reversed().map { ($0, false) }
    }
  }

  private static func properties(of entity: DocumentEntity) -> [(String, Kind)] {
    entity.attributes.flatMap { $0.columns.map { ($0, .attribute) } }
      + entity.relationships.map { ($0.name, $0.isToMany ? .toMany : .toOne) }
  }

  private mutating func check(_ entity: DocumentEntity) throws(CommandFailure) {
    for relationship in entity.relationships { try check(relationship, of: entity) }
    for (name, kind) in Self.properties(of: entity) {
      guard properties.updateValue(kind, forKey: name) == nil else {
        throw failure(entity, "two properties are called \"\(name)\"")
      }
    }
    for name in entity.uniquenessConstraints.joined() where properties[name] ?? .toMany == .toMany {
      throw failure(entity, "uniquenessConstraints: there is no attribute or to-one relationship \"\(name)\"")
    }
    for name in entity.indexes.joined()
    where name.isDottedName && properties[name] ?? .toMany == .toMany {
      throw failure(entity, "indexes: there is no attribute or to-one relationship \"\(name)\"")
    }
    for name in entity.partialIndexes.flatMap(\.properties)
    where name.isDottedName && properties[name] ?? .toMany == .toMany {
      throw failure(entity, "partialIndexes: there is no attribute or to-one relationship \"\(name)\"")
    }
    for name in entity.rangeIndexes.joined() where properties[name] != .attribute {
      throw failure(entity, "rangeIndexes: there is no attribute \"\(name)\"")
    }
  }

  private func check(_ relationship: DocumentRelationship, of entity: DocumentEntity) throws(CommandFailure) {
    let (name, destination) = (relationship.name, relationship.destination)
    let path = "relationships.\(name)"
    guard model.entity(named: destination) != nil else {
      throw failure(entity, "\(path): destination \"\(destination)\" is no entity of this model")
    }
    guard let inverse = relationship.inverse else { return }
    let candidates = model.lineage(of: destination).lazy.flatMap(\.relationships)
    guard let other = candidates.first(where: { $0.name == inverse }) else {
      throw failure(entity, "\(path): inverse \"\(inverse)\" is no relationship of \(destination)")
    }
    guard other.inverse == name, model.isKind(entity.name, of: other.destination) else {
      throw failure(entity, "\(path): its inverse \(destination).\(inverse) does not name it in return")
    }
  }

  private func failure(_ entity: DocumentEntity, _ message: String) -> CommandFailure {
    places[entity.name]?.failure(message) ?? .data(message)
  }
}

extension DocumentAttribute {
  /// The names of the attribute and of the elements of a composite one, as constraints and indexes name them.
  var columns: [String] {
    [name] + elements.flatMap { element in element.columns.map { "\(name).\($0)" } }
  }
}
