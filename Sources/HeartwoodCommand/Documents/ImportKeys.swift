import Heartwood

/// An object of a file or a store, by its values of a uniqueness constraint.
struct ObjectKey: Hashable {
  /// A uniqueness constraint.
  struct Constraint: Hashable {
    /// The entity that declares it.
    let entity: String
    /// One attribute, or several properties that are unique together, in the order of the model.
    let names: [String]

    /// As `--upsert` has it.
    var text: String { "\(entity).\(names.joined(separator: "+"))" }
  }

  enum Part: Hashable {
    case value(AnyHashable)
    /// The destination of a relationship, as an index of the file's objects.
    case object(Int)
  }

  let constraint: Constraint
  /// In the order of the constraint's names.
  let parts: [Part]

  init(_ constraint: Constraint, _ parts: [Part]) {
    self.constraint = constraint
    self.parts = parts
  }

  /// - Parameter value: A value as `AttributeReading` gives it, or as an object of the graph has it.
  init?(_ constraint: Constraint, _ value: Any?) {
    guard let value = value as? any Hashable else { return nil }
    self.init(constraint, [.value(AnyHashable(value))])
  }

  /// The destinations of relationships among the values.
  var objects: [Int] {
    parts.compactMap { part in
      guard case .object(let index) = part else { return nil }
      return index
    }
  }

  /// `code is "FR"`
  var text: String {
    zip(constraint.names, parts).map { name, part in
      switch part {
      case .value(let value): "\(name) is \"\(value)\""
      case .object(let index): "\(name) is objects[\(index)]"
      }
    }.joined(separator: " and ")
  }
}

/// The objects that a file names by unique values: `{"@find": {"code": "FR"}}` names the destination with this code, in the file or
/// else in the store; and those that are updated, if the store has an object with the same values.
struct ImportKeys {
  /// An object that is not in the file.
  struct Sought {
    let entity: String
    let key: ObjectKey
    let place: JSONPlace
  }

  private let document: ImportDocument
  private let model: DocumentModel
  /// The constraints by which objects are updated.
  private let updating: [ObjectKey.Constraint]
  /// Whether objects are updated by the destinations of relationships, which are known when the whole file is read.
  let usesRelationships: Bool
  private var places: [ObjectKey.Constraint: [ObjectKey: Int]] = [:]
  private var soughtPlaces: [ObjectKey: Int] = [:]
  private(set) var sought: [Sought] = []

  /// - Parameter names: Unique attributes by which objects are updated, such as `Country.code`, or `code` for all entities that have it;
  ///   and properties that are unique together, such as `Issue.project+number`.
  /// - Throws: A usage failure if no entity has such a constraint.
  init(_ document: ImportDocument, _ model: DocumentModel, updatingBy names: [String]) throws(CommandFailure)
  {
    self.document = document
    self.model = model
    var updating: [ObjectKey.Constraint] = []
    for name in names { updating += try model.constraints(of: name) }
    for constraint in updating { try document.checkColumns(of: constraint, model) }
    self.updating = updating
    usesRelationships = updating.contains { model.hasRelationships($0) }
    for constraint in updating where !model.hasRelationships(constraint) {
      try index(constraint, of: document.objects)
    }
  }

  /// By which the object updates one of the store; nil if it is a new object. The values that it has count more than the defaults that it
  /// would get.
  ///
  /// - Parameter destinations: The destinations of its relationships to one, by name, if they are known yet.
  mutating func key(
    of object: ImportDocument.Object, _ destinations: [String: Int] = [:]
  ) throws(CommandFailure) -> ObjectKey? {
    guard let key = try updatingKey(of: object, destinations) else { return nil }
    // The others were compared as they were read.
    if model.hasRelationships(key.constraint) { try note(key, object) }
    return key
  }

  private func updatingKey(
    of object: ImportDocument.Object, _ destinations: [String: Int] = [:]
  ) throws(CommandFailure) -> ObjectKey? {
    for withDefaults in [false, true] {
      for constraint in updating where model.isKind(object.entity, of: constraint.entity) {
        if let key = try key(constraint, of: object, destinations, withDefaults: withDefaults) { return key }
      }
    }
    return nil
  }

  /// The index of the object that a reference names: in the file, or after all objects of the file.
  ///
  /// - Parameter destination: The entity of the relationship's destinations.
  mutating func find(_ place: JSONPlace, _ destination: String) throws(CommandFailure) -> Int {
    let members = try place.members()
    guard !members.isEmpty else {
      throw place.expected("attributes and their values, such as {\"code\": \"FR\"}")
    }
    let searched = try constraint(members.map(\.name), place, destination)
    var parts: [ObjectKey.Part] = []
    for name in searched.names {
      guard let value = members.first(where: { $0.name == name })?.place,
        let attribute = model.attribute(name, of: searched.entity)
      else { throw place.failure("a value is missing: \(name)") }
      guard let value = try AttributeReading.value(of: value, as: attribute) as? any Hashable else {
        throw value.failure("objects can't be found by values of this type")
      }
      parts.append(.value(AnyHashable(value)))
    }
    let key = ObjectKey(searched, parts)
    if places[searched] == nil { try index(searched, of: document.objects) }
    if let index = places[searched]?[key] ?? soughtPlaces[key] { return index }
    let index = document.objects.count + sought.count
    soughtPlaces[key] = index
    sought.append(Sought(entity: destination, key: key, place: place.withoutValue))
    return index
  }

