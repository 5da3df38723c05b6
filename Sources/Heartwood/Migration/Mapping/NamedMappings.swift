/// The mappings of a model, with those that others look for by a name.
struct NamedMappings {
  /// The mapping of a relationship, with that of its entity of the destination.
  typealias Relationship = (property: PropertyMapping, mapping: EntityMapping)

  let all: [EntityMapping]
  private let byName: [String: EntityMapping]
  private let bySource: [String: [EntityMapping]]
  private let relationships: [String: [Relationship]]

  init(_ all: [EntityMapping]) {
    self.all = all
    byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    bySource = Dictionary(grouping: all.filter { $0.sourceEntityName != nil }) { $0.sourceEntityName ?? "" }
    let pairs = all.flatMap { mapping in mapping.relationshipMappings.map { ($0, mapping) } }
    relationships = Dictionary(grouping: pairs) { $0.0.name }
  }

  /// The first mapping with this name.
  subscript(name: String) -> EntityMapping? { byName[name] }

  /// The mappings that make objects of an entity of the source.
  func makers(of source: String) -> [EntityMapping] {
    bySource[source]?.filter { $0.mappingType != .remove } ?? []
  }

  /// The mappings of relationships with this name.
  func relationships(named name: String) -> [Relationship] { relationships[name] ?? [] }
}
