import Foundation

/// Writes a model as Xcode does: the file `contents` of a `.xcdatamodel` folder.
package struct XcodeModelWriter {
  /// The parts of the model that the format does not have, a sentence each.
  package private(set) var notes: [String] = []
  /// The composite attributes by the names of their descriptions.
  private var composites: [String: [ModelDocument.Property]] = [:]

  package init() {}

  /// The XML of a model.
  ///
  /// - Throws: `.coreData` if a text of the model has a character that XML does not have.
  package mutating func text(of document: ModelDocument) throws(HeartwoodError) -> String {
    var root = MarkupElement(
      "model",
      document.modelFile ?? [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0",
        "minimumToolsVersion": "Automatic", "sourceLanguage": "Swift",
      ])
    root.attributes["userDefinedModelVersionIdentifier"] = document.versionIdentifiers.first ?? ""
    if document.versionIdentifiers.count > 1 {
      notes.append("of the version identifiers \(document.versionIdentifiers) only the first is written")
    }
    for entity in document.entities { root.children.append(element(entity)) }
    for (name, request) in (document.fetchRequests ?? [:]).sorted(by: { $0.key < $1.key }) {
      root.children.append(element(name, request))
    }
    for (name, entities) in (document.configurations ?? [:]).sorted(by: { $0.key < $1.key }) {
      var configuration = MarkupElement("configuration", document.configurationFiles?[name] ?? [:])
      configuration.attributes["name"] = name
      configuration.children = entities.map { MarkupElement("memberEntity", ["name": $0]) }
      root.children.append(configuration)
    }
    // Describing a composite attribute may add those inside of it.
    var written: Set<String> = []
    while let (name, elements) = composites.sorted(by: { $0.key < $1.key }).first(where: {
      written.insert($0.key).inserted
    }) {
      var described = MarkupElement("composite", ["name": name])
      described.children = elements.map { element($0, of: name) }
      root.children.append(described)
    }
    try root.checkCharacters("")
    return "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n" + root.text(indent: 0)
  }

  // MARK: Entities

  private mutating func element(_ entity: ModelDocument.Entity) -> MarkupElement {
    var fields = entity.modelFile ?? ["syncable": "YES"]
    fields["name"] = entity.name
    let kept = fields["representedClassName"]
    if kept.map(XcodeModel.className) != entity.className {
      fields["representedClassName"] = entity.className == "ManagedObject" ? nil : entity.className
    }
    if entity.isAbstract { fields["isAbstract"] = "YES" }
    fields["parentEntity"] = entity.superentity
    fields["elementID"] = entity.renamingIdentifier
    fields["versionHashModifier"] = entity.versionHashModifier
    var element = MarkupElement("entity", fields)
    for property in entity.properties { element.children.append(self.element(property, of: entity.name)) }
    for index in entity.indexes {
      let isRange = index.collation == FetchIndexElementDescription.CollationType.rTree.documentName
      guard index.collation == nil || isRange else {
        notes.append(
          "the index \(index.name) of \(entity.name) is left out: Xcode has no index of the kind \(index.collation ?? "")"
        )
        continue
      }
      if let condition = index.condition {
        notes.append(
          "the index \(index.name) of \(entity.name) is written without its condition \"\(condition)\": Xcode's indexes have all objects"
        )
      }
      var written = MarkupElement("fetchIndex", ["name": index.name])
      for (place, property) in index.properties.enumerated() {
        var fields = [
          "type": isRange ? "RTree" : "Binary",
          "order": index.isAscending[place] ? "ascending" : "descending",
        ]
        if let type = index.expressionTypes?[place], !type.isEmpty {
          fields["expression"] = property
          fields["expressionType"] = XcodeModel.types.first { $0.type.name == type }?.name
        } else {
          fields["property"] = property
        }
        written.children.append(MarkupElement("fetchIndexElement", fields))
      }
      element.children.append(written)
    }
    if !entity.uniquenessConstraints.isEmpty {
      var all = MarkupElement("uniquenessConstraints")
      for constraint in entity.uniquenessConstraints {
        var one = MarkupElement("uniquenessConstraint")
        one.children = constraint.map { MarkupElement("constraint", ["value": $0]) }
        all.children.append(one)
      }
      element.children.append(all)
    }
    element.add(userInfo: entity.userInfo)
    return element
  }

  // MARK: Properties

  private mutating func element(_ property: ModelDocument.Property, of owner: String) -> MarkupElement {
    var fields = property.modelFile ?? [:]
    fields["name"] = property.name
    if property.isOptional { fields["optional"] = "YES" }
    if property.isTransient == true { fields["transient"] = "YES" }
    fields["elementID"] = property.renamingIdentifier
    fields["versionHashModifier"] = property.versionHashModifier
    var element = MarkupElement("attribute", fields)
    if let attribute = property.attribute {
      add(attribute, "\(owner).\(property.name)", to: &element)
    } else if let relationship = property.relationship {
      element = MarkupElement("relationship", fields)
      add(relationship, to: &element)
    } else if let request = property.fetched {
      let name = fields.removeValue(forKey: XcodeModel.requestName) ?? property.name + "FetchRequest"
      element = MarkupElement("fetchedProperty", fields)
      element.children.append(self.element(name, request))
    }
    element.add(userInfo: property.userInfo)
    return element
  }

  /// Whether a composite of this name is not described yet, or in the same way.
  private func isFree(_ name: String, for elements: [ModelDocument.Property]) -> Bool {
    guard let described = composites[name] else { return true }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return (try? encoder.encode(described)) == (try? encoder.encode(elements))
  }

  private mutating func add(
    _ attribute: ModelDocument.Attribute, _ path: String, to element: inout MarkupElement
  ) {
    let type = AttributeType(name: attribute.type) ?? .undefined
    element.attributes["attributeType"] = XcodeModel.types.first { $0.type == type }?.name
    if let text = attribute.defaultValue, [.binaryData, .transformable].contains(type) {
      element.attributes[XcodeModel.defaultData] = text
      notes.append(
        "the default value of \(path) is written as \(XcodeModel.defaultData), which Xcode does not know: it removes it when it saves the model"
      )
    } else if let text = attribute.defaultValue, type != .composite {
      let name = type == .date ? "defaultDateTimeInterval" : "defaultValueString"
      element.attributes[name] = type == .boolean ? text == "true" ? "YES" : "NO" : text
    }
    if attribute.preservesValueInHistoryOnDeletion { element.attributes["preserveAfterDeletion"] = "YES" }
    if attribute.preservesValueInHistoryOnUpdate == true {
      notes.append(
        "preservesValueInHistoryOnUpdate of \(path) is left out: Xcode's format has no place for it")
    }
    if attribute.allowsExternalBinaryDataStorage {
      element.attributes["allowsExternalBinaryDataStorage"] = "YES"
    }
    if let derivation = attribute.derivationExpression {
      element.attributes["derived"] = "YES"
      element.attributes["derivationExpression"] = derivation
    }
    if let name = attribute.valueTransformerName { element.attributes["valueTransformerName"] = name }
    if let elements = attribute.elements {
      let kept = element.attributes["composite"]
      let name = kept.flatMap { isFree($0, for: elements) ? $0 : nil } ?? path.replacing(".", with: "_")
      composites[name] = elements
      element.attributes["composite"] = name
    }
    if let className = attribute.valueClassName { element.attributes["customClassName"] = className }
    for rule in attribute.validationRules ?? [] {
      for (name, value) in rule.xcodeFields {
        if element.attributes.updateValue(value, forKey: name) != nil {
          notes.append("\(path) has two rules of one kind, of which the last is written")
        }
      }
      if rule.xcodeFields.isEmpty, rule.text != nil {
        notes.append("the rule \"\(rule)\" of \(path) is left out: Xcode has none like it")
      }
    }
  }

  private func add(_ relationship: ModelDocument.Relationship, to element: inout MarkupElement) {
    element.attributes["destinationEntity"] = relationship.destination
    if let inverse = relationship.inverse, inverse.count == 2 {
      element.attributes["inverseEntity"] = inverse[0]
      element.attributes["inverseName"] = inverse[1]
    }
    element.attributes["deletionRule"] =
      XcodeModel.deleteRules.first { $0.value.rawValue == relationship.deleteRule }?.key
    if relationship.isOrdered { element.attributes["ordered"] = "YES" }
    if relationship.maxCount != 1 { element.attributes["toMany"] = "YES" }
    for (name, count) in [("minCount", relationship.minCount), ("maxCount", relationship.maxCount)]
    where count > 0 {
      // A relationship to one object may have a count in its file that has no effect.
      if relationship.maxCount == 1, element.attributes[name] != nil { continue }
      element.attributes[name] = "\(count)"
    }
  }

  private func element(_ name: String, _ request: FetchRequestTemplate) -> MarkupElement {
    var fields = ["name": name, "entity": request.entityName]
    fields["predicateString"] = request.predicate
    if request.limit > 0 { fields["fetchLimit"] = "\(request.limit)" }
    if request.batchSize > 0 { fields["fetchBatchSize"] = "\(request.batchSize)" }
    if !request.includesSubentities { fields["includesSubentities"] = "NO" }
    if !request.includesPendingChanges { fields["includesPendingChanges"] = "NO" }
    if !request.returnsObjectsAsFaults { fields["returnsObjectsAsFaults"] = "NO" }
    if request.includesPropertyValues == false { fields["includesPropertyValues"] = "NO" }
    if request.isDistinct == true { fields["returnDistinctResults"] = "YES" }
    return MarkupElement("fetchRequest", fields)
  }
}

