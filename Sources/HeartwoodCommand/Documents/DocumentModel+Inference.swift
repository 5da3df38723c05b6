extension DocumentModel {
  /// Infers a model from the objects: integers become `integer64`, other numbers `double`, other values
  /// `string` or `boolean`, and references relationships without an inverse. The contents of strings are not
  /// interpreted.
  ///
  /// - Throws: A failure at the first value that does not match the earlier ones.
  static func inferred(from objects: [ImportDocument.Object]) throws(CommandFailure) -> DocumentModel {
    var order: [String] = []
    var entities: [String: EntityInference] = [:]
    for object in objects {
      if entities[object.entity] == nil {
        try Identifier.checkEntity(object.entity, at: JSONPlace(path: object.path, value: .null))
        order.append(object.entity)
      }
      try entities[object.entity, default: EntityInference()].observe(object)
    }
    var inferred: [DocumentEntity] = []
    for name in order {
      guard let inference = entities[name] else { continue }
      inferred.append(try inference.entity(named: name))
    }
    let model = DocumentModel(entities: inferred)
    for case let (.some(path), destination) in model.destinations(entities)
    where model.entity(named: destination) == nil {
      throw .data("\(path): there is no object of \(destination) in this file")
    }
    return model
  }

  private func destinations(_ inferences: [String: EntityInference]) -> [(path: String?, name: String)] {
    entities.flatMap { entity in
      entity.relationships.map { relationship in
        (inferences[entity.name]?.firstPath(of: relationship.name), relationship.destination)
      }
    }
  }
}

/// The properties seen so far in the objects of one entity.
private struct EntityInference {
  private var order: [String] = []
  private var properties: [String: PropertyInference] = [:]
  private var objectCount = 0

  mutating func observe(_ object: ImportDocument.Object) throws(CommandFailure) {
    objectCount += 1
    for (name, place) in object.properties {
      if properties[name] == nil {
        try Identifier.checkProperty(name, at: place)
        order.append(name)
      }
      try properties[name, default: PropertyInference(firstPath: place.path)].observe(place)
    }
  }

  func firstPath(of property: String) -> String? { properties[property]?.firstPath }

  func entity(named name: String) throws(CommandFailure) -> DocumentEntity {
    var entity = DocumentEntity(name: name)
    for property in order {
      guard let inference = properties[property] else { continue }
      if let relationship = try inference.relationship(named: property) {
        entity.relationships.append(relationship)
      } else {
        entity.attributes.append(inference.attribute(named: property, objectCount: objectCount))
      }
    }
    return entity
  }
}

/// The kinds of values seen so far for one property.
private struct PropertyInference {
  let firstPath: String
  private var kind = Kind.unknown
  private var kindPath = ""
  private var valueCount = 0

  private enum Kind: Equatable {
    case unknown
    case attribute(DocumentType)
    /// The destination is nil as long as only empty lists were seen.
    case reference(destination: String?, isToMany: Bool)
  }

  init(firstPath: String) {
    self.firstPath = firstPath
  }

  mutating func observe(_ place: JSONPlace) throws(CommandFailure) {
    guard let seen = try PropertyInference.kind(of: place) else { return }
    valueCount += 1
    if kind == .unknown { kindPath = place.path }
    guard let both = PropertyInference.combined(kind, seen) else {
      throw place.failure(
        "found \(place.value.kind), which does not go with \(kindPath); give the file a model")
    }
    kind = both
  }

  func attribute(named name: String, objectCount: Int) -> DocumentAttribute {
    var type = DocumentType.string
    if case .attribute(let seen) = kind { type = seen }
    return DocumentAttribute(name: name, type: type, isOptional: valueCount < objectCount)
  }

  func relationship(named name: String) throws(CommandFailure) -> DocumentRelationship? {
    guard case .reference(let destination, let isToMany) = kind else { return nil }
    guard let destination else {
      throw .data(
        "\(firstPath): every list is empty, so what it refers to can't be told; give the file a model")
    }
    return DocumentRelationship(name: name, destination: destination, isToMany: isToMany)
  }

  private static func combined(_ first: Kind, _ second: Kind) -> Kind? {
    switch (first, second) {
    case (.unknown, _): return second
    case (.attribute(.integer64), .attribute(.double)), (.attribute(.double), .attribute(.integer64)):
      return .attribute(.double)
    case (.attribute, .attribute): return first == second ? first : nil
    case (.reference(let one, let isMany), .reference(let other, let isOtherMany)):
      guard one == nil || other == nil || one == other else { return nil }
      return .reference(destination: one ?? other, isToMany: isMany || isOtherMany)
    default: return nil
    }
  }

  private static func kind(of place: JSONPlace) throws(CommandFailure) -> Kind? {
    switch place.value {
    case .null: return nil
    case .bool: return .attribute(.boolean)
    case .integer: return .attribute(.integer64)
    case .fraction(_, let text):
      guard text.contains(where: { ".eE".contains($0) }) else {
        throw place.failure(
          "\(text) does not fit into 64 bits; give the file a model, with type decimal here")
      }
      return .attribute(.double)
    case .string: return .attribute(.string)
    case .array: return try listKind(of: place)
    case .object:
      guard let identifier = try Reference.identifier(in: place) else {
        throw place.failure(
          "an object inside an object; write it on its own and refer to it with {\"@ref\": ...}")
      }
      return .reference(destination: try Reference.entity(of: identifier), isToMany: false)
    }
  }

  private static func listKind(of place: JSONPlace) throws(CommandFailure) -> Kind {
    var kind = Kind.reference(destination: nil, isToMany: true)
    for element in try place.elements() {
      guard let identifier = try Reference.identifier(in: element) else {
        throw element.failure("found \(element.value.kind); a list holds references, {\"@ref\": ...}")
      }
      let seen = Kind.reference(destination: try Reference.entity(of: identifier), isToMany: true)
      guard let both = combined(kind, seen) else {
        throw element.failure("refers to another entity than \(place.path)[0]; give the file a model")
      }
      kind = both
    }
    return kind
  }
}
