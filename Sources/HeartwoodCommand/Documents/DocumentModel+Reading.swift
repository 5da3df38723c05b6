import Heartwood

extension DocumentModel {
  /// Parses a `model` section and checks that it is consistent.
  init(reading place: JSONPlace) throws(CommandFailure) {
    if try place.member("formatVersion") != nil {
      self = try DocumentModel(encoded: place)
      return
    }
    try place.knowsOnly(["entities"] + DocumentRest.modelMembers)
    guard let section = try place.member("entities") else { throw place.failure("\"entities\" is missing") }
    let members = try section.members()
    var read: [DocumentEntity] = []
    for (name, entity) in members { read.append(try DocumentEntity(name: name, reading: entity)) }
    self.init(entities: read)
    rest = try DocumentRest(place, DocumentRest.modelMembers)
    try DocumentModelCheck(self, members).run()
  }
}

extension DocumentEntity {
  fileprivate init(name: String, reading place: JSONPlace) throws(CommandFailure) {
    try Identifier.checkEntity(name, at: place)
    try place.knowsOnly(
      [
        "renamed", "superentity", "abstract", "attributes", "relationships", "uniquenessConstraints",
        "indexes",
        "rangeIndexes", "partialIndexes",
      ] + DocumentRest.entityMembers)
    self.init(name: name)
    rest = try DocumentRest(place, DocumentRest.entityMembers)
    renamed = try place.member("renamed")?.string()
    superentity = try place.member("superentity")?.string()
    isAbstract = try place.member("abstract")?.bool() ?? false
    for (name, attribute) in try place.member("attributes")?.members() ?? [] {
      attributes.append(try DocumentAttribute(name: name, reading: attribute))
    }
    for (name, relationship) in try place.member("relationships")?.members() ?? [] {
      relationships.append(try DocumentRelationship(name: name, reading: relationship))
    }
    uniquenessConstraints = try place.member("uniquenessConstraints")?.groups() ?? []
    indexes = try place.member("indexes")?.groups() ?? []
    rangeIndexes = try place.member("rangeIndexes")?.groups() ?? []
    for element in try place.member("partialIndexes")?.elements() ?? [] {
      partialIndexes.append(try DocumentPartialIndex(reading: element))
    }
  }
}

extension DocumentPartialIndex {
  fileprivate init(reading place: JSONPlace) throws(CommandFailure) {
    try place.knowsOnly("properties", "where", "kind")
    guard let properties = try place.member("properties") else {
      throw place.failure("\"properties\" is missing")
    }
    guard let condition = try place.member("where") else { throw place.failure("\"where\" is missing") }
    self.init(
      properties: try properties.names(), condition: try condition.string(),
      kind: try place.member("kind")?.choice(Kind.self) ?? .values)
  }
}

extension JSONPlace {
  /// A list of non-empty lists of names.
  fileprivate func groups() throws(CommandFailure) -> [[String]] {
    var groups: [[String]] = []
    for element in try elements() { groups.append(try element.names()) }
    return groups
  }

  /// A non-empty list of names.
  fileprivate func names() throws(CommandFailure) -> [String] {
    var names: [String] = []
    for name in try elements() { names.append(try name.string()) }
    guard !names.isEmpty else { throw expected("a list of names") }
    return names
  }
}

extension DocumentAttribute {
  /// - Parameter composites: The names of the composite attributes that it is an element of, the outermost first.
  fileprivate init(
    name: String, reading place: JSONPlace, in composites: [String] = []
  ) throws(CommandFailure) {
    try Identifier.checkProperty(name, at: place)
    try place.knowsOnly(
      [
        "renamed", "type", "optional", "unique", "indexed", "fullText", "preservesValueInHistoryOnDeletion",
        "preservesValueInHistoryOnUpdate", "transient", "allowsExternalStorage", "default", "elements",
        "derived", "transformer", "valueClass",
      ] + DocumentRest.attributeMembers)
    guard let type = try place.member("type") else { throw place.failure("\"type\" is missing") }
    self.init(name: name, type: try type.choice(DocumentType.self))
    rest = try DocumentRest(place, DocumentRest.attributeMembers)
    isTransient = try place.member("transient")?.bool() ?? false
    guard self.type != .undefined || isTransient else {
      throw type.failure(
        "an attribute of type undefined can't be stored: make it transient, or give it a type")
    }
    allowsExternalStorage = try place.member("allowsExternalStorage")?.bool() ?? false
    renamed = try place.member("renamed")?.string()
    isOptional = try place.member("optional")?.bool() ?? false
    isUnique = try place.member("unique")?.bool() ?? false
    isIndexed = try place.member("indexed")?.bool() ?? false
    hasFullTextIndex = try place.member("fullText")?.bool() ?? false
    if hasFullTextIndex, self.type != .string {
      throw place.failure("\"fullText\" is for attributes of type string: there are no words in other values")
    }
    preservesValueInHistoryOnDeletion =
      try place.member("preservesValueInHistoryOnDeletion")?.bool() ?? false
    preservesValueInHistoryOnUpdate = try place.member("preservesValueInHistoryOnUpdate")?.bool() ?? false
    derivation = try place.member("derived")?.string()
    transformer = try place.member("transformer")?.string()
    valueClass = try place.member("valueClass")?.string()
    guard (self.type == .transformable) == (transformer != nil),
      valueClass == nil || transformer != nil || self.type == .composite
    else {
      throw place.failure(
        self.type == .transformable
          ? "\"transformer\" is missing: the name of what makes bytes of the values"
          : "\"transformer\" and \"valueClass\" are for attributes of type transformable")
    }
    if !composites.isEmpty { try checkIsElement(of: composites, place) }
    if self.type == .composite { try checkIsComposite(place) }
    try readElements(of: place, composites + [name])
    if let given = try place.member("default") {
      _ = try AttributeReading.value(of: given, as: self)
      defaultValue = given.value
    }
  }

