import Heartwood

/// The objects of a file, all checked against a model before anything is written.
struct PreparedImport {
  struct Object {
    let entity: String
    /// Nil where the file says that there is no value.
    var attributes: [(name: String, value: (any Sendable)?)] = []
    /// The attributes for which a new object has its default although the file has no value: they are not optional, or derived.
    var defaulted: Set<String> = []
    var links: [Link] = []
    /// Where the object is in the file, for messages.
    let place: JSONPlace
    /// The key by which an object of the store is found; nil for a new object.
    var key: ObjectKey?
    /// Whether the file only refers to the object, so that the store must have it.
    var isSought = false
    /// The attributes that a new object needs and this one does not have, if it may update another.
    var missing: [String] = []
    /// The relationships to one that an update removes.
    var cleared: [String] = []
    /// The destinations of the relationships to many that the file gives for this object, which replace those of an object that is updated.
    var given: [String: [Int]] = [:]
    /// The destinations of the relationships to one that are part of a uniqueness constraint, whichever side gives them.
    var constrained: [String: Int] = [:]
    /// The object of the store that is updated or referred to.
    var existing: ManagedObjectID?

    var path: String { place.path }
  }

  /// The destinations of a relationship of an object, as indices of the file's objects.
  struct Link: Equatable {
    let name: String
    let isToMany: Bool
    let destinations: [Int]
  }

  private(set) var objects: [Object] = []
  /// The number of references in the file.
  private(set) var referenceCount = 0
  /// Notes the object of the store that an object of the file updates or refers to; nil if it is a new object.
  mutating func setExisting(_ identifier: ManagedObjectID?, of index: Int) {
    objects[index].existing = identifier
    if identifier == nil { objects[index].becomeNew() }
  }

  /// The number of objects in the file that update those of the store.
  var updatedCount: Int { objects.prefix(fileCount).count { $0.existing != nil } }
  /// The number of links to make.
  var linkCount: Int {
    objects.reduce(0) { sum, object in object.links.reduce(sum) { $0 + $1.destinations.count } }
  }

  /// The number of objects in the file; objects of the store that it refers to follow them.
  private(set) var fileCount = 0

  /// Checks every value and reference.
  ///
  /// - Parameter names: Constraints by which objects of the store are updated; see `ImportKeys`.
  /// - Throws: A failure that names the first invalid place, such as `objects[12].population`.
  init(_ document: ImportDocument, model: DocumentModel, updatingBy names: [String] = [])
    throws(CommandFailure)
  {
    let known = try ImportDocument.places(of: document.objects)
    var entities: [String: EntityProperties] = [:]
    var links = LinkConsolidation(document.objects, model: model)
    var keys = try ImportKeys(document, model, updatingBy: names)
    objects.reserveCapacity(document.objects.count)
    fileCount = document.objects.count
    for object in document.objects {
      if entities[object.entity] == nil { entities[object.entity] = try EntityProperties(object, model) }
      guard let properties = entities[object.entity] else { continue }
      let check = ObjectCheck(properties: properties, model: model, document: document, known: known)
      var prepared = try check.attributes(of: object)
      for (relationship, destinations) in try check.references(of: object, &keys) {
        referenceCount += destinations.count
        links.add(relationship, from: object.index, to: destinations)
        if relationship.isToMany { prepared.given[relationship.name] = destinations }
        if destinations.isEmpty, !relationship.isToMany { prepared.cleared.append(relationship.name) }
      }
      if !keys.usesRelationships { try prepared.identify(by: keys.key(of: object)) }
      objects.append(prepared)
    }
    for (index, name, destination) in links.constrained { objects[index].constrained[name] = destination }
    if keys.usesRelationships {
      for object in document.objects {
        let key = try keys.key(of: object, objects[object.index].constrained)
        try objects[object.index].identify(by: key)
      }
    }
    for sought in keys.sought {
      objects.append(Object(entity: sought.entity, place: sought.place, key: sought.key, isSought: true))
    }
    for (index, links) in try links.consolidated(objects.count) { objects[index].links = links }
  }
}

