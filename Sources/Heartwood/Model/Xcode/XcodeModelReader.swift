import Foundation

/// Reads the XML that Xcode writes for a model: the file `contents` of a `.xcdatamodel` folder.
///
/// What has no meaning for a store, such as the kind of generated code, is kept with its entity or property. What is not known is kept too,
/// and named in `notes`.
struct XcodeModelReader {
  /// What messages call the file.
  let file: String
  /// What the file has and the model does not, a sentence each.
  var notes: [String] = []
  /// The elements of composite attributes, by name.
  var composites: [String: MarkupElement] = [:]

  init(file: String) { self.file = file }

  /// - Throws: `.coreData` with file and line if the document is no model, or a value in it is wrong.
  mutating func document(of root: MarkupElement) throws(HeartwoodError) -> ModelDocument {
    guard root.name == "model" else {
      throw failure(root, "the document is a <\(root.name)>, and no <model>")
    }
    for element in root.children where element.name == "composite" || element.name == "compositeAttribute" {
      if let name = element.attributes["name"] { composites[name] = element }
    }
    var entities: [ModelDocument.Entity] = []
    var requests: [String: FetchRequestTemplate] = [:]
    var configurations: [String: [String]] = [:]
    for element in root.children {
      switch element.name {
      case "entity": entities.append(try entity(element))
      case "fetchRequest":
        let (name, request) = try fetchRequest(element)
        requests[name] = request
      case "configuration":
        var fields = MarkupFields(element)
        configurations[try fields.required("name", in: file)] = element.children.compactMap {
          $0.attributes["name"]
        }
      // The layout of the diagram, and what is read above.
      case "elements", "composite", "compositeAttribute": break
      default: note(element, "<\(element.name)> is not known, and left out")
      }
    }
    connectInverses(of: &entities)
    let version = root.attributes["userDefinedModelVersionIdentifier"] ?? ""
    var document = ModelDocument(
      versionIdentifiers: version.isEmpty ? [] : [version],
      entities: entities.sorted { $0.name < $1.name }, fetchRequests: requests.isEmpty ? nil : requests)
    document.configurations = configurations.isEmpty ? nil : configurations
    return document
  }

  // MARK: Entities

  private mutating func entity(_ element: MarkupElement) throws(HeartwoodError) -> ModelDocument.Entity {
    var fields = MarkupFields(element)
    let name = try fields.required("name", in: file)
    let className = fields.text("representedClassName")
    var entity = ModelDocument.Entity(
      name: name, className: XcodeModel.className(className), isAbstract: fields.flag("isAbstract"),
      superentity: fields.text("parentEntity"), renamingIdentifier: fields.text("elementID"),
      versionHashModifier: fields.text("versionHashModifier"), userInfo: [:], properties: [],
      uniquenessConstraints: [], indexes: [])
    for child in element.children {
      switch child.name {
      case "attribute":
        let property = try attribute(child, of: name)
        entity.properties.append(property)
        if child.attributes["indexed"] == "YES" { entity.indexes.append(.xcodeIndex(of: [property.name])) }
      case "relationship": entity.properties.append(try relationship(child, of: name))
      case "fetchedProperty":
        entity.properties.append(try fetchedProperty(child, of: name))
      case "userInfo": entity.userInfo = userInfo(child)
      case "fetchIndex": try add(child, to: &entity)
      case "uniquenessConstraints":
        entity.uniquenessConstraints = child.children.map { constraint in
          constraint.children.compactMap { $0.attributes["value"] }
        }
      case "compoundIndexes":
        for index in child.children {
          entity.indexes.append(.xcodeIndex(of: index.children.compactMap { $0.attributes["value"] }))
        }
      default: note(child, "<\(child.name)> of \(name) is not known, and left out")
      }
    }
    var kept = fields.left
    if let className, className != entity.className { kept["representedClassName"] = className }
    entity.modelFile = keep(kept, XcodeModel.silentEntityFields, of: element, "the entity \(name)")
    return entity
  }

