/// Indexes and uniqueness constraints.
extension XcodeModelReader {
  mutating func readIndex(_ element: MarkupElement, into entity: inout ModelDocument.Entity) {
    var fields = MarkupFields(element)
    guard let name = required("name", &fields, element) else { return }
    let path = "\(entity.name) \(name)"
    let owner = "the index \(name) of \(entity.name)"
    let isThere = lines.updateValue(element.line, forKey: path) != nil
    guard let index = index(element, name, owner) else { return }
    if isThere, entity.indexes.contains(index) {
      note(element, "\(owner) is there twice, and is read once")
    } else {
      entity.indexes.append(index)
    }
  }

  private mutating func index(
    _ element: MarkupElement, _ name: String, _ owner: String
  ) -> ModelDocument.Index? {
    var index = ModelDocument.Index(name: name, properties: [], isAscending: [])
    var types: [String] = []
    for part in element.children where part.name == "fetchIndexElement" {
      var fields = MarkupFields(part)
      let (property, expression) = (fields.text("property"), fields.text("expression"))
      guard let indexed = property ?? expression else {
        note(part, "an element of \(owner) has no property, and the index is left out")
        return nil
      }
      var collation: String?
      switch fields.take("type") {
      case nil, "Binary": break
      case "RTree": collation = FetchIndexElementDescription.CollationType.rTree.documentName
      case let type?:
        note(part, "\(owner) is of type \(type), and is left out")
        return nil
      }
      guard index.properties.isEmpty || index.collation == collation else {
        note(part, "\(owner) has elements of the types Binary and RTree, and is left out")
        return nil
      }
      index.collation = collation
      index.properties.append(indexed)
      types.append(resultType(&fields, part, property, expression, owner))
      index.isAscending.append(isAscending(&fields, part, owner))
    }
    if !types.allSatisfy(\.isEmpty) { index.expressionTypes = types }
    if index.properties.isEmpty { note(element, "\(owner) has no elements, and is left out") }
    return index.properties.isEmpty ? nil : index
  }

  /// The name of an expression's type; empty for a property.
  private mutating func resultType(
    _ fields: inout MarkupFields, _ element: MarkupElement, _ property: String?, _ expression: String?,
    _ owner: String
  ) -> String {
    let given = fields.text("expressionType")
    if let property {
      for (name, text) in [("expression", expression), ("expressionType", given)] {
        guard let text else { continue }
        note(
          element, "\(name)=\"\(text)\" of \(owner) has no effect, as the element is the property \(property)"
        )
      }
      return ""
    }
    guard let given else { return AttributeType.undefined.name }
    guard let type = XcodeModel.type(named: given) else {
      note(element, "expressionType=\"\(given)\" of \(owner) is not known, and is left out")
      return AttributeType.undefined.name
    }
    if let expression, !type.canBeArithmetic, expression.isArithmetic {
      note(
        element, "expressionType=\"\(given)\" of \(owner) has no effect, as \(expression) is a number")
    }
    return type.name
  }

  private mutating func isAscending(
    _ fields: inout MarkupFields, _ element: MarkupElement, _ owner: String
  ) -> Bool {
    switch fields.text("order") {
    case "descending": return false
    case nil, "ascending": return true
    case let order?:
      note(element, "order=\"\(order)\" of \(owner) is not known, and is read as ascending")
      return true
    }
  }

  /// The indexes of older files.
  mutating func readCompoundIndexes(_ element: MarkupElement, into entity: inout ModelDocument.Entity) {
    for index in element.children where index.name == "compoundIndex" {
      guard let names = values(of: "index", in: index, "a compound index of \(entity.name)") else { continue }
      entity.indexes.append(.xcodeIndex(of: names))
    }
  }

  mutating func readConstraints(_ element: MarkupElement, into entity: inout ModelDocument.Entity) {
    for constraint in element.children where constraint.name == "uniquenessConstraint" {
      let owner = "a uniqueness constraint of \(entity.name)"
      guard let names = values(of: "constraint", in: constraint, owner) else { continue }
      locate(Self.path(ofConstraint: names, entity.name), constraint)
      entity.uniquenessConstraints.append(names)
    }
  }

  static func path(ofConstraint names: [String], _ owner: String) -> String {
    "\(owner) unique \(names.joined(separator: ","))"
  }

  /// The properties that an index or a constraint names; nil if a name is missing, with a note: of fewer properties it is another one.
  private mutating func values(
    of kind: String, in element: MarkupElement, _ owner: String
  ) -> [String]? {
    var names: [String] = []
    for part in element.children where part.name == kind {
      guard let name = part.attributes["value"], !name.isEmpty else {
        note(part, "\(owner) has a <\(kind)> without a value, and is left out")
        return nil
      }
      if names.contains(name) {
        note(part, "\(owner) names \(name) twice, which is read once")
      } else {
        names.append(name)
      }
    }
    return names
  }
}

extension AttributeType {
  /// Whether values of the type can be what arithmetic gives.
  fileprivate var canBeArithmetic: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .date, .undefined: true
    default: false
    }
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
