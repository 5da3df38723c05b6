import HeartwoodModel

/// Composite attributes: their types as structs, and values of these.
extension ClassGenerator {
  /// Whether a composite attribute has no type in Swift, so that one is written.
  private func isWritten(_ composite: CompositeAttributeDescription) -> Bool {
    composite.attributeValueClassName == nil && composite.userInfo["swiftType"] == nil
  }

  /// The name of an attribute's type; nil if it has none. A type that is written has the name of its attribute, unless that is one of a
  /// class of the model or of a type that the sources use.
  func typeName(of attribute: AttributeDescription) -> String? {
    guard var name = SwiftName.type(of: attribute) else { return nil }
    guard let composite = attribute as? CompositeAttributeDescription, isWritten(composite) else {
      return name
    }
    while classes.contains(name) || SwiftName.isOfSources(name) { name += "Value" }
    return name
  }

  /// Notes the types that `structure(of:_:)` writes for a property.
  mutating func noteType(of property: PropertyDescription) {
    guard let composite = property as? CompositeAttributeDescription, isWritten(composite),
      let name = typeName(of: composite), composites[name] == nil
    else { return }
    composites[name] = composite
    for element in composite.elements { noteType(of: element) }
  }

  /// The type of a composite attribute that has none in Swift, and those of its elements; nothing if it is that of another attribute.
  mutating func structure(of composite: CompositeAttributeDescription, _ path: String) -> [String] {
    guard isWritten(composite), let name = typeName(of: composite), let first = composites[name] else {
      return []
    }
    if let own = SwiftName.type(of: composite), own != name {
      notes.append("\(path) has the type \(name): \(own) is a class of the model, or a type of a library")
    }
    guard first === composite else {
      noteDifference(of: composite, from: first, name, path)
      return []
    }
    var (lines, elements): ([String], [String]) = (
      ["", "\(access)struct \(name): \(library("CompositeValue")) {"], []
    )
    for element in composite.elements {
      let path = "\(path).\(element.name)"
      guard let (type, value) = typeAndValue(of: element) else {
        notes.append("\(path) is left out: its values have no type")
        continue
      }
      noteLosses(of: element, type, value, path)
      let property = SwiftName.property(element.name)
      let isOptional = element.isOptional || value == nil
      lines.append(
        "  \(access)var \(property): \(type)\(isOptional ? "?" : "")" + (value.map { " = \($0)" } ?? ""))
      var arguments = [SwiftName.literal(element.name), "\\\(name).\(property)"]
      if let former = element.formerName { arguments.append("renamed: \(SwiftName.literal(former))") }
      arguments += validation(of: element, path)
      elements.append("    \(library("CompositeElement"))(\(arguments.joined(separator: ", "))),")
    }
    if !access.isEmpty { lines += ["", "  \(access)init() {}"] }
    lines += ["", "  \(access)static let elements = ["] + elements + ["  ]", "}"]
    for case let element as CompositeAttributeDescription in composite.elements {
      lines += structure(of: element, "\(path).\(element.name)")
    }
    return lines
  }

  private mutating func noteDifference(
    of composite: CompositeAttributeDescription, from first: CompositeAttributeDescription, _ name: String,
    _ path: String
  ) {
    if form(of: composite) != form(of: first) {
      notes.append(
        "\(path) has other elements than another attribute of the type \(name): name a type in its user info as swiftType"
      )
    } else if composite.isOptional, !assignments(of: composite, "", beside: first).isEmpty {
      notes.append(
        "\(path) has other defaults of its elements than the type \(name), whose defaults new values have")
    }
  }

  /// The form of the elements in the type of a composite attribute, without their defaults.
  private func form(of composite: CompositeAttributeDescription) -> [String] {
    composite.elements.map { element in
      let nested = (element as? CompositeAttributeDescription).map { form(of: $0) } ?? []
      let rules = element.validationRules.compactMap { SwiftName.rule($0) }
      return
        "\(element.name) \(typeName(of: element) ?? "") \(element.isOptional) \(element.formerName ?? "") \(rules) \(nested)"
    }
  }

  /// A value with the defaults of the model: those that are not what the type gives its elements are assigned.
  func value(of composite: CompositeAttributeDescription, _ type: String) -> String {
    let first = composites[type]
    guard first !== composite else { return "\(type)()" }
    let assignments = assignments(of: composite, "value", beside: first)
    guard !assignments.isEmpty else { return "\(type)()" }
    return "{ var value = \(type)(); \(assignments.joined(separator: "; ")); return value }()"
  }

  /// - Parameter first: Has the defaults of the type; nil for a type of the program, whose elements are taken to begin empty.
  private func assignments(
    of composite: CompositeAttributeDescription, _ target: String,
    beside first: CompositeAttributeDescription?
  ) -> [String] {
    composite.elements.flatMap { element -> [String] in
      let other = first?.elements.first { $0.name == element.name }
      let target = "\(target).\(SwiftName.property(element.name))"
      if let nested = element as? CompositeAttributeDescription {
        return nested.isOptional
          ? [] : assignments(of: nested, target, beside: other as? CompositeAttributeDescription)
      }
      guard let (type, value) = typeAndValue(of: element) else { return [] }
      let usual =
        other.map { typeAndValue(of: $0)?.value } ?? SwiftName.value(of: element, type, given: nil)
      return value == usual ? [] : ["\(target) = \(value ?? "nil")"]
    }
  }
}
