import Foundation

/// Attributes and relationships.
extension XcodeModelReader {
  /// - Parameter owner: The name of the entity, or the path of the composite attribute.
  /// - Returns: Nil if it is left out, with a note or a mistake.
  mutating func attribute(
    _ element: MarkupElement, of owner: String, depth: Int = 0
  ) -> ModelDocument.Property? {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element) else { return nil }
    let path = "\(owner).\(name)"
    lines[path] = element.line
    let typeName = fields.text("attributeType") ?? "Undefined"
    var type = XcodeModel.type(named: typeName) ?? .string
    if XcodeModel.type(named: typeName) == nil {
      mistake(element, "\(path) is of the type \"\(typeName)\", which is not known")
    }
    _ = fields.take("indexed")
    var property = property(&fields, name, element, path)
    property.isTransient = fields.flag("transient") ? true : nil
    var elements: [ModelDocument.Property]?
    let composite = type == .composite ? element.attributes["composite"] : nil
    if type == .composite {
      elements = self.elements(&fields, element, path, depth)
      if elements == nil {
        leftOut.insert(path)
        return nil
      }
    }
    // Values that are left out, and are in the file when the model is written again.
    var kept: [String: String] = [:]
    if let composite { kept["composite"] = composite }
    var attribute = ModelDocument.Attribute(
      type: type.name, defaultValue: defaultValue(&fields, type, element, path, &kept),
      preservesValueInHistoryOnDeletion: fields.flag("preserveAfterDeletion"),
      allowsExternalBinaryDataStorage: fields.flag("allowsExternalBinaryDataStorage"),
      validationRules: rules(&fields, type, element, path, &kept), valueTransformerName: nil,
      valueClassName: nil,
      elements: elements)
    readTransformer(&fields, type, element, path, into: &attribute, &kept)
    if fields.flag("derived") {
      attribute.derivationExpression = fields.text("derivationExpression")
      if attribute.derivationExpression == nil {
        note(element, "\(path) is derived and has no derivationExpression: it is read as a usual attribute")
      }
    }
    if type == .composite, property.isTransient == true {
      property.isTransient = nil
      kept["transient"] = "YES"
      note(
        element,
        "\(path) is composite and transient, and is stored: a composite attribute cannot be transient")
    }
    if type == .undefined, property.isTransient != true {
      property.isTransient = true
      note(element, "\(path) has no type, and is read as transient: nothing of it is stored")
    }
    if depth > 0 { dropFlagsOfElement(&property, &attribute, element, path, &kept) }
    type = AttributeType(name: attribute.type) ?? type
    property.attribute = attribute
    property.modelFile = keep(fields.left, of: element, path).merging(kept) { _, kept in kept }
    return property
  }

  /// An element of a composite attribute is stored, and has a value of its own.
  private mutating func dropFlagsOfElement(
    _ property: inout ModelDocument.Property, _ attribute: inout ModelDocument.Attribute,
    _ element: MarkupElement, _ path: String, _ kept: inout [String: String]
  ) {
    if property.isTransient == true {
      property.isTransient = nil
      kept["transient"] = "YES"
      note(
        element,
        "\(path) is transient, and is stored: an element of a composite attribute cannot be transient")
    }
    if let expression = attribute.derivationExpression {
      attribute.derivationExpression = nil
      kept["derived"] = "YES"
      kept["derivationExpression"] = expression
      note(
        element, "\(path) is derived, and is not: an element of a composite attribute has a value of its own")
    }
  }

  private mutating func readTransformer(
    _ fields: inout MarkupFields, _ type: AttributeType, _ element: MarkupElement, _ path: String,
    into attribute: inout ModelDocument.Attribute, _ kept: inout [String: String]
  ) {
    let transformer = fields.text("valueTransformerName")
    let className = fields.text("customClassName")
    guard type == .transformable else {
      if let transformer {
        kept["valueTransformerName"] = transformer
        note(
          element, "valueTransformerName=\"\(transformer)\" of \(path) has no effect, as its type is \(type)")
      }
      if type == .composite {
        attribute.valueClassName = className
      } else {
        kept["customClassName"] = className
      }
      return
    }
    attribute.valueClassName = className
    attribute.valueTransformerName = transformer ?? "NSSecureUnarchiveFromData"
    if transformer == nil {
      note(
        element, "\(path) names no transformer: it is read with NSSecureUnarchiveFromData, as by Core Data")
    }
  }

  mutating func relationship(_ element: MarkupElement, of owner: String) -> ModelDocument.Property? {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element) else { return nil }
    let path = "\(owner).\(name)"
    lines[path] = element.line
    guard let destination = fields.text("destinationEntity") else {
      leftOut.insert(path)
      note(element, "\(path) has no destinationEntity, and is left out")
      return nil
    }
    var property = property(&fields, name, element, path)
    property.isTransient = fields.flag("transient") ? true : nil
    let ruleName = fields.text("deletionRule") ?? "Nullify"
    let rule = XcodeModel.deleteRules[ruleName]
    if rule == nil { mistake(element, "the delete rule of \(path) is \"\(ruleName)\", which is not known") }
    var kept: [String: String] = [:]
    let (counts, isToMany) = counts(&fields, property.isOptional, element, path, &kept)
    var isOrdered = fields.flag("ordered")
    if isOrdered, !isToMany {
      isOrdered = false
      kept["ordered"] = "YES"
      note(element, "\(path) is ordered, which has no effect, as it leads to one object")
    }
    var inverse: [String]?
    let (inverseName, inverseEntity) = (fields.text("inverseName"), fields.text("inverseEntity"))
    if let inverseName { inverse = [inverseEntity ?? destination, inverseName] }
    property.relationship = ModelDocument.Relationship(
      destination: destination, inverse: inverse, deleteRule: (rule ?? .nullifyDeleteRule).rawValue,
      minCount: counts.least, maxCount: counts.most, isOrdered: isOrdered)
    property.modelFile = keep(fields.left, of: element, path).merging(kept) { _, kept in kept }
    return property
  }

  /// The counts of destinations that a save requires.
  private mutating func counts(
    _ fields: inout MarkupFields, _ isOptional: Bool, _ element: MarkupElement, _ path: String,
    _ kept: inout [String: String]
  ) -> (counts: (least: Int, most: Int), isToMany: Bool) {
    let isToMany = fields.flag("toMany")
    let (least, most) = (
      count("minCount", &fields, element, path) ?? 0, count("maxCount", &fields, element, path) ?? 0
    )
    guard isToMany else {
      if most > 1 {
        kept["maxCount"] = "\(most)"
        note(
          element,
          "maxCount=\"\(most)\" of \(path) has no effect, as it is not toMany: it leads to one object")
      }
      // Xcode's editor writes 1 for a to-one relationship that is optional, too.
      if least > 1 || isOptional && least > 0 { kept["minCount"] = "\(least)" }
      return ((isOptional ? 0 : min(least, 1), 1), false)
    }
    if most == 1 {
      kept["toMany"] = "YES"
      if least > 1 { kept["minCount"] = "\(least)" }
      note(element, "\(path) is toMany with a maxCount of 1: it leads to one object, as in Core Data")
      return ((isOptional ? 0 : min(least, 1), 1), false)
    }
    if most > 0, least > most {
      kept["minCount"] = "\(least)"
      note(element, "minCount=\"\(least)\" of \(path) is above its maxCount of \(most), and is left out")
      return ((0, most), true)
    }
    return ((least, most), true)
  }

  mutating func fetchedProperty(_ element: MarkupElement, of owner: String) -> ModelDocument.Property? {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element) else { return nil }
    let path = "\(owner).\(name)"
    lines[path] = element.line
    guard let request = element.children.first(where: { $0.name == "fetchRequest" }) else {
      leftOut.insert(path)
      note(element, "the fetched property \(path) has no <fetchRequest>, and is left out")
      return nil
    }
    var property = property(&fields, name, element, path)
    guard let (requestName, template) = fetchRequest(request) else { return nil }
    property.fetched = template
    property.modelFile = keep(fields.left, of: element, path)
    property.modelFile?[XcodeModel.requestName] = requestName
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

  /// The elements of a composite attribute, which the file describes under a name of their own; nil if it does not, with a note.
  private mutating func elements(
    _ fields: inout MarkupFields, _ element: MarkupElement, _ path: String, _ depth: Int
  ) -> [ModelDocument.Property]? {
    let names = ["composite", "compositeAttributeName", "compositeName", "elementName"]
    let named =
      names.compactMap { fields.take($0) } + [element.attributes["customClassName"]].compactMap { $0 }
    let fallback = (element.attributes["name"] ?? "").capitalized
    guard let described = (named + [fallback]).compactMap({ composites[$0] }).first else {
      note(
        element,
        "\(path) is composite, and the file does not describe \(named.first ?? fallback): it is left out")
      return nil
    }
    guard depth < 16 else {
      note(element, "\(path) is a composite attribute of itself, and is left out")
      return nil
    }
    var made: [ModelDocument.Property] = []
    for child in described.children where child.name == "attribute" {
      if let property = attribute(child, of: path, depth: depth + 1) { made.append(property) }
    }
    if made.isEmpty { note(element, "\(path) is composite and has no elements, and is left out") }
    return made.isEmpty ? nil : made
  }
}
