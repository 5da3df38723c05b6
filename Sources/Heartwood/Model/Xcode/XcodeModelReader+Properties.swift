import Foundation

/// Attributes and relationships.
extension XcodeModelReader {
  /// - Parameter owner: The name of the entity, or the path of the composite attribute.
  mutating func attribute(
    _ element: MarkupElement, of owner: String, depth: Int = 0
  ) throws(HeartwoodError) -> ModelDocument.Property {
    var fields = MarkupFields(element)
    let name = try fields.required("name", in: file)
    let path = "\(owner).\(name)"
    let typeName = fields.text("attributeType") ?? "Undefined"
    guard let type = XcodeModel.type(named: typeName) else {
      throw failure(element, "\(path) is of the type \"\(typeName)\", which is not known")
    }
    _ = fields.take("indexed")
    var property = property(&fields, name, element, path)
    property.isTransient = fields.flag("transient") ? true : nil
    var attribute = ModelDocument.Attribute(
      type: type.name, defaultValue: try defaultValue(&fields, type, element, path),
      preservesValueInHistoryOnDeletion: fields.flag("preserveAfterDeletion"),
      allowsExternalBinaryDataStorage: fields.flag("allowsExternalBinaryDataStorage"),
      validationRules: try rules(&fields, type, element, path),
      valueTransformerName: fields.text("valueTransformerName"), valueClassName: nil)
    if type == .composite {
      attribute.elements = try elements(&fields, element, path, depth)
    } else {
      attribute.valueClassName = fields.text("customClassName")
    }
    if type == .transformable, attribute.valueTransformerName == nil {
      attribute.valueTransformerName = "NSSecureUnarchiveFromData"
      note(
        element, "\(path) names no transformer: it is read with NSSecureUnarchiveFromData, as by Core Data")
    }
    if fields.flag("derived") {
      attribute.derivationExpression = try fields.required("derivationExpression", in: file)
    }
    property.attribute = attribute
    property.modelFile = keep(fields.left, XcodeModel.silentAttributeFields, of: element, path)
    return property
  }

  mutating func relationship(
    _ element: MarkupElement, of owner: String
  ) throws(HeartwoodError) -> ModelDocument.Property {
    var fields = MarkupFields(element)
    let name = try fields.required("name", in: file)
    let path = "\(owner).\(name)"
    var property = property(&fields, name, element, path)
    property.isTransient = fields.flag("transient") ? true : nil
    let isToMany = fields.flag("toMany")
    let ruleName = fields.text("deletionRule") ?? "Nullify"
    guard let rule = XcodeModel.deleteRules[ruleName] else {
      throw failure(element, "the delete rule of \(path) is \"\(ruleName)\", which is not known")
    }
    let (least, most) = (try fields.count("minCount", in: file), try fields.count("maxCount", in: file))
    var inverse: [String]?
    if let name = fields.text("inverseName") {
      inverse = [fields.text("inverseEntity") ?? element.attributes["destinationEntity"] ?? "", name]
    }
    property.relationship = ModelDocument.Relationship(
      destination: try fields.required("destinationEntity", in: file), inverse: inverse,
      deleteRule: rule.rawValue,
      // Xcode's editor writes 1 for a to-one relationship that is optional, too.
      minCount: isToMany ? least ?? 0 : property.isOptional ? 0 : min(least ?? 0, 1),
      maxCount: isToMany ? most ?? 0 : 1, isOrdered: fields.flag("ordered"))
    property.modelFile = keep(fields.left, XcodeModel.silentRelationshipFields, of: element, path)
    return property
  }

  mutating func fetchedProperty(
    _ element: MarkupElement, of owner: String
  ) throws(HeartwoodError) -> ModelDocument.Property {
    var fields = MarkupFields(element)
    let name = try fields.required("name", in: file)
    let path = "\(owner).\(name)"
    guard let request = element.children.first(where: { $0.name == "fetchRequest" }) else {
      throw failure(element, "the fetched property \(path) has no <fetchRequest>")
    }
    var property = property(&fields, name, element, path)
    property.fetched = try fetchRequest(request).template
    property.modelFile = keep(fields.left, XcodeModel.silentRelationshipFields, of: element, path)
    return property
  }