  /// The constraint over the attributes that a reference names.
  private func constraint(
    _ names: [String], _ place: JSONPlace, _ destination: String
  ) throws(CommandFailure) -> ObjectKey.Constraint {
    let lineage = model.lineage(of: destination)
    var last: DocumentEntity?
    for name in names {
      guard let attribute = model.attribute(name, of: destination) else {
        guard lineage.contains(where: { $0.relationships.contains { $0.name == name } }) else {
          let known = lineage.flatMap(\.attributes).flatMap(\.columns)
          throw place.failure(
            "\(destination) has no attribute \"\(name)\"\(Spelling.hint(name, among: known))")
        }
        throw place.failure("\(destination).\(name) is a relationship; objects are found by attributes")
      }
      guard attribute.type != .composite else {
        throw place.failure(
          "\(destination).\(name) is composite; objects are found by its elements, such as {\"\(name).\(attribute.elements.first?.name ?? "")\": ...}"
        )
      }
      last = lineage.first { $0.has(name) }
    }
    let found = lineage.lazy.flatMap { owner in
      owner.constraints.map { ObjectKey.Constraint(entity: owner.name, names: $0) }
    }.first { Set($0.names) == Set(names) }
    if let found { return found }
    guard names.count > 1 else {
      throw place.failure(
        "\(last?.name ?? destination).\(names[0]) is not unique, so that it may be of several objects")
    }
    throw place.failure(
      "\(names.joined(separator: ", ")) are not unique together in \(destination), so that they may be of several objects"
    )
  }

  private mutating func index(
    _ constraint: ObjectKey.Constraint, of objects: [ImportDocument.Object]
  ) throws(CommandFailure) {
    places[constraint] = [:]
    for object in objects where model.isKind(object.entity, of: constraint.entity) {
      let withDefaults = try hasDefaults(object, under: constraint)
      if let key = try key(constraint, of: object, [:], withDefaults: withDefaults) { try note(key, object) }
    }
  }

  /// Whether the object has the defaults of a constraint where the file has no values. One that may update an object of the store has the
  /// values of that, unless it is found by these.
  private func hasDefaults(
    _ object: ImportDocument.Object, under constraint: ObjectKey.Constraint
  ) throws(CommandFailure) -> Bool {
    for constraint in updating where model.isKind(object.entity, of: constraint.entity) {
      if model.hasRelationships(constraint) { return false }
    }
    return try updatingKey(of: object).map { $0.constraint == constraint } ?? true
  }

  private mutating func note(_ key: ObjectKey, _ object: ImportDocument.Object) throws(CommandFailure) {
    guard
      let first = places[key.constraint, default: [:]].updateValue(object.index, forKey: key),
      first != object.index
    else { return }
    throw .sameValues(object.path, key.constraint.names, "\(document.objects[first].path) has")
  }

  private func key(
    _ constraint: ObjectKey.Constraint, of object: ImportDocument.Object, _ destinations: [String: Int],
    withDefaults: Bool = false
  ) throws(CommandFailure) -> ObjectKey? {
    var parts: [ObjectKey.Part] = []
    for name in constraint.names {
      if let destination = destinations[name] {
        parts.append(.object(destination))
        continue
      }
      guard let declared = model.attribute(name, of: constraint.entity) else { return nil }
      var place = object.place(ofColumn: name)
      if withDefaults, place == nil || place?.value == .null && !declared.isOptional {
        place = model.defaultPlace(ofColumn: name, in: object)
      }
      guard let place, place.value != .null,
        let value = try AttributeReading.value(of: place, as: declared) as? any Hashable
      else { return nil }
      parts.append(.value(AnyHashable(value)))
    }
    return ObjectKey(constraint, parts)
  }
}

extension CommandFailure {
  /// Says that another object has the same values of a constraint.
  static func sameValues(
    _ path: String, _ names: [String], _ other: String, _ advice: String = ""
  ) -> CommandFailure {
    guard names.count > 1 else {
      return .data("\(path).\(names[0]): \(other) the same value, which is unique\(advice)")
    }
    return .data(
      "\(path): \(other) the same values of \(names.joined(separator: ", ")), which are unique together\(advice)"
    )
  }
}