  private mutating func add(
    _ element: MarkupElement, to entity: inout ModelDocument.Entity
  ) throws(HeartwoodError) {
    var fields = MarkupFields(element)
    let name = try fields.required("name", in: file)
    var index = ModelDocument.Index(name: name, properties: [], isAscending: [])
    var types: [String] = []
    for part in element.children where part.name == "fetchIndexElement" {
      guard let property = part.attributes["property"] ?? part.attributes["expression"] else {
        return note(
          part, "an element of the index \(name) of \(entity.name) has no property, and the index is left out"
        )
      }
      let isExpression = part.attributes["property"] == nil
      switch part.attributes["type"] {
      case nil, "Binary": break
      case "RTree": index.collation = FetchIndexElementDescription.CollationType.rTree.documentName
      case let type?:
        return note(part, "the index \(name) of \(entity.name) is of type \(type), and is left out")
      }
      index.properties.append(property)
      let type = XcodeModel.types.first { $0.name == part.attributes["expressionType"] }?.type ?? .undefined
      types.append(isExpression ? type.name : "")
      index.isAscending.append(part.attributes["order"] != "descending")
    }
    if !types.allSatisfy(\.isEmpty) { index.expressionTypes = types }
    if !index.properties.isEmpty { entity.indexes.append(index) }
  }

  /// Names the entity that declares an inverse: the file may name one that inherits it.
  private func connectInverses(of entities: inout [ModelDocument.Entity]) {
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    func declarer(of name: String, from start: String) -> String {
      var next: String? = start
      var seen: Set<String> = []
      while let entity = next, seen.insert(entity).inserted {
        if byName[entity]?.properties.contains(where: { $0.name == name }) == true { return entity }
        next = byName[entity]?.superentity
      }
      return start
    }
    for entity in entities.indices {
      for property in entities[entity].properties.indices {
        guard let inverse = entities[entity].properties[property].relationship?.inverse else { continue }
        entities[entity].properties[property].relationship?.inverse = [
          declarer(of: inverse[1], from: inverse[0]), inverse[1],
        ]
      }
    }
  }

  // MARK: Fetch requests

  mutating func fetchRequest(
    _ element: MarkupElement
  ) throws(HeartwoodError) -> (name: String, template: FetchRequestTemplate) {
    var fields = MarkupFields(element)
    let name = try fields.required("name", in: file)
    func isNo(_ name: String, _ other: String) -> Bool {
      (element.attributes[name] ?? element.attributes[other]) == "NO"
    }
    let request = FetchRequestTemplate(
      entityName: try fields.required("entity", in: file), predicate: fields.text("predicateString"),
      sort: [],
      limit: try fields.count("fetchLimit", in: file) ?? 0, offset: 0,
      batchSize: try fields.count("fetchBatchSize", in: file) ?? 0,
      includesSubentities: !isNo("includesSubentities", "includeSubentities"),
      includesPendingChanges: !isNo("includesPendingChanges", "includePendingChanges"),
      returnsObjectsAsFaults: !isNo("returnsObjectsAsFaults", "returnObjectsAsFaults"),
      refreshesRefetchedObjects: false,
      includesPropertyValues: isNo("includesPropertyValues", "includePropertyValues") ? false : nil,
      isDistinct: element.attributes["returnDistinctResults"] == "YES" ? true : nil)
    for field in fields.left.keys.sorted() where !XcodeModel.fetchRequestFields.contains(field) {
      note(
        element,
        "\(field)=\"\(fields.left[field] ?? "")\" of the fetch request \(name) is not known, and has no effect"
      )
    }
    return (name, request)
  }

  // MARK: Notes

  func userInfo(_ element: MarkupElement) -> [String: String] {
    var info: [String: String] = [:]
    for entry in element.children {
      if let key = entry.attributes["key"] { info[key] = entry.attributes["value"] ?? "" }
    }
    return info
  }

  /// The attributes that are kept, with a note about those whose meaning is not known; nil if there are none.
  mutating func keep(
    _ fields: [String: String], _ known: Set<String>, of element: MarkupElement, _ owner: String
  ) -> [String: String]? {
    for name in fields.keys.sorted() where !known.contains(name) {
      note(element, "\(name)=\"\(fields[name] ?? "")\" of \(owner) is not known, and has no effect")
    }
    return fields.isEmpty ? nil : fields
  }

  mutating func note(_ element: MarkupElement, _ text: String) {
    notes.append("\(file), line \(element.line): \(text)")
  }

  func failure(_ element: MarkupElement, _ message: String) -> HeartwoodError {
    HeartwoodError(.coreData, "\(file), line \(element.line): \(message)")
  }
}

extension ModelDocument.Index {
  /// An index that a file describes by its properties only.
  fileprivate static func xcodeIndex(of names: [String]) -> ModelDocument.Index {
    let parts = names.map { $0.prefix(1).uppercased() + $0.dropFirst() }
    return ModelDocument.Index(
      name: "by" + parts.joined(separator: "And"), properties: names, isAscending: names.map { _ in true })
  }
}