extension PreparedImport.Object {
  /// Makes it update the object of the store that has the key, if there is one; without a key it is a new object.
  ///
  /// - Throws: A failure that names an attribute that a new object needs.
  fileprivate mutating func identify(by key: ObjectKey?) throws(CommandFailure) {
    self.key = key
    guard key == nil else { return }
    if let name = missing.first {
      throw .data("\(path).\(name): a value is missing, and \(entity).\(name) is not optional")
    }
    becomeNew()
  }

  /// Leaves to a new object the defaults that it has where the file has no value.
  fileprivate mutating func becomeNew() {
    attributes.removeAll { $0.value == nil && defaulted.contains($0.name) }
    cleared = []
  }
}

extension ImportDocument {
  /// The index of each object by its `@id`.
  fileprivate static func places(of objects: [Object]) throws(CommandFailure) -> [String: Int] {
    var places: [String: Int] = [:]
    for object in objects {
      guard let identifier = object.identifier else { continue }
      if let first = places.updateValue(object.index, forKey: identifier) {
        throw .data("\(object.path): objects[\(first)] has the @id \"\(identifier)\", too")
      }
    }
    return places
  }
}

/// The own and inherited properties of an entity by name.
private struct EntityProperties {
  var attributes: [String: DocumentAttribute] = [:]
  var relationships: [String: DocumentRelationship] = [:]
  var required: [String] = []
  /// The names of transient properties.
  private var unstored: [String] = []

  init(_ object: ImportDocument.Object, _ model: DocumentModel) throws(CommandFailure) {
    guard let entity = model.entity(named: object.entity) else {
      let names = model.entities.map(\.name)
      throw .data(
        "\(object.path): the model has no entity \"\(object.entity)\"\(Spelling.hint(object.entity, among: names))"
      )
    }
    guard !entity.isAbstract else {
      throw .data("\(object.path): \(entity.name) is abstract; an object needs one of its subentities")
    }
    for ancestor in model.lineage(of: entity.name) {
      for attribute in ancestor.attributes where !attribute.isTransient {
        attributes[attribute.name] = attribute
      }
      for relationship in ancestor.relationships where !relationship.isTransient {
        relationships[relationship.name] = relationship
      }
      unstored += ancestor.attributes.filter(\.isTransient).map(\.name)
      unstored += ancestor.relationships.filter(\.isTransient).map(\.name)
    }
    // The store computes derived values.
    required = attributes.values.filter(\.needsValue).map(\.name).sorted()
  }

  /// An attribute, or an element of a composite one by its full name.
  func attribute(named name: String) -> DocumentAttribute? {
    if let whole = attributes[name] { return whole }
    let parts = name.split(separator: ".").map(String.init)
    guard parts.count > 1 else { return nil }
    return parts.dropFirst().reduce(attributes[parts[0]]) { whole, part in
      whole?.elements.first { $0.name == part }
    }
  }

  func unknown(_ name: String, of entity: String, at place: JSONPlace) -> CommandFailure {
    if unstored.contains(name) {
      return place.failure("\(entity).\(name) is transient: its values are not stored, and can't be imported")
    }
    let names = Array(attributes.keys) + Array(relationships.keys)
    let hint = Spelling.hint(name, among: names.sorted())
    return place.failure("\(entity) has no property \"\(name)\"\(hint)")
  }
}

extension DocumentAttribute {
  /// Whether a new object needs a value of the file: it may not be missing, and there is no default of it or of its elements.
  fileprivate var needsValue: Bool {
    guard !isOptional, derivation == nil else { return false }
    return type == .composite ? elements.contains(where: \.needsValue) : defaultValue == nil
  }
}

extension JSONObject {
  /// Whether an attribute has a value, or an element of it.
  fileprivate func hasValue(of name: String) -> Bool {
    members.contains { $0.value != .null && ($0.name == name || $0.name.hasPrefix("\(name).")) }
  }
}

