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
    locate(path, element)
    let typeName = fields.text("attributeType") ?? "Undefined"
    var type = XcodeModel.type(named: typeName) ?? .string
    if XcodeModel.type(named: typeName) == nil {
      mistake(element, "\(path) is of the type \"\(typeName)\", which is not known")
    }
    if type == .undefined, depth > 0 {
      mistake(element, "\(path) has no type: an element of a composite attribute is stored, and needs one")
      type = .string
    }
    _ = flag("indexed", &fields, element, path)
    var property = property(&fields, name, element, path)
    property.isTransient = flag("transient", &fields, element, path) ? true : nil
    // Values that are left out, and are in the file when the model is written again.
    var kept: [String: String] = [:]
    var elements: [ModelDocument.Property]?
    if type == .composite {
      guard let found = self.elements(&fields, element, path, depth) else {
        leftOut.insert(path)
        return nil
      }
      kept["composite"] = found.composite
      elements = found.elements
    } else {
      for field in Self.compositeFields {
        noteNoEffect(of: field, fields.text(field), as: "its type is \(type)", element, path, &kept)
      }
    }
    var attribute = ModelDocument.Attribute(
      type: type.name, defaultValue: defaultValue(&fields, type, element, path, &kept),
      preservesValueInHistoryOnDeletion: flag("preserveAfterDeletion", &fields, element, path),
      allowsExternalBinaryDataStorage: flag("allowsExternalBinaryDataStorage", &fields, element, path),
      validationRules: rules(&fields, type, element, path, &kept), valueTransformerName: nil,
      valueClassName: nil,
      elements: elements)
    readTransformer(&fields, type, element, path, into: &attribute, &kept)
    readDerivation(&fields, element, path, into: &attribute, &kept)
    if depth == 0 { checkDerivation(&attribute, type, &property, element, path) }
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
    if depth > 0 || type == .composite { dropExternalStorage(&attribute, type, element, path, &kept) }
    noteUnusedStorage(of: attribute, type, isTransient: property.isTransient == true, element, path)
    property.attribute = attribute
    property.modelFile = fields.left.merging(kept) { _, kept in kept }
    return property
  }

  /// Notes a value that means nothing where it is, and keeps it.
  private mutating func noteNoEffect(
    of field: String, _ text: String?, as reason: String, _ element: MarkupElement, _ path: String,
    _ kept: inout [String: String]
  ) {
    guard let text else { return }
    kept[field] = text
    note(element, "\(field)=\"\(text)\" of \(path) has no effect, as \(reason)")
  }

  private mutating func readDerivation(
    _ fields: inout MarkupFields, _ element: MarkupElement, _ path: String,
    into attribute: inout ModelDocument.Attribute, _ kept: inout [String: String]
  ) {
    let expression = fields.text("derivationExpression")
    guard flag("derived", &fields, element, path) else {
      return noteNoEffect(
        of: "derivationExpression", expression, as: "it is not derived", element, path, &kept)
    }
    if let expression, !expression.allSatisfy(\.isWhitespace) {
      attribute.derivationExpression = expression
      return
    }
    (kept["derived"], kept["derivationExpression"]) = ("YES", expression)
    note(element, "\(path) is derived and has no derivationExpression: it is read as a usual attribute")
  }

  /// A derived value is stored, and is one that can be computed.
  private mutating func checkDerivation(
    _ attribute: inout ModelDocument.Attribute, _ type: AttributeType,
    _ property: inout ModelDocument.Property, _ element: MarkupElement, _ path: String
  ) {
    guard attribute.derivationExpression != nil else { return }
    switch type {
    case .transformable, .composite:
      attribute.derivationExpression = nil
      mistake(element, "\(path) is derived: an attribute of type \(type) cannot be")
    case .undefined:
      attribute.derivationExpression = nil
      mistake(element, "\(path) is derived and has no type: set its attributeType")
    default: break
    }
    guard property.isTransient == true, attribute.derivationExpression != nil else { return }
    property.isTransient = nil
    mistake(
      element, "\(path) is derived and transient: the store keeps a derived value, so that it cannot be")
  }

  /// A composite attribute is in the row with all its elements.
  private mutating func dropExternalStorage(
    _ attribute: inout ModelDocument.Attribute, _ type: AttributeType, _ element: MarkupElement,
    _ path: String, _ kept: inout [String: String]
  ) {
    guard attribute.allowsExternalBinaryDataStorage else { return }
    attribute.allowsExternalBinaryDataStorage = false
    noteNoEffect(
      of: "allowsExternalBinaryDataStorage", "YES",
      as: type == .composite ? "its type is composite" : "it is an element of a composite attribute", element,
      path, &kept)
  }

  /// Notes what an attribute says of its place in a store and cannot have.
  private mutating func noteUnusedStorage(
    of attribute: ModelDocument.Attribute, _ type: AttributeType, isTransient: Bool, _ element: MarkupElement,
    _ path: String
  ) {
    if attribute.allowsExternalBinaryDataStorage, type != .binaryData || isTransient {
      let reason = type == .binaryData ? "it is transient" : "its type is \(type)"
      note(element, "allowsExternalBinaryDataStorage=\"YES\" of \(path) has no effect, as \(reason)")
    }
    if attribute.preservesValueInHistoryOnDeletion, isTransient {
      note(element, "preserveAfterDeletion=\"YES\" of \(path) has no effect, as it is transient")
    }
  }

  private mutating func readTransformer(
    _ fields: inout MarkupFields, _ type: AttributeType, _ element: MarkupElement, _ path: String,
    into attribute: inout ModelDocument.Attribute, _ kept: inout [String: String]
  ) {
    let transformer = fields.text("valueTransformerName")
    let className = fields.text("customClassName")
    guard type == .transformable else {
      let reason = "its type is \(type)"
      noteNoEffect(of: "valueTransformerName", transformer, as: reason, element, path, &kept)
      if type == .composite {
        attribute.valueClassName = className
      } else {
        noteNoEffect(of: "customClassName", className, as: reason, element, path, &kept)
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
    locate(path, element)
    guard let destination = fields.text("destinationEntity") else {
      leftOut.insert(path)
      note(element, "\(path) has no destinationEntity, and is left out")
      return nil
    }
    var property = property(&fields, name, element, path)
    property.isTransient = flag("transient", &fields, element, path) ? true : nil
    let ruleName = fields.text("deletionRule") ?? "Nullify"
    let rule = XcodeModel.deleteRules[ruleName]
    if rule == nil { mistake(element, "the delete rule of \(path) is \"\(ruleName)\", which is not known") }
    var kept: [String: String] = [:]
    let (counts, isToMany) = counts(&fields, property.isOptional, element, path, &kept)
    var isOrdered = flag("ordered", &fields, element, path)
    if isOrdered, !isToMany {
      isOrdered = false
      kept["ordered"] = "YES"
      note(element, "\(path) is ordered, which has no effect, as it leads to one object")
    }
    let inverse = inverse(&fields, destination, element, path, &kept)
    property.relationship = ModelDocument.Relationship(
      destination: destination, inverse: inverse, deleteRule: (rule ?? .nullifyDeleteRule).rawValue,
      minCount: counts.least, maxCount: counts.most, isOrdered: isOrdered)
    property.modelFile = fields.left.merging(kept) { _, kept in kept }
    return property
  }

  /// The inverse that a relationship names: its entity and its name.
  private mutating func inverse(
    _ fields: inout MarkupFields, _ destination: String, _ element: MarkupElement, _ path: String,
    _ kept: inout [String: String]
  ) -> [String]? {
    let (name, entity) = (fields.text("inverseName"), fields.text("inverseEntity"))
    guard let name else {
      noteNoEffect(of: "inverseEntity", entity, as: "it has no inverseName", element, path, &kept)
      return nil
    }
    if entity == nil {
      note(element, "\(path) names the inverse \(name) and no inverseEntity: that of \(destination) is meant")
    }
    return [entity ?? destination, name]
  }

  /// The counts of destinations that a save requires.
  private mutating func counts(
    _ fields: inout MarkupFields, _ isOptional: Bool, _ element: MarkupElement, _ path: String,
    _ kept: inout [String: String]
  ) -> (counts: (least: Int, most: Int), isToMany: Bool) {
    for name in ["minCount", "maxCount"] {
      if let text = fields.left[name], (Int(text) ?? -1) < 0 { kept[name] = text }
    }
    let isToMany = flag("toMany", &fields, element, path)
    let least = count("minCount", &fields, element, path) ?? 0
    let given = count("maxCount", &fields, element, path)
    let most = given ?? 0
    guard isToMany else {
      if let given, given != 1 {
        noteNoEffect(
          of: "maxCount", "\(given)", as: "it is not toMany: it leads to one object", element, path, &kept)
      }
      return (toOne(least, isOptional, element, path, &kept), false)
    }
    if most == 1 {
      kept["toMany"] = "YES"
      note(element, "\(path) is toMany with a maxCount of 1: it leads to one object, as in Core Data")
      return (toOne(least, isOptional, element, path, &kept), false)
    }
    if most > 0, least > most {
      kept["minCount"] = "\(least)"
      note(element, "minCount=\"\(least)\" of \(path) is above its maxCount of \(most), and is left out")
      return ((0, most), true)
    }
    return ((least, most), true)
  }

  /// The counts of a relationship to one object.
  private mutating func toOne(
    _ least: Int, _ isOptional: Bool, _ element: MarkupElement, _ path: String, _ kept: inout [String: String]
  ) -> (least: Int, most: Int) {
    // Xcode's editor writes 1 for one that is optional, too.
    if least > 1 || isOptional && least > 0 { kept["minCount"] = "\(least)" }
    let read = isOptional ? 0 : min(least, 1)
    if least > 1 {
      note(element, "minCount=\"\(least)\" of \(path) is read as \(read), as it leads to one object")
    }
    return (read, 1)
  }

  mutating func fetchedProperty(_ element: MarkupElement, of owner: String) -> ModelDocument.Property? {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element) else { return nil }
    let path = "\(owner).\(name)"
    locate(path, element)
    let requests = element.children.filter { $0.name == "fetchRequest" }
    for other in requests.dropFirst() {
      note(other, "the fetched property \(path) has several <fetchRequest>s, of which the first is read")
    }
    guard let request = requests.first else {
      leftOut.insert(path)
      note(element, "the fetched property \(path) has no <fetchRequest>, and is left out")
      return nil
    }
    var property = property(&fields, name, element, path)
    guard let (requestName, template) = fetchRequest(request) else { return nil }
    property.fetched = template
    property.modelFile = fields.left
    property.modelFile?[XcodeModel.requestName] = requestName
    return property
  }

  /// The part that all kinds of properties have.
  private mutating func property(
    _ fields: inout MarkupFields, _ name: String, _ element: MarkupElement, _ path: String
  ) -> ModelDocument.Property {
    ModelDocument.Property(
      name: name, isOptional: flag("optional", &fields, element, path), isTransient: nil,
      renamingIdentifier: fields.text("elementID"), versionHashModifier: fields.text("versionHashModifier"),
      userInfo: userInfo(of: element, path))
  }
}
