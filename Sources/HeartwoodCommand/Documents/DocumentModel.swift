import Heartwood

/// A model in JSON form: given in the `model` section of a file, or inferred from its objects.
struct DocumentModel: Equatable, Sendable {
  /// The entities in their order in the file.
  var entities: [DocumentEntity] = [] {
    didSet { places = Self.places(of: entities) }
  }
  /// The parts that are kept as `ManagedObjectModel.encodedDocument()` has them.
  var rest = DocumentRest()
  /// The index of each entity by name; the first one if a name is repeated.
  private var places: [String: Int] = [:]

  init(entities: [DocumentEntity] = []) {
    self.entities = entities
    places = Self.places(of: entities)
  }

  private static func places(of entities: [DocumentEntity]) -> [String: Int] {
    Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func entity(named name: String) -> DocumentEntity? { places[name].map { entities[$0] } }

  /// The entity and its ancestors, nearest first.
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

  /// Whether `name` is `ancestor` or one of its subentities.
  func isKind(_ name: String, of ancestor: String) -> Bool {
    name == ancestor ? places[name] != nil : lineage(of: name).contains { $0.name == ancestor }
  }
}

struct DocumentEntity: Equatable, Sendable {
  let name: String
  /// The name in an earlier model.
  var renamed: String?
  var superentity: String?
  var isAbstract = false
  var attributes: [DocumentAttribute] = []
  var relationships: [DocumentRelationship] = []
  /// Groups of attributes whose combined values are unique.
  var uniquenessConstraints: [[String]] = []
  /// Groups of properties with a common index; a group can consist of inherited properties.
  var indexes: [[String]] = []
  /// Pairs of attributes with an index of ranges.
  var rangeIndexes: [[String]] = []
  var partialIndexes: [DocumentPartialIndex] = []
  var rest = DocumentRest()
}

/// An index that has only some objects.
struct DocumentPartialIndex: Equatable, Sendable {
  enum Kind: String, CaseIterable, Sendable { case values, ranges, words }

  let properties: [String]
  /// Which objects it has.
  let condition: String
  var kind = Kind.values

  var collation: FetchIndexElementDescription.CollationType {
    switch kind {
    case .values: .binary
    case .ranges: .rTree
    case .words: .words
    }
  }
}

struct DocumentAttribute: Equatable, Sendable {
  let name: String
  /// The name in an earlier model.
  var renamed: String?
  var type: DocumentType
  var isOptional = false
  var isUnique = false
  var isIndexed = false
  /// Whether there is an index of the words.
  var hasFullTextIndex = false
  var preservesValueInHistoryOnDeletion = false
  var preservesValueInHistoryOnUpdate = false
  /// Whether values are not stored.
  var isTransient = false
  /// Whether large data may be stored outside of the rows.
  var allowsExternalStorage = false
  /// The expression of a derived attribute.
  var derivation: String?
  var defaultValue: JSONValue?
  /// The name of a transformable attribute's transformer, and the class of its values if it has one.
  var transformer: String?
  var valueClass: String?
  /// The elements of a composite attribute.
  var elements: [DocumentAttribute] = []
  var rest = DocumentRest()
}

struct DocumentRelationship: Equatable, Sendable {
  let name: String
  /// The name in an earlier model.
  var renamed: String?
  var destination: String
  var isToMany = false
  var isOrdered = false
  var isOptional = true
  var minimumCount = 0
  /// The maximum number of destinations; 0 for no limit.
  var maximumCount = 0
  var inverse: String?
  var deleteRule = DocumentDeleteRule.nullify
  /// Whether links are not stored.
  var isTransient = false
  var rest = DocumentRest()
}

enum DocumentDeleteRule: String, CaseIterable, Sendable {
  case nullify, cascade, deny, noAction
}

/// The attribute types, by their names in a file.
enum DocumentType: String, CaseIterable, Sendable {
  case string, integer16, integer32, integer64, double, float, decimal, boolean, date, data, uuid, uri,
    composite, transformable
  /// Of transient attributes only.
  case undefined
}