  /// What all kinds of properties have.
  private mutating func property(
    _ fields: inout MarkupFields, _ name: String, _ element: MarkupElement, _ path: String
  ) -> ModelDocument.Property {
    ModelDocument.Property(
      name: name, isOptional: fields.flag("optional"), isTransient: nil,
      renamingIdentifier: fields.text("elementID"), versionHashModifier: fields.text("versionHashModifier"),
      userInfo: children(of: element, path))
  }

  /// The user info of a property.
  private mutating func children(of element: MarkupElement, _ path: String) -> [String: String] {
    var info: [String: String] = [:]
    for child in element.children {
      if child.name == "userInfo" {
        info = userInfo(child)
      } else if child.name != "fetchRequest" || element.name != "fetchedProperty" {
        note(child, "<\(child.name)> of \(path) is not known, and left out")
      }
    }
    return info
  }

  /// The elements of a composite attribute, which the file describes under a name of their own.
  private mutating func elements(
    _ fields: inout MarkupFields, _ element: MarkupElement, _ path: String, _ depth: Int
  ) throws(HeartwoodError) -> [ModelDocument.Property] {
    let names = ["compositeAttributeName", "compositeName", "elementName", "customClassName"]
    let named = names.compactMap { fields.take($0) }
    let fallback = (element.attributes["name"] ?? "").capitalized
    guard depth < 16, let described = (named + [fallback]).compactMap({ composites[$0] }).first else {
      throw failure(
        element, "\(path) is composite, and the file does not describe \(named.first ?? fallback)")
    }
    var made: [ModelDocument.Property] = []
    for child in described.children where child.name == "attribute" {
      made.append(try attribute(child, of: path, depth: depth + 1))
    }
    return made
  }

  // MARK: Values

  private mutating func defaultValue(
    _ fields: inout MarkupFields, _ type: AttributeType, _ element: MarkupElement, _ path: String
  ) throws(HeartwoodError) -> String? {
    if type == .date {
      let text = fields.text("defaultDateTimeInterval")
      if let words = fields.text("defaultValueString"), text == nil {
        note(
          element, "the default date of \(path) is \"\(words)\", which depends on the moment, and is left out"
        )
      }
      return try text.map { (text) throws(HeartwoodError) in
        try value(text, type, element, path, "default value")
      }
    }
    if [.binaryData, .transformable].contains(type), let text = fields.take(XcodeModel.defaultData) {
      return try value(text, type, element, path, "default value")
    }
    // An empty text is a default value of a text.
    guard let text = fields.take("defaultValueString"), type == .string || !text.isEmpty else { return nil }
    guard [.binaryData, .transformable, .undefined, .composite].contains(type) else {
      return try value(text, type, element, path, "default value")
    }
    note(element, "the default value \"\(text)\" of \(path) is left out, as its type is \(type)")
    return nil
  }

  /// The text of a value as a model stores it.
  private func value(
    _ text: String, _ type: AttributeType, _ element: MarkupElement, _ path: String, _ what: String
  ) throws(HeartwoodError) -> String {
    var text = text
    switch type {
    case .boolean:
      switch text.uppercased() {
      case "YES", "TRUE", "1": text = "true"
      case "NO", "FALSE", "0": text = "false"
      default: break
      }
    case .integer16, .integer32, .integer64:
      if let number = Double(text), let whole = Int64(exactly: number) { text = "\(whole)" }
    default: break
    }
    guard let plain = Value(plainText: text, type: type)?.plainText else {
      throw failure(element, "the \(what) of \(path), \"\(text)\", is no \(type)")
    }
    return plain
  }

  private mutating func rules(
    _ fields: inout MarkupFields, _ type: AttributeType, _ element: MarkupElement, _ path: String
  ) throws(HeartwoodError) -> [ValidationRule]? {
    var rules: [ValidationRule] = []
    let isDate = type == .date
    let least = fields.text(isDate ? "minDateTimeInterval" : "minValueString")
    let most = fields.text(isDate ? "maxDateTimeInterval" : "maxValueString")
    if least != nil || most != nil {
      guard let rule = XcodeModel.rule(type, least, most) else {
        throw failure(
          element, "the limits of \(path), \(least ?? "none") and \(most ?? "none"), are none for \(type)")
      }
      rules.append(rule)
    }
    if let pattern = fields.text("regularExpressionString") { rules.append(.pattern(pattern)) }
    return rules.isEmpty ? nil : rules
  }
}
