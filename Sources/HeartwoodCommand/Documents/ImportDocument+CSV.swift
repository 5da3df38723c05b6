import Heartwood

/// Objects of one entity, a record of a CSV file each.
extension ImportDocument {
  /// - Parameters:
  ///   - entity: The entity of the objects; a column `@entity` names another for a record.
  ///   - model: The model that the values have to fit; nil to infer one from them.
  /// - Throws: A data failure at a column that the entity does not have, or a relationship that a column can't hold.
  init(_ table: CSVTable, entity: String, model: DocumentModel?) throws(CommandFailure) {
    var columns: [CSVColumn] = []
    for (index, name) in table.columns.enumerated() {
      guard let model else {
        columns.append(try CSVColumn(name, inferredFrom: table.records.lazy.map { $0.fields[index] }))
        continue
      }
      columns.append(try CSVColumn(name, of: entity, in: model))
    }
    var objects: [Object] = []
    objects.reserveCapacity(table.records.count)
    for (index, record) in table.records.enumerated() {
      objects.append(
        try Self.object(
          record, columns, JSONPlace(path: "line \(record.line)", value: .null), entity, index))
    }
    self.init(model: nil, objects: objects)
  }

  private static func object(
    _ record: CSVTable.Record, _ columns: [CSVColumn], _ line: JSONPlace, _ entity: String, _ index: Int
  ) throws(CommandFailure) -> Object {
    var named: String?
    var identifier: String?
    var members = JSONObject()
    var searches: [String: JSONObject] = [:]
    for (column, field) in zip(columns, record.fields) {
      switch column.kind {
      case .identifier: identifier = field
      case .entity: named = field
      case .search(let relationship, let attribute, let type):
        let value = field.map { JSONValue(csv: $0, as: type) } ?? .null
        searches[relationship, default: JSONObject()].members.append(
          JSONObject.Member(name: attribute, value: value))
      default: column.add(field, to: &members)
      }
    }
    for (relationship, values) in searches.sorted(by: { $0.key < $1.key }) {
      members.members.append(JSONObject.Member(name: relationship, value: .reference(values)))
    }
    return Object(
      index: index, place: JSONPlace(path: line.path, value: .object(members)), entity: named ?? entity,
      identifier: identifier, members: members)
  }
}

/// The part of an object that a column of a CSV file holds.
private struct CSVColumn {
  enum Kind {
    case identifier, entity
    /// The names from the object to the value: of an attribute, or of composites and their elements.
    case attribute([String], DocumentType)
    /// A reference to an object of the file by its `@id`.
    case reference(String)
    /// A reference to the destination whose attribute has this value, and has those of other such columns of the relationship.
    case search(relationship: String, attribute: String, DocumentType)
  }

  let kind: Kind

  init(_ name: String, of entity: String, in model: DocumentModel) throws(CommandFailure) {
    if let kind = Self.special(name) {
      self.kind = kind
      return
    }
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let lineage = model.lineage(of: entity)
    guard !lineage.isEmpty else {
      throw .data(
        "the model has no entity \"\(entity)\"\(Spelling.hint(entity, among: model.entities.map(\.name)))")
    }
    // With an entity for each record, a column may be of a subentity.
    let owners = lineage + model.entities.filter { model.isKind($0.name, of: entity) }
    if let relationship = owners.lazy.flatMap(\.relationships).first(where: { $0.name == parts[0] }) {
      kind = try Self.reference(relationship, parts, name, model)
      return
    }
    guard var attribute = owners.lazy.flatMap(\.attributes).first(where: { $0.name == parts[0] }) else {
      let names = owners.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
      throw .data("line 1: \(entity) has no property \"\(parts[0])\"\(Spelling.hint(parts[0], among: names))")
    }
    for part in parts.dropFirst() {
      guard let element = attribute.elements.first(where: { $0.name == part }) else {
        throw .data(
          "line 1: \(attribute.name) has no element \"\(part)\"\(Spelling.hint(part, among: attribute.elements.map(\.name)))"
        )
      }
      attribute = element
    }
    kind = .attribute(parts, attribute.type)
  }