/// Checks the objects of one entity.
private struct ObjectCheck {
  let properties: EntityProperties
  let model: DocumentModel
  let document: ImportDocument
  let known: [String: Int]

  /// The object with its attributes, whose types are checked, and the names of those that a new object lacks.
  func attributes(of object: ImportDocument.Object) throws(CommandFailure) -> PreparedImport.Object {
    var prepared = PreparedImport.Object(entity: object.entity, place: object.place.withoutValue)
    for (name, place) in object.propertiesByDepth {
      if let attribute = properties.attribute(named: name) {
        guard place.value != .null else {
          // An element that is given makes the composite attribute around it have a value.
          if attribute.type == .composite, object.members.hasValue(of: name) {
            let empty = place.with(.object(JSONObject()))
            prepared.attributes.append((name, try AttributeReading.value(of: empty, as: attribute)))
            continue
          }
          prepared.attributes.append((name, nil))
          if !attribute.isOptional || attribute.derivation != nil { prepared.defaulted.insert(name) }
          continue
        }
        prepared.attributes.append((name, try AttributeReading.value(of: place, as: attribute)))
      } else if properties.relationships[name] == nil {
        throw properties.unknown(name, of: object.entity, at: place)
      }
    }
    prepared.missing = properties.required.filter { !object.members.hasValue(of: $0) }
    return prepared
  }

  func references(
    of object: ImportDocument.Object, _ keys: inout ImportKeys
  ) throws(CommandFailure) -> [(DocumentRelationship, [Int])] {
    var references: [(DocumentRelationship, [Int])] = []
    for (name, place) in object.properties {
      guard let relationship = properties.relationships[name] else { continue }
      references.append((relationship, try destinations(of: relationship, at: place, &keys)))
    }
    return references
  }

  private func destinations(
    of relationship: DocumentRelationship, at place: JSONPlace, _ keys: inout ImportKeys
  ) throws(CommandFailure) -> [Int] {
    if case .null = place.value { return [] }
    guard relationship.isToMany else { return [try destination(of: relationship, at: place, &keys)] }
    guard case .array = place.value else { throw place.expected("a list of references") }
    var destinations: [Int] = []
    for element in try place.elements() {
      destinations.append(try destination(of: relationship, at: element, &keys))
    }
    return destinations
  }

  private func destination(
    of relationship: DocumentRelationship, at place: JSONPlace, _ keys: inout ImportKeys
  ) throws(CommandFailure) -> Int {
    if let search = try Reference.search(in: place) { return try keys.find(search, relationship.destination) }
    guard let identifier = try Reference.identifier(in: place) else {
      throw place.expected("a reference such as {\"@ref\": \"\(relationship.destination)/...\"}")
    }
    let text = try identifier.string()
    guard let index = known[text] else {
      throw place.failure("nothing in this file has the @id \"\(text)\"\(advice(for: relationship))")
    }
    let entity = document.objects[index].entity
    guard entity == relationship.destination || model.isKind(entity, of: relationship.destination) else {
      throw place.failure("\"\(text)\" is no \(relationship.destination)")
    }
    return index
  }

  /// How to refer to an object that is not in the file.
  private func advice(for relationship: DocumentRelationship) -> String {
    let destination = relationship.destination
    let unique = model.lineage(of: destination).lazy.flatMap(\.constraints).first { names in
      names.allSatisfy { model.attribute($0, of: destination) != nil }
    }
    guard let unique else {
      return "; add that object to it, as \(destination) has no unique attribute to find one of the store by"
    }
    let search = unique.map { "\"\($0)\": ..." }.joined(separator: ", ")
    let columns = unique.map { "\(relationship.name).\($0)" }.joined(separator: ",")
    let column = ", which is \(unique.count == 1 ? "the column" : "the columns") \(columns) of CSV"
    return "; add that object to it, or find one of the store with {\"@find\": {\(search)}}\(column)"
  }
}
