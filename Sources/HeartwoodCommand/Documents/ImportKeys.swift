import Heartwood

/// An object of a file or a store, by the value of a unique attribute.
struct ObjectKey: Hashable {
  /// The attribute, and the entity that declares it.
  struct Attribute: Hashable {
    let entity: String
    let name: String
  }

  let attribute: Attribute
  let value: AnyHashable

  /// - Parameter value: A value as `AttributeReading` gives it, or as an object of the graph has it.
  init?(_ attribute: Attribute, _ value: Any?) {
    guard let value = value as? any Hashable else { return nil }
    self.attribute = attribute
    self.value = AnyHashable(value)
  }
}

/// The objects that a file names by a unique attribute: `{"@find": {"code": "FR"}}` names the destination with this code, in the file or
/// else in the store; and those that are updated, if the store has an object with the same value.
struct ImportKeys {
  /// An object that is not in the file.
  struct Sought {
    let entity: String
    let key: ObjectKey
    let place: JSONPlace
  }

  private let document: ImportDocument
  private let model: DocumentModel
  /// The attributes by which objects are updated.
  private let updating: [ObjectKey.Attribute]
  private var places: [ObjectKey.Attribute: [ObjectKey: Int]] = [:]
  private var soughtPlaces: [ObjectKey: Int] = [:]
  private(set) var sought: [Sought] = []

  /// - Parameter names: Attributes by which objects are updated, such as `Country.code`, or `code` for all entities that have it.
  /// - Throws: A usage failure if no entity has such a unique attribute.
  init(_ document: ImportDocument, _ model: DocumentModel, updatingBy names: [String]) throws(CommandFailure)
  {
    self.document = document
    self.model = model
    var updating: [ObjectKey.Attribute] = []
    for name in names { updating += try Self.attributes(named: name, in: model) }
    self.updating = updating
    for attribute in updating { try index(attribute, of: document.objects) }
  }

  private static func attributes(
    named text: String, in model: DocumentModel
  ) throws(CommandFailure) -> [ObjectKey.Attribute] {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2, let name = parts.last else {
      throw .usage("--upsert needs an attribute such as code or Country.code, not \"\(text)\"")
    }
    let owners = parts.count == 2 ? model.lineage(of: parts[0]) : model.entities
    let found = owners.filter { $0.attributes.contains { $0.name == name } }
    guard !found.isEmpty else {
      let names = model.entities.flatMap { $0.attributes.map(\.name) }
      throw .usage("--upsert \(text): no entity has this attribute\(Spelling.hint(name, among: names))")
    }
    let unique = found.filter { model.isUnique(name, of: $0) }
    guard !unique.isEmpty else {
      throw .usage(
        "--upsert \(text): \(found[0].name).\(name) is not unique, so that two objects can have the same value; "
          + "make it unique in the model")
    }
    return unique.map { ObjectKey.Attribute(entity: $0.name, name: name) }
  }

  /// By which the object updates one of the store; nil if it is a new object.
  func key(of object: ImportDocument.Object) throws(CommandFailure) -> ObjectKey? {
    for attribute in updating where model.isKind(object.entity, of: attribute.entity) {
      if let key = try key(attribute, of: object) { return key }
    }
    return nil
  }

  /// The index of the object that a reference names: in the file, or after all objects of the file.
  ///
  /// - Parameter destination: The entity of the relationship's destinations.
  mutating func find(_ place: JSONPlace, _ destination: String) throws(CommandFailure) -> Int {
    let members = try place.members()
    guard members.count == 1, let (name, value) = members.first else {
      throw place.expected("one attribute and its value, such as {\"code\": \"FR\"}")
    }
    guard
      let owner = model.lineage(of: destination).first(where: { $0.attributes.contains { $0.name == name } }),
      let attribute = owner.attributes.first(where: { $0.name == name })
    else { throw place.failure("\(destination) has no attribute \"\(name)\"") }
    guard model.isUnique(name, of: owner) else {
      throw place.failure("\(owner.name).\(name) is not unique, so that it may be of several objects")
    }
    let searched = ObjectKey.Attribute(entity: owner.name, name: name)
    guard let key = ObjectKey(searched, try AttributeReading.value(of: value, as: attribute)) else {
      throw value.failure("objects can't be found by values of this type")
    }
    if places[searched] == nil { try index(searched, of: document.objects) }
    if let index = places[searched]?[key] ?? soughtPlaces[key] { return index }
    let index = document.objects.count + sought.count
    soughtPlaces[key] = index
    sought.append(Sought(entity: destination, key: key, place: place.withoutValue))
    return index
  }

  private mutating func index(
    _ attribute: ObjectKey.Attribute, of objects: [ImportDocument.Object]
  ) throws(CommandFailure) {
    var found: [ObjectKey: Int] = [:]
    for object in objects where model.isKind(object.entity, of: attribute.entity) {
      guard let key = try key(attribute, of: object) else { continue }
      if let first = found.updateValue(object.index, forKey: key) {
        throw .data(
          "\(object.path).\(attribute.name): \(objects[first].path) has the same value, which is unique")
      }
    }
    places[attribute] = found
  }

  private func key(
    _ attribute: ObjectKey.Attribute, of object: ImportDocument.Object
  ) throws(CommandFailure) -> ObjectKey? {
    guard let value = object.members[attribute.name], value != .null,
      let declared = model.entity(named: attribute.entity)?.attributes.first(where: {
        $0.name == attribute.name
      })
    else { return nil }
    return ObjectKey(
      attribute, try AttributeReading.value(of: object.place.member(attribute.name, value), as: declared))
  }
}

extension DocumentModel {
  /// Whether no two objects have the same value of an attribute that the entity declares.
  fileprivate func isUnique(_ attribute: String, of entity: DocumentEntity) -> Bool {
    entity.attributes.contains { $0.name == attribute && $0.isUnique }
      || entity.uniquenessConstraints.contains([attribute])
  }
}
