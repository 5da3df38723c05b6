import Foundation
import Heartwood

/// The parts of a model that have the same form in the command's documents as in those of `ManagedObjectModel.encodedDocument()`, and
/// that only programs use: rules, user info, requests and the like.
struct DocumentRest: Equatable, Sendable {
  static let modelMembers = ["versionIdentifiers", "configurations", "fetchRequests"]
  static let entityMembers = ["className", "versionHashModifier", "userInfo", "fetchedProperties"]
  static let relationshipMembers = ["versionHashModifier", "userInfo"]
  static let attributeMembers = relationshipMembers + ["validationRules"]

  fileprivate private(set) var members: [String: JSONValue] = [:]

  init() {}

  /// - Throws: A failure if a member is not of its kind.
  init(_ place: JSONPlace, _ names: [String]) throws(CommandFailure) {
    for name in names {
      guard let member = try place.member(name) else { continue }
      switch name {
      case "className", "versionHashModifier": _ = try member.string()
      case "userInfo": for (_, value) in try member.members() { _ = try value.string() }
      case "versionIdentifiers": for value in try member.elements() { _ = try value.string() }
      case "validationRules": for value in try member.elements() { try Self.checkRule(value) }
      default: _ = try member.object()
      }
      members[name] = member.value
    }
  }

  /// - Throws: A failure if a rule has an unknown member, or a limit that none can be, such as NaN.
  private static func checkRule(_ rule: JSONPlace) throws(CommandFailure) {
    try rule.knowsOnly("kind", "least", "greatest", "text", "message")
    guard let kind = try rule.member("kind")?.choice(ValidationRule.Kind.self) else {
      throw rule.failure("\"kind\" is missing")
    }
    for name in ["least", "greatest", "text", "message"] {
      guard let member = try rule.member(name) else { continue }
      let text = try member.string()
      guard ["least", "greatest"].contains(name), !isLimit(text, kind) else { continue }
      throw member.failure("\"\(text)\" is no limit of a \(kind.rawValue)")
    }
  }

  private static func isLimit(_ text: String, _ kind: ValidationRule.Kind) -> Bool {
    switch kind {
    case .number: DecimalText.decimal(text, allowsNaN: false) != nil
    case .date: Double(text)?.isNaN == false
    case .length: Int(text) != nil
    case .pattern, .condition, .value: true
    }
  }

  /// The members of a part of an encoded document, without those that say nothing.
  fileprivate init(_ encoded: JSONObject, _ names: [String]) {
    for name in names {
      guard let value = encoded[name], !value.isEmpty, value != .string("ManagedObject") else { continue }
      members[name] = value
    }
  }

  /// The members in the order of their names.
  var written: [(String, JSONValue)] { members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

  fileprivate mutating func set(_ name: String, _ value: JSONValue?) { members[name] = value }
}

extension DocumentModel {
  /// The model of an encoded document, whose form has a number.
  init(encoded place: JSONPlace) throws(CommandFailure) {
    let model: ManagedObjectModel
    do {
      model = try ManagedObjectModel(changeableDocument: Data(JSONWriter.line(place.value).utf8))
    } catch {
      throw place.failure(error.message)
    }
    self.init(model)
  }