  private static func special(_ name: String) -> Kind? {
    switch name {
    case "@id": .identifier
    case "@entity": .entity
    default: nil
    }
  }

  private static func reference(
    _ relationship: DocumentRelationship, _ parts: [String], _ name: String, _ model: DocumentModel
  ) throws(CommandFailure) -> Kind {
    guard !relationship.isToMany else {
      throw .data(
        "line 1: \(relationship.name) is a relationship to many, which a column can't hold; import JSON for it"
      )
    }
    guard parts.count > 1 else { return .reference(name) }
    let path = parts.dropFirst().joined(separator: ".")
    guard let attribute = model.attribute(path, of: relationship.destination) else {
      let attributes = model.lineage(of: relationship.destination).flatMap(\.attributes)
      throw .data(
        "line 1: \(relationship.destination) has no attribute \"\(path)\""
          + Spelling.hint(path, among: attributes.flatMap(\.columns)))
    }
    return .search(relationship: relationship.name, attribute: path, attribute.type)
  }

  /// A column without a model: the type that all its values fit.
  init(_ name: String, inferredFrom fields: some Sequence<String?>) throws(CommandFailure) {
    if let kind = Self.special(name) {
      self.kind = kind
      return
    }
    guard Identifier.isProperty(name) else {
      throw .data(
        "line 1: \"\(name)\" can't be the name of an attribute; give the file a model, or other names")
    }
    var types: [DocumentType] = [.integer64, .double, .boolean]
    var isEmpty = true
    for case let field? in fields {
      isEmpty = false
      types.removeAll { !Self.fits(field, $0) }
      if types.isEmpty { break }
    }
    kind = .attribute([name], isEmpty ? .string : types.first ?? .string)
  }

  private static func fits(_ field: String, _ type: DocumentType) -> Bool {
    switch (type, JSONValue(csv: field, as: type)) {
    case (.boolean, .bool), (.integer64, .integer), (.double, .integer), (.double, .fraction): true
    default: false
    }
  }

  /// Adds the value of a field to the members of its object.
  func add(_ field: String?, to members: inout JSONObject) {
    switch kind {
    case .identifier, .entity, .search: break
    case .attribute(let names, let type):
      // An element of a composite attribute is a member of its own, so that an update leaves the others as they are.
      members.members.append(
        JSONObject.Member(
          name: names.joined(separator: "."), value: field.map { JSONValue(csv: $0, as: type) } ?? .null))
    case .reference(let name):
      members.members.append(
        JSONObject.Member(
          name: name, value: field.map { .object(JSONObject([("@ref", .string($0))])) } ?? .null))
    }
  }
}

extension JSONValue {
  /// The destination with these values; none if there are no values.
  fileprivate static func reference(_ values: JSONObject) -> JSONValue {
    guard values.members.contains(where: { $0.value != .null }) else { return .null }
    return .object(JSONObject([(Reference.search, .object(values))]))
  }

  /// The value of a field for an attribute of this type. A field that does not fit stays a text, which the check of values refuses.
  fileprivate init(csv field: String, as type: DocumentType) {
    self = .string(field)
    switch type {
    case .integer16, .integer32, .integer64, .double, .float, .decimal:
      if let number = try? JSONParser.parse(Array(field.utf8)) {
        switch number {
        case .integer, .fraction: self = number
        default: break
        }
      }
    case .date:
      // Digits alone could be a year, or a day of another notation.
      if field.contains(where: { ".eE".contains($0) }),
        let number = try? JSONParser.parse(Array(field.utf8)), case .fraction = number
      {
        self = number
      }
    case .boolean:
      switch field.lowercased() {
      case "true", "yes", "1": self = .bool(true)
      case "false", "no", "0": self = .bool(false)
      default: break
      }
    case .composite:
      if let object = try? JSONParser.parse(Array(field.utf8)), case .object = object { self = object }
    default: break
    }
  }
}
