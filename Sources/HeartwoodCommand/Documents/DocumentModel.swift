/// A model as JSON has it: given in a file's `model` section, or inferred from its objects.
struct DocumentModel: Equatable, Sendable {
  /// In the order they were written.
  var entities: [DocumentEntity] = [] {
    didSet { places = Self.places(of: entities) }
  }
  /// Where each entity stands; the first of those with one name.
  private var places: [String: Int] = [:]

  init(entities: [DocumentEntity] = []) {
    self.entities = entities
    places = Self.places(of: entities)
  }

  private static func places(of entities: [DocumentEntity]) -> [String: Int] {
    Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func entity(named name: String) -> DocumentEntity? { places[name].map { entities[$0] } }

  /// The entity and those it inherits from, nearest first.
  func lineage(of name: String) -> [DocumentEntity] {
    var lineage: [DocumentEntity] = []
    var seen: Set<String> = []
    var next: String? = name
    while let name = next, let entity = entity(named: name), seen.insert(name).inserted {
      lineage.append(entity)
      next = entity.superentity
    }
    return lineage
  }

  /// Whether an object of `name` is one of `ancestor`, too.
  func isKind(_ name: String, of ancestor: String) -> Bool {
    name == ancestor ? places[name] != nil : lineage(of: name).contains { $0.name == ancestor }
  }
}

struct DocumentEntity: Equatable, Sendable {
  let name: String
  var superentity: String?
  var isAbstract = false
  var attributes: [DocumentAttribute] = []
  var relationships: [DocumentRelationship] = []
  /// Groups of attributes whose values together are found only once.
  var uniquenessConstraints: [[String]] = []
  /// Groups of properties that are indexed together, or inherited ones that are indexed here.
  var indexes: [[String]] = []
}

struct DocumentAttribute: Equatable, Sendable {
  let name: String
  var type: DocumentType
  var isOptional = false
  var isUnique = false
  var isIndexed = false
  var preservesValueInHistoryOnDeletion = false
  var defaultValue: JSONValue?
}

struct DocumentRelationship: Equatable, Sendable {
  let name: String
  var destination: String
  var isToMany = false
  var isOrdered = false
  var isOptional = true
  var minimumCount = 0
  /// 0 where there is no limit.
  var maximumCount = 0
  var inverse: String?
  var deleteRule = DocumentDeleteRule.nullify
}

enum DocumentDeleteRule: String, CaseIterable, Sendable {
  case nullify, cascade, deny, noAction
}

/// The attribute types, by the names they have in a file.
enum DocumentType: String, CaseIterable, Sendable {
  case string, integer16, integer32, integer64, double, float, decimal, boolean, date, data, uuid, uri
}