extension ImportDocument {
  /// - Throws: A usage failure if objects are to be updated by a property that none of them has in the file: all would be new ones.
  fileprivate func checkColumns(
    of constraint: ObjectKey.Constraint, _ model: DocumentModel
  ) throws(CommandFailure) {
    let kind = objects.filter { model.isKind($0.entity, of: constraint.entity) }
    guard !kind.isEmpty else { return }
    for name in constraint.names {
      // A to-one relationship may be given from its other side.
      guard model.attribute(name, of: constraint.entity) != nil else { continue }
      var isThere = false
      for object in kind where !isThere {
        isThere = object.place(ofColumn: name) != nil || model.defaultPlace(ofColumn: name, in: object) != nil
      }
      guard isThere else {
        throw .usage(
          "--upsert \(constraint.text): no object of the file has \(name), so that each would be a new one; add it to the file"
        )
      }
    }
  }
}

extension ImportDocument.Object {
  /// The value of an attribute, or of an element of a composite one under its full name. An element counts more than the whole around it.
  fileprivate func place(ofColumn name: String) -> JSONPlace? {
    let parts = name.split(separator: ".").map(String.init)
    for count in (1...parts.count).reversed() {
      let whole = parts[..<count].joined(separator: ".")
      guard let value = members[whole] else { continue }
      var place = self.place.member(whole, value)
      for part in parts[count...] {
        guard case .object(let members) = place.value, let value = members[part] else { return nil }
        place = place.member(part, value)
      }
      return place
    }
    return nil
  }

  /// Whether a composite attribute, or an element that is one, has a value.
  fileprivate func hasComposite(_ name: String) -> Bool {
    if let whole = place(ofColumn: name), whole.value != .null { return true }
    return members.members.contains { $0.value != .null && $0.name.hasPrefix("\(name).") }
  }
}

extension DocumentEntity {
  /// The constraints that the entity declares, those of single attributes first.
  var constraints: [[String]] {
    attributes.filter(\.isUnique).map { [$0.name] } + uniquenessConstraints
  }
}

extension DocumentModel {
  /// The constraints that an item of `--upsert` names.
  fileprivate func constraints(of text: String) throws(CommandFailure) -> [ObjectKey.Constraint] {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let isOfEntity = parts.count > 1 && entity(named: parts[0]) != nil
    let names = (isOfEntity ? parts[1] : text).split(separator: "+", omittingEmptySubsequences: false)
      .map(String.init)
    guard names.allSatisfy({ !$0.isEmpty }), parts.count < 2 || isOfEntity || !parts.contains("") else {
      throw .usage(
        "--upsert needs an attribute such as code or Country.code, or properties that are unique together such as "
          + "Issue.project+number, not \"\(text)\"")
    }
    let owners = isOfEntity ? lineage(of: parts[0]) : entities
    let found = owners.filter { owner in names.contains { owner.has($0) } }
    guard !found.isEmpty else {
      let known = owners.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
      let hint = names.count == 1 ? Spelling.hint(names[0], among: known) : ""
      throw .usage("--upsert \(text): no entity has this attribute\(hint)")
    }
    let constraints = owners.flatMap { owner in
      owner.constraints.filter { Set($0) == Set(names) }.map {
        ObjectKey.Constraint(entity: owner.name, names: $0)
      }
    }
    guard constraints.isEmpty else { return constraints }
    guard names.count > 1 else {
      throw .usage(
        "--upsert \(text): \(found[0].name).\(names[0]) is not unique, so that two objects can have the same value; "
          + "make it unique in the model")
    }
    throw .usage(
      "--upsert \(text): these are not unique together, so that two objects can have the same values; give the model a "
        + "uniqueness constraint of them")
  }

  /// The default of a new object for an attribute, or for an element of a composite one that has a value.
  fileprivate func defaultPlace(ofColumn name: String, in object: ImportDocument.Object) -> JSONPlace? {
    let parts = name.split(separator: ".").map(String.init)
    for count in 1..<parts.count {
      let composite = parts[..<count].joined(separator: ".")
      guard attribute(composite, of: object.entity)?.isOptional == false || object.hasComposite(composite)
      else { return nil }
    }
    return attribute(name, of: object.entity)?.defaultValue.map { object.place.member(name, $0) }
  }

  fileprivate func hasRelationships(_ constraint: ObjectKey.Constraint) -> Bool {
    constraint.names.contains { attribute($0, of: constraint.entity) == nil }
  }

  /// An own or inherited attribute, or an element of a composite one under its full name.
  func attribute(_ name: String, of entity: String) -> DocumentAttribute? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var found = lineage(of: entity).lazy.flatMap(\.attributes).first { $0.name == parts[0] }
    for part in parts.dropFirst() { found = found?.elements.first { $0.name == part } }
    return found
  }
}

extension DocumentEntity {
  /// Whether the entity declares the property, or the attribute that has the element.
  fileprivate func has(_ name: String) -> Bool {
    let whole = String(name.prefix { $0 != "." })
    return attributes.contains { $0.name == whole } || relationships.contains { $0.name == name }
  }
}