extension ValidationRule {
  /// The rule as attributes of an element; empty if Xcode has none like it.
  fileprivate var xcodeFields: [String: String] {
    var fields: [String: String] = [:]
    switch kind {
    case .number, .length:
      fields["minValueString"] = least
      fields["maxValueString"] = greatest
    case .date:
      fields["minDateTimeInterval"] = least
      fields["maxDateTimeInterval"] = greatest
    case .pattern: fields["regularExpressionString"] = text
    case .condition, .value: break
    }
    return fields
  }
}

extension MarkupElement {
  fileprivate mutating func add(userInfo: [String: String]) {
    guard !userInfo.isEmpty else { return }
    var info = MarkupElement("userInfo")
    for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
      info.children.append(MarkupElement("entry", ["key": key, "value": value]))
    }
    children.append(info)
  }

  /// - Parameter owner: The path of the element that this one is in, with a dot; empty for the model.
  /// - Throws: `.coreData` if a text has a character that XML does not have, which names the place.
  fileprivate func checkCharacters(_ owner: String) throws(HeartwoodError) {
    let own = attributes["name"] ?? attributes["key"]
    for (field, text) in attributes.sorted(by: { $0.key < $1.key }) {
      guard let scalar = text.unicodeScalars.first(where: { !$0.isOfMarkup }) else { continue }
      let code = String(scalar.value, radix: 16, uppercase: true)
      throw HeartwoodError(
        .coreData,
        "the model cannot be written for Xcode: \(field) of the \(name)\(own.map { " \(owner)\($0)" } ?? "") has the character "
          + "U+\(String(repeating: "0", count: 4 - code.count))\(code), which XML does not have; change the text"
      )
    }
    for child in children { try child.checkCharacters(own.map { "\(owner)\($0)." } ?? owner) }
  }

  /// The order in which Xcode writes attributes; others follow, by name.
  private static let order = [
    "name", "key", "value", "representedClassName", "parentEntity", "optional", "transient", "attributeType",
  ]

  /// The element as XML. Equal elements have equal texts.
  fileprivate func text(indent: Int) -> String {
    let space = String(repeating: " ", count: indent * 4)
    let names =
      Self.order.filter { attributes[$0] != nil }
      + attributes.keys.filter { !Self.order.contains($0) }.sorted()
    let fields = names.map { " \($0)=\"\((attributes[$0] ?? "").escapedForMarkup(keepingLines: false))\"" }
      .joined()
    guard !children.isEmpty else { return "\(space)<\(name)\(fields)/>\n" }
    return "\(space)<\(name)\(fields)>\n" + children.map { $0.text(indent: indent + 1) }.joined()
      + "\(space)</\(name)>\n"
  }
}
