import Foundation

/// Reads the XML that Xcode writes for a model: the file `contents` of a `.xcdatamodel` folder.
///
/// A file has what an editor leaves behind when types, names and destinations change. What a store can mean is read, and what it cannot is left
/// out, with a sentence in `notes`; only where nothing can be meant there is one in `mistakes`. What has no meaning for a store, such as the kind of generated
/// code, is kept with its entity or property, and so is what is left out, so that it is in the file when the model is written again.
struct XcodeModelReader {
  /// What messages call the file.
  let file: String
  /// What the file has and the model does not, or has otherwise, a sentence each.
  private(set) var notes: [String] = []
  /// What no store could mean, a sentence each.
  private(set) var mistakes: [String] = []
  /// The elements of composite attributes, by name.
  private(set) var composites: [String: MarkupElement] = [:]
  /// Where entities, properties and indexes are, by path.
  var lines: [String: Int] = [:]
  /// The paths of properties that the file has and the model does not.
  var leftOut: Set<String> = []

  init(file: String) { self.file = file }

  /// - Throws: `.coreData` with file and line if the document is no model.
  mutating func document(of root: MarkupElement) throws(HeartwoodError) -> ModelDocument {
    guard root.name == "model" else {
      throw HeartwoodError(
        .coreData, "\(file), line \(root.line): the document is a <\(root.name)>, and no <model>")
    }
    for element in root.children where element.name == "composite" || element.name == "compositeAttribute" {
      if let name = element.attributes["name"] { composites[name] = element }
    }
    var entities: [ModelDocument.Entity] = []
    var requests: [String: FetchRequestTemplate] = [:]
    var configurations: [(element: MarkupElement, name: String)] = []
    for element in root.children {
      switch element.name {
      case "entity": if let entity = entity(element) { entities.append(entity) }
      case "fetchRequest": if let (name, request) = fetchRequest(element) { requests[name] = request }
      case "configuration":
        var fields = MarkupFields(element)
        if let name = required("name", &fields, element) { configurations.append((element, name)) }
      // The layout of the diagram, and what is read above.
      case "elements", "composite", "compositeAttribute": break
      default: note(element, "<\(element.name)> is not known, and left out")
      }
    }
    connect(&entities)
    var fields = MarkupFields(root)
    let version = fields.text("userDefinedModelVersionIdentifier") ?? ""
    var document = ModelDocument(
      versionIdentifiers: version.isEmpty ? [] : [version],
      entities: entities.sorted { $0.name < $1.name })
    document.modelFile = keep(fields.left, of: root, "the model")
    let names = Set(entities.map(\.name))
    for (name, request) in requests where !names.contains(request.entityName) {
      requests[name] = nil
      note(
        lines["fetchRequest \(name)"],
        "the fetch request \(name) is of \"\(request.entityName)\", which is no entity of the model, and is left out"
      )
    }
    document.fetchRequests = requests.isEmpty ? nil : requests
    read(configurations, names, into: &document)
    return document
  }

  private mutating func read(
    _ configurations: [(element: MarkupElement, name: String)], _ names: Set<String>,
    into document: inout ModelDocument
  ) {
    for (element, name) in configurations {
      var members: [String] = []
      for child in element.children {
        guard let member = child.attributes["name"] else { continue }
        if names.contains(member) {
          members.append(member)
        } else {
          note(child, "\(member) of the configuration \(name) is no entity of the model, and is left out")
        }
      }
      document.configurations = document.configurations ?? [:]
      document.configurations?[name] = members
      var fields = MarkupFields(element)
      _ = fields.take("name")
      document.configurationFiles = document.configurationFiles ?? [:]
      document.configurationFiles?[name] = keep(fields.left, of: element, "the configuration \(name)")
    }
  }

  // MARK: Entities

