import Foundation

/// Reads the XML that Xcode writes for a model: the file `contents` of a `.xcdatamodel` folder.
///
/// A file has what an editor leaves behind when types, names and destinations change. What a store can mean is read, and what it cannot is left
/// out, with a sentence in `notes`; only where nothing can be meant there is one in `mistakes`. What has no meaning for a store, such as the kind of generated
/// code, is kept with its entity or property, and so is what is left out, so that it is in the file when the model is written again.
package struct XcodeModelReader {
  /// The name of the file in messages.
  let file: String
  /// The parts of the file that the model does not have, or has otherwise, a sentence each.
  package private(set) var notes: [String] = []
  /// The statements that no store could mean, a sentence each.
  package private(set) var mistakes: [String] = []
  /// The descriptions of composite attributes, by name.
  var composites: [String: MarkupElement] = [:]
  /// The names of those that an attribute has, and of those that are being read.
  var usedComposites: Set<String> = []
  var openComposites: Set<String> = []
  /// How many elements of composite attributes may be read yet, as descriptions may refer to the same ones again and again.
  var elementsLeft = 100_000
  /// Where entities, properties, indexes and constraints are, by path.
  package var lines: [String: Int] = [:]
  /// The paths of properties that the file has and the model does not.
  var leftOut: Set<String> = []

  package init(file: String) { self.file = file }

  /// - Throws: `.coreData` with file and line if the document is no model.
  package mutating func document(of root: MarkupElement) throws(HeartwoodError) -> ModelDocument {
    guard root.name == "model" else {
      throw HeartwoodError(
        .coreData, "\(file), line \(root.line): the document is a <\(root.name)>, and no <model>")
    }
    noteUnknown(in: root)
    readComposites(root)
    var entities: [ModelDocument.Entity] = []
    var names: Set<String> = []
    for element in root.children where element.name == "entity" {
      guard let entity = entity(element) else { continue }
      if names.insert(entity.name).inserted {
        entities.append(entity)
      } else {
        mistake(element, "two entities of the model are called \(entity.name)")
      }
    }
    noteUnusedComposites()
    connect(&entities)
    var fields = MarkupFields(root)
    let version = fields.text("userDefinedModelVersionIdentifier") ?? ""
    var document = ModelDocument(
      versionIdentifiers: version.isEmpty ? [] : [version],
      entities: entities.sorted { $0.name < $1.name })
    document.modelFile = fields.left
    readRequests(root, names, into: &document)
    readConfigurations(root, names, into: &document)
    return document
  }

  // MARK: Configurations

  private mutating func readConfigurations(
    _ root: MarkupElement, _ names: Set<String>, into document: inout ModelDocument
  ) {
    for element in root.children where element.name == "configuration" {
      var fields = MarkupFields(element)
      guard let name = required("name", &fields, element) else { continue }
      if document.configurations?[name] != nil {
        note(element, "two configurations are called \(name), of which this one is read")
      }
      document.configurations = document.configurations ?? [:]
      document.configurations?[name] = members(of: element, name, names)
      document.configurationFiles = document.configurationFiles ?? [:]
      document.configurationFiles?[name] = fields.left
    }
  }

  private mutating func members(
    of configuration: MarkupElement, _ name: String, _ names: Set<String>
  ) -> [String] {
    var members: [String] = []
    for element in configuration.children where element.name == "memberEntity" {
      guard let member = element.attributes["name"], !member.isEmpty else {
        note(element, "a <memberEntity> of the configuration \(name) has no name, and is left out")
        continue
      }
      if !names.contains(member) {
        note(element, "\(member) of the configuration \(name) is no entity of the model, and is left out")
      } else if members.contains(member) {
        note(element, "\(member) is in the configuration \(name) twice, and is read once")
      } else {
        members.append(member)
      }
    }
    return members
  }

  // MARK: Entities

  private mutating func entity(_ element: MarkupElement) -> ModelDocument.Entity? {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element) else { return nil }
    locate(name, element)
    if let problem = ModelChecks.problem(ofEntityName: name) { mistake(element, problem) }
    let className = fields.take("representedClassName")
    var entity = ModelDocument.Entity(
      name: name, className: XcodeModel.className(className),
      isAbstract: flag("isAbstract", &fields, element, "the entity \(name)"),
      superentity: fields.text("parentEntity"), renamingIdentifier: fields.text("elementID"),
      versionHashModifier: fields.text("versionHashModifier"), userInfo: userInfo(of: element, name),
      properties: [], uniquenessConstraints: [], indexes: [])
    var names: Set<String> = []
    for child in element.children {
      switch child.name {
      case "attribute", "relationship", "fetchedProperty":
        guard let property = property(child, of: name) else { continue }
        if let problem = ModelChecks.problem(ofPropertyName: property.name, of: name) {
          leftOut.insert("\(name).\(property.name)")
          mistake(child, problem)
          continue
        }
        guard names.insert(property.name).inserted else {
          mistake(child, "\(name) has two properties called \(property.name)")
          continue
        }
        entity.properties.append(property)
        if child.name == "attribute", MarkupFields.isYes(child.attributes["indexed"]) {
          entity.indexes.append(.xcodeIndex(of: [property.name]))
        }
      case "fetchIndex": readIndex(child, into: &entity)
      case "uniquenessConstraints": readConstraints(child, into: &entity)
      case "compoundIndexes": readCompoundIndexes(child, into: &entity)
      default: break
      }
    }
    entity.modelFile = fields.left
    if let className, className != entity.className { entity.modelFile?["representedClassName"] = className }
    return entity
  }

  private mutating func property(_ element: MarkupElement, of owner: String) -> ModelDocument.Property? {
    switch element.name {
    case "attribute": attribute(element, of: owner)
    case "relationship": relationship(element, of: owner)
    default: fetchedProperty(element, of: owner)
    }
  }

  // MARK: Parts

  /// The user info of an element.
  ///
  /// - Parameter owner: Its name in messages.
  mutating func userInfo(of element: MarkupElement, _ owner: String) -> [String: String] {
    var info: [String: String] = [:]
    for entry in element.children.filter({ $0.name == "userInfo" }).flatMap(\.children)
    where entry.name == "entry" {
      guard let key = entry.attributes["key"] else {
        note(entry, "an <entry> of the user info of \(owner) has no key, and is left out")
        continue
      }
      let value = entry.attributes["value"] ?? ""
      if info.updateValue(value, forKey: key) != nil {
        note(entry, "the key \(key) is in the user info of \(owner) twice, of which this one is read")
      }
    }
    return info
  }

  /// Where a part of the model is, for messages; the first of several of one name.
  mutating func locate(_ path: String, _ element: MarkupElement) {
    if lines[path] == nil { lines[path] = element.line }
  }

  /// The value of an attribute that an element must have; nil with a mistake.
  mutating func required(
    _ name: String, _ fields: inout MarkupFields, _ element: MarkupElement
  ) -> String? {
    if let text = fields.text(name) { return text }
    mistake(element, "<\(element.name)> has no attribute \(name)")
    return nil
  }

  /// A number that is not negative; nil if there is none, with a note if there is something else.
  mutating func count(
    _ name: String, _ fields: inout MarkupFields, _ element: MarkupElement, _ owner: String
  ) -> Int? {
    guard let text = fields.text(name) else { return nil }
    if let count = Int(text), count >= 0 { return count }
    note(element, "\(name)=\"\(text)\" of \(owner) is no count, and is left out")
    return nil
  }

  /// Whether an attribute is `YES`, with a note if it is something else than that and `NO`. What other tools write for these means the same.
  mutating func flag(
    _ name: String, _ fields: inout MarkupFields, _ element: MarkupElement, _ owner: String,
    default isYes: Bool = false
  ) -> Bool {
    guard let text = fields.text(name) else { return isYes }
    let isRead = MarkupFields.isYes(text) || (isYes && !MarkupFields.isNo(text))
    let word = isRead ? "YES" : "NO"
    if MarkupFields.isYes(text) || MarkupFields.isNo(text) {
      if text != word { note(element, "\(name)=\"\(text)\" of \(owner) is read as \(word)") }
    } else {
      note(element, "\(name)=\"\(text)\" of \(owner) is neither YES nor NO, and is read as \(word)")
    }
    return isRead
  }

  mutating func note(_ element: MarkupElement, _ text: String) { note(element.line, text) }

  mutating func note(_ line: Int?, _ text: String) {
    notes.append("\(file)\(line.map { ", line \($0)" } ?? ""): \(text)")
  }

  mutating func mistake(_ element: MarkupElement, _ text: String) { mistake(element.line, text) }

  mutating func mistake(_ line: Int?, _ text: String) {
    mistakes.append("\(file)\(line.map { ", line \($0)" } ?? ""): \(text)")
  }
}