  /// An element has no constraint or index of its own: those of the entity name it.
  private func checkIsElement(of composites: [String], _ place: JSONPlace) throws(CommandFailure) {
    let path = (composites + [name]).joined(separator: ".")
    for (member, isSet, list) in [
      ("unique", isUnique, "uniquenessConstraints"), ("indexed", isIndexed, "indexes"),
    ] where isSet {
      throw place.failure(
        "\"\(member)\" is not for an element of a composite attribute: leave it out, and add [\"\(path)\"] to \"\(list)\" of the entity"
      )
    }
    for (member, isSet) in [
      ("transient", isTransient), ("derived", derivation != nil),
      ("allowsExternalStorage", allowsExternalStorage),
    ] where isSet {
      throw place.failure("\"\(member)\" is not for an element of a composite attribute: leave it out")
    }
  }

  /// The elements of a composite attribute are in the row, and are not computed.
  private func checkIsComposite(_ place: JSONPlace) throws(CommandFailure) {
    for (member, isSet) in [("derived", derivation != nil), ("allowsExternalStorage", allowsExternalStorage)]
    where isSet {
      throw place.failure("\"\(member)\" is not for a composite attribute: leave it out")
    }
  }

  private mutating func readElements(
    of place: JSONPlace, _ composites: [String]
  ) throws(CommandFailure) {
    guard let section = try place.member("elements") else {
      if type == .composite { throw place.failure("\"elements\" is missing: the attributes it consists of") }
      return
    }
    guard type == .composite else {
      throw section.failure("only an attribute of type composite has elements")
    }
    guard composites.count <= CompositeAttributeDescription.greatestDepth else {
      throw section.failure("\(composites.joined(separator: ".")) \(CompositeAttributeDescription.tooDeep)")
    }
    for (name, element) in try section.members() {
      elements.append(try DocumentAttribute(name: name, reading: element, in: composites))
    }
  }
}

extension DocumentRelationship {
  fileprivate init(name: String, reading place: JSONPlace) throws(CommandFailure) {
    try Identifier.checkProperty(name, at: place)
    try place.knowsOnly(
      [
        "renamed", "destination", "toMany", "ordered", "optional", "min", "max", "inverse", "deleteRule",
        "transient",
      ] + DocumentRest.relationshipMembers)
    guard let destination = try place.member("destination") else {
      throw place.failure("\"destination\" is missing")
    }
    self.init(name: name, destination: try destination.string())
    rest = try DocumentRest(place, DocumentRest.relationshipMembers)
    isTransient = try place.member("transient")?.bool() ?? false
    renamed = try place.member("renamed")?.string()
    isToMany = try place.member("toMany")?.bool() ?? false
    isOrdered = try place.member("ordered")?.bool() ?? false
    isOptional = try place.member("optional")?.bool() ?? true
    minimumCount = try place.member("min")?.count() ?? 0
    maximumCount = try place.member("max")?.count() ?? 0
    inverse = try place.member("inverse")?.string()
    deleteRule = try place.member("deleteRule")?.choice(DocumentDeleteRule.self) ?? .nullify
    if isOrdered, !isToMany { throw place.failure("only a to-many relationship can be ordered") }
    if isToMany, maximumCount == 1 {
      throw place.failure("\"max\" 1 makes a to-one relationship: leave out \"toMany\" and \"max\"")
    }
  }
}

/// The rules for names of entities and properties, those of models: what a store has can be imported again.
enum Identifier {
  static func isEntity(_ name: String) -> Bool { ModelChecks.isUsable(name, ofEntity: true) }

  static func isProperty(_ name: String) -> Bool { ModelChecks.isUsable(name, ofEntity: false) }

  static func checkEntity(_ name: String, at place: JSONPlace) throws(CommandFailure) {
    guard isEntity(name) else { throw refusal(name, "letters, digits, _, - and .", place) }
  }

  private static func refusal(_ name: String, _ allowed: String, _ place: JSONPlace) -> CommandFailure {
    place.failure("\"\(name)\" can't be a name: it has \(allowed) only, and no digit first")
  }

  static func checkProperty(_ name: String, at place: JSONPlace) throws(CommandFailure) {
    guard isProperty(name) else { throw refusal(name, "letters, digits and _", place) }
    guard !ReservedNames.all.contains(name) else {
      throw place.failure("\"\(name)\" can't be a property: every object has a member called so; rename it")
    }
  }
}