  /// Takes over what only the encoded document of a model has.
  mutating func takeRest(of model: ManagedObjectModel) {
    guard let data = try? model.changeableDocument(),
      let document = (try? JSONParser.parse([UInt8](data)))?.object
    else { return }
    rest = DocumentRest(document, DocumentRest.modelMembers)
    let encoded = Dictionary(
      document.objects("entities").map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var changed = entities
    for place in changed.indices {
      if let entity = encoded[changed[place].name] { changed[place].takeRest(of: entity) }
    }
    entities = changed
  }

  /// The model with what only the encoded document has.
  func withRest(_ model: ManagedObjectModel) throws(CommandFailure) -> ManagedObjectModel {
    guard hasRest else { return model }
    do {
      guard var document = try JSONParser.parse([UInt8](model.changeableDocument())).object else {
        return model
      }
      document.set(rest)
      document.change("entities") { encoded in
        if let entity = entity(named: encoded.name) { entity.addRest(to: &encoded) }
      }
      return try ManagedObjectModel(changeableDocument: Data(JSONWriter.line(.object(document)).utf8))
    } catch let error as HeartwoodError {
      throw .data(error.message)
    } catch {
      throw .data("the model cannot be read: \(error)")
    }
  }

  private var hasRest: Bool {
    let none = DocumentRest()
    return rest != none
      || entities.contains { entity in
        entity.rest != none || entity.attributes.contains(where: \.hasRest)
          || entity.relationships.contains { $0.rest != none }
      }
  }
}

extension DocumentEntity {
  fileprivate mutating func takeRest(of encoded: JSONObject) {
    rest = DocumentRest(encoded, DocumentRest.entityMembers)
    let properties = encoded.objects("properties")
    let fetched = properties.filter { $0["fetched"] != nil }
    if !fetched.isEmpty {
      rest.set("fetchedProperties", .object(JSONObject(fetched.map { ($0.name, .object($0)) })))
    }
    for property in properties {
      if let place = attributes.firstIndex(where: { $0.name == property.name }) {
        attributes[place].takeRest(of: property)
      } else if let place = relationships.firstIndex(where: { $0.name == property.name }) {
        relationships[place].rest = DocumentRest(property, DocumentRest.relationshipMembers)
      }
    }
  }

  fileprivate func addRest(to encoded: inout JSONObject) {
    var own = rest
    own.set("fetchedProperties", nil)
    encoded.set(own)
    encoded.change("properties") { property in
      attributes.first { $0.name == property.name }?.addRest(to: &property)
      if let relationship = relationships.first(where: { $0.name == property.name }) {
        property.set(relationship.rest)
      }
    }
    guard let fetched = rest.members["fetchedProperties"]?.object else { return }
    let added = fetched.members.map { member -> JSONValue in
      var property = member.value.object ?? JSONObject()
      property.setMember("name", .string(member.name))
      return .object(property)
    }
    encoded.setMember("properties", .array(encoded.objects("properties").map { .object($0) } + added))
  }
}

extension DocumentAttribute {
  fileprivate var hasRest: Bool { rest != DocumentRest() || elements.contains(where: \.hasRest) }

  fileprivate mutating func takeRest(of property: JSONObject) {
    rest = DocumentRest(property, DocumentRest.relationshipMembers)
    guard let attribute = property["attribute"]?.object else { return }
    if let rules = attribute["validationRules"], !rules.isEmpty { rest.set("validationRules", rules) }
    for element in attribute.objects("elements") {
      guard let place = elements.firstIndex(where: { $0.name == element.name }) else { continue }
      elements[place].takeRest(of: element)
    }
  }

  fileprivate func addRest(to property: inout JSONObject) {
    var own = rest
    let rules = own.members["validationRules"]
    own.set("validationRules", nil)
    property.set(own)
    guard var attribute = property["attribute"]?.object else { return }
    if let rules { attribute.setMember("validationRules", rules) }
    if !elements.isEmpty {
      attribute.change("elements") { element in
        elements.first { $0.name == element.name }?.addRest(to: &element)
      }
    }
    property.setMember("attribute", .object(attribute))
  }
}

extension JSONValue {
  fileprivate var object: JSONObject? {
    if case .object(let object) = self { return object }
    return nil
  }

  /// Whether it says nothing: null, or without parts.
  fileprivate var isEmpty: Bool {
    switch self {
    case .null: true
    case .array(let values): values.isEmpty
    case .object(let object): object.members.isEmpty
    default: false
    }
  }
}

extension JSONObject {
  fileprivate var name: String {
    if case .string(let name)? = self["name"] { return name }
    return ""
  }

  fileprivate func objects(_ name: String) -> [JSONObject] {
    guard case .array(let values)? = self[name] else { return [] }
    return values.compactMap(\.object)
  }

  fileprivate mutating func setMember(_ name: String, _ value: JSONValue) {
    if let place = members.firstIndex(where: { $0.name == name }) {
      members[place].value = value
    } else {
      members.append(Member(name: name, value: value))
    }
  }

  fileprivate mutating func set(_ rest: DocumentRest) {
    for (name, value) in rest.written { setMember(name, value) }
  }

  /// Changes each object of a list.
  fileprivate mutating func change(_ name: String, _ body: (inout JSONObject) -> Void) {
    let changed = objects(name).map { object -> JSONValue in
      var object = object
      body(&object)
      return .object(object)
    }
    setMember(name, .array(changed))
  }
}
