import Foundation
import Heartwood

/// A parsed import file whose values are not yet checked against a model.
struct ImportDocument {
  struct Object {
    /// The index among the objects of the file.
    let index: Int
    /// Where the object is in the file.
    let place: JSONPlace
    let entity: String
    /// The `@id`, by which other objects refer to this one.
    let identifier: String?
    let members: JSONObject

    var path: String { place.path }

    /// The members that are properties, with their places.
    var properties: [(name: String, place: JSONPlace)] {
      members.members.filter { $0.name.utf8.first != UInt8(ascii: "@") }.map { member in
        (member.name, place.member(member.name, member.value))
      }
    }

    /// The same with composite attributes before their elements, which count where both are given.
    var propertiesByDepth: [(name: String, place: JSONPlace)] {
      let properties = properties
      guard properties.contains(where: { $0.name.contains(".") }) else { return properties }
      let byDepth = Dictionary(grouping: properties) { $0.name.utf8.count { $0 == UInt8(ascii: ".") } }
      return byDepth.sorted { $0.key < $1.key }.flatMap(\.value)
    }
  }

  /// The model in the file, if there is one.
  let model: DocumentModel?
  let objects: [Object]

  init(model: DocumentModel?, objects: [Object]) {
    self.model = model
    self.objects = objects
  }

  /// Parses `{"model": {...}, "objects": [...]}` or a list of objects.
  ///
  /// - Throws: A data failure that names the place of invalid JSON, or of an invalid model or `@id`.
  init(_ bytes: [UInt8]) throws(CommandFailure) {
    try self.init(JSONPlace(path: "", value: try ImportDocument.parse(bytes)))
  }

  /// The same of a file that is parsed already.
  init(_ root: JSONPlace) throws(CommandFailure) {
    if case .array(let values) = root.value {
      model = nil
      objects = try ImportDocument.objects(JSONPlace(path: "objects", value: .array(values)))
      return
    }
    try root.knowsOnly("model", "objects")
    if let section = try root.member("model") {
      model = try DocumentModel(reading: section)
    } else {
      model = nil
    }
    guard let section = try root.member("objects") else { throw root.failure("\"objects\" is missing") }
    objects = try ImportDocument.objects(section)
  }

  /// The model in the file, or a model inferred from its objects.
  func givenOrInferredModel() throws(CommandFailure) -> DocumentModel {
    if let model { return model }
    return try DocumentModel.inferred(from: objects)
  }

  static func parse(_ bytes: [UInt8]) throws(CommandFailure) -> JSONValue {
    do {
      return try JSONParser.parse(bytes)
    } catch {
      if let kind = ForeignFile.kind(of: Data(bytes.prefix(1 << 20))) { throw .data(kind) }
      throw .data("not JSON at line \(error.line), column \(error.column): \(error.message)")
    }
  }

  private static func objects(_ section: JSONPlace) throws(CommandFailure) -> [Object] {
    var objects: [Object] = []
    for (index, place) in try section.elements().enumerated() {
      objects.append(try object(place, index))
    }
    return objects
  }

  private static func object(_ place: JSONPlace, _ index: Int) throws(CommandFailure) -> Object {
    let members = try place.object()
    for name in members.names
    where name.utf8.first == UInt8(ascii: "@") && !["@id", "@entity", "@uri"].contains(name) {
      throw place.failure("unknown member \"\(name)\"; there are @id and @entity")
    }
    let named = try place.member("@entity")?.string()
    guard let identifier = try place.member("@id") else {
      guard let named else { throw place.failure("\"@id\" is missing, such as \"Country/FR\"") }
      return Object(index: index, place: place, entity: named, identifier: nil, members: members)
    }
    let entity = try Reference.entity(of: identifier)
    if let named, named != entity { throw identifier.failure("its entity is not \"\(named)\", its @entity") }
    return Object(
      index: index, place: place, entity: entity, identifier: try identifier.string(), members: members)
  }
}

/// References from one object of a file to another, `{"@ref": "Country/FR"}`, or to one of the file or the store by an attribute,
/// `{"@find": {"code": "FR"}}`.
enum Reference {
  static let search = "@find"

  /// The attribute and its value in a reference by an attribute; nil if the value is none.
  static func search(in place: JSONPlace) throws(CommandFailure) -> JSONPlace? {
    guard case .object(let object) = place.value, let sought = object[search] else { return nil }
    if object.members.count > 1 { try place.knowsOnly(search) }
    return place.member(search, sought)
  }

  /// The entity in an identifier such as `Country/FR`.
  static func entity(of place: JSONPlace) throws(CommandFailure) -> String {
    let parts = try place.string().split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[1].isEmpty, Identifier.isEntity(String(parts[0])) else {
      throw place.expected("an entity and a key such as \"Country/FR\"")
    }
    return String(parts[0])
  }

  /// The identifier in a reference; nil if the value is not a reference.
  static func identifier(in place: JSONPlace) throws(CommandFailure) -> JSONPlace? {
    guard case .object(let object) = place.value, let reference = object["@ref"] else { return nil }
    if object.members.count > 1 { try place.knowsOnly("@ref") }
    return place.member("@ref", reference)
  }
}