  private mutating func entity(_ element: MarkupElement) -> ModelDocument.Entity? {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element) else { return nil }
    lines[name] = element.line
    let className = fields.take("representedClassName")
    var entity = ModelDocument.Entity(
      name: name, className: XcodeModel.className(className), isAbstract: fields.flag("isAbstract"),
      superentity: fields.text("parentEntity"), renamingIdentifier: fields.text("elementID"),
      versionHashModifier: fields.text("versionHashModifier"), userInfo: [:], properties: [],
      uniquenessConstraints: [], indexes: [])
    for child in element.children {
      switch child.name {
      case "attribute":
        guard let property = attribute(child, of: name) else { continue }
        entity.properties.append(property)
        if MarkupFields.isYes(child.attributes["indexed"]) {
          entity.indexes.append(.xcodeIndex(of: [property.name]))
        }
      case "relationship":
        if let property = relationship(child, of: name) { entity.properties.append(property) }
      case "fetchedProperty":
        if let property = fetchedProperty(child, of: name) { entity.properties.append(property) }
      case "userInfo": entity.userInfo = userInfo(child)
      case "fetchIndex": add(child, to: &entity)
      case "uniquenessConstraints":
        entity.uniquenessConstraints += child.children.map { constraint in
          constraint.children.compactMap { $0.attributes["value"] }
        }
      case "compoundIndexes":
        for index in child.children {
          entity.indexes.append(.xcodeIndex(of: index.children.compactMap { $0.attributes["value"] }))
        }
      default: note(child, "<\(child.name)> of \(name) is not known, and left out")
      }
    }
    entity.modelFile = keep(fields.left, of: element, "the entity \(name)")
    if let className, className != entity.className { entity.modelFile?["representedClassName"] = className }
    return entity
  }

  private mutating func add(_ element: MarkupElement, to entity: inout ModelDocument.Entity) {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element) else { return }
    lines["\(entity.name) \(name)"] = element.line
    var index = ModelDocument.Index(name: name, properties: [], isAscending: [])
    var types: [String] = []
    for part in element.children where part.name == "fetchIndexElement" {
      guard let property = part.attributes["property"] ?? part.attributes["expression"] else {
        return note(
          part, "an element of the index \(name) of \(entity.name) has no property, and the index is left out"
        )
      }
      let isExpression = part.attributes["property"] == nil
      var collation: String?
      switch part.attributes["type"] {
      case nil, "Binary": break
      case "RTree": collation = FetchIndexElementDescription.CollationType.rTree.documentName
      case let type?:
        return note(part, "the index \(name) of \(entity.name) is of type \(type), and is left out")
      }
      guard index.properties.isEmpty || index.collation == collation else {
        return note(
          part,
          "the index \(name) of \(entity.name) has elements of the types Binary and RTree, and is left out")
      }
      index.collation = collation
      index.properties.append(property)
      let type = XcodeModel.types.first { $0.name == part.attributes["expressionType"] }?.type ?? .undefined
      types.append(isExpression ? type.name : "")
      index.isAscending.append(part.attributes["order"] != "descending")
    }
    if !types.allSatisfy(\.isEmpty) { index.expressionTypes = types }
    if index.properties.isEmpty {
      note(element, "the index \(name) of \(entity.name) has no elements, and is left out")
    } else {
      entity.indexes.append(index)
    }
  }

  // MARK: Fetch requests

  mutating func fetchRequest(_ element: MarkupElement) -> (name: String, template: FetchRequestTemplate)? {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element), let entity = required("entity", &fields, element)
    else {
      return nil
    }
    lines["fetchRequest \(name)"] = element.line
    func isNo(_ name: String, _ other: String) -> Bool {
      (element.attributes[name] ?? element.attributes[other]) == "NO"
    }
    let request = FetchRequestTemplate(
      entityName: entity, predicate: fields.text("predicateString"), sort: [],
      limit: count("fetchLimit", &fields, element, "the fetch request \(name)") ?? 0, offset: 0,
      batchSize: count("fetchBatchSize", &fields, element, "the fetch request \(name)") ?? 0,
      includesSubentities: !isNo("includesSubentities", "includeSubentities"),
      includesPendingChanges: !isNo("includesPendingChanges", "includePendingChanges"),
      returnsObjectsAsFaults: !isNo("returnsObjectsAsFaults", "returnObjectsAsFaults"),
      refreshesRefetchedObjects: false,
      includesPropertyValues: isNo("includesPropertyValues", "includePropertyValues") ? false : nil,
      isDistinct: MarkupFields.isYes(element.attributes["returnDistinctResults"]) ? true : nil)
    for field in fields.left.keys.sorted() where XcodeFormat.treatment(of: field, in: "fetchRequest") == nil {
      note(
        element,
        "\(field)=\"\(fields.left[field] ?? "")\" of the fetch request \(name) is not known, and has no effect"
      )
    }
    return (name, request)
  }

  // MARK: Parts

  func userInfo(_ element: MarkupElement) -> [String: String] {
    var info: [String: String] = [:]
    for entry in element.children {
      if let key = entry.attributes["key"] { info[key] = entry.attributes["value"] ?? "" }
    }
    return info
  }

  /// The attributes that are kept, with a note about those whose meaning is not known.
  mutating func keep(_ fields: [String: String], of element: MarkupElement, _ owner: String) -> [String:
    String]
  {
    for name in fields.keys.sorted() where XcodeFormat.treatment(of: name, in: element.name) == nil {
      note(element, "\(name)=\"\(fields[name] ?? "")\" of \(owner) is not known, and has no effect")
    }
    return fields
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

  mutating func note(_ element: MarkupElement, _ text: String) { note(element.line, text) }

  mutating func note(_ line: Int?, _ text: String) {
    notes.append("\(file)\(line.map { ", line \($0)" } ?? ""): \(text)")
  }

  mutating func mistake(_ element: MarkupElement, _ text: String) { mistake(element.line, text) }

  mutating func mistake(_ line: Int?, _ text: String) {
    mistakes.append("\(file)\(line.map { ", line \($0)" } ?? ""): \(text)")
  }
}

extension ModelDocument.Index {
  /// An index that a file describes by its properties only.
  static func xcodeIndex(of names: [String]) -> ModelDocument.Index {
    let parts = names.map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return ModelDocument.Index(
      name: "by" + parts.joined(separator: "And"), properties: names, isAscending: names.map { _ in true })
  }
}
