/// The treatment of each attribute and relationship of the objects in a mapping model of Xcode. The guide on migration has the same table.
enum XcodeMappingFormat {
  enum Treatment: String {
    /// It is part of the mapping model.
    case read
    /// It has no effect.
    case dropped
  }

  static let model = "XDDEVMAPPINGMODEL"
  static let entity = "XDDEVENTITYMAPPING"
  static let attribute = "XDDEVATTRIBUTEMAPPING"
  static let relationship = "XDDEVRELATIONSHIPMAPPING"

  /// By the types of objects and the names of their attributes. Others are named in notes.
  static let attributes: [String: [String: Treatment]] = [
    model: [
      "sourcemodelpath": .read, "destinationmodelpath": .read, "sourcemodeldata": .dropped,
      "destinationmodeldata": .dropped,
    ],
    entity: [
      "name": .read, "sourcename": .read, "destinationname": .read, "mappingtypename": .read,
      "mappingnumber": .read, "migrationpolicyclassname": .read, "sourcefilterpredicatestring": .read,
      "sourceexpressiondata": .read, "autogenerateexpression": .read, "userinfodata": .read,
    ],
    attribute: [
      "name": .read, "valueexpression": .read, "valueexpressionstring": .read, "valueexpressiondata": .read,
      "sourcekeypath": .read, "autogenerateexpression": .read, "userinfodata": .read,
    ],
    relationship: [
      "name": .read, "valueexpression": .read, "valueexpressionstring": .read, "valueexpressiondata": .read,
      "sourcekeypath": .read, "sourcemappingname": .read, "autogenerateexpression": .read,
      "userinfodata": .read,
    ],
  ]

  /// The lists of objects, with the types of those that they name and the relationships by which these name them in return.
  static let lists: [String: [String: (type: String, back: String)]] = [
    model: ["entitymappings": (entity, "mappingmodel")],
    entity: [
      "attributemappings": (attribute, "entitymapping"),
      "relationshipmappings": (relationship, "entitymapping"),
    ],
  ]

  /// The relationships that name the object in whose list this one is.
  static let backs: [String: Set<String>] = [
    entity: ["mappingmodel"], attribute: ["entitymapping"], relationship: ["entitymapping"],
  ]

  /// The attributes that elements have.
  private static let fields: [String: Set<String>] = [
    "object": ["type", "id"], "attribute": ["name", "type"],
    "relationship": ["name", "type", "destination", "idrefs"], "database": [],
  ]

  static func isField(_ name: String, of element: String) -> Bool { fields[element]?.contains(name) == true }

  /// Whether objects of a type have a relationship of a name.
  static func isRelationship(_ name: String, of type: String) -> Bool {
    lists[type]?[name] != nil || backs[type]?.contains(name) == true
  }
}
