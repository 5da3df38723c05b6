import Foundation

/// Composite attributes, which a file describes under names of their own.
extension XcodeModelReader {
  mutating func readComposites(_ root: MarkupElement) {
    for element in root.children where ["composite", "compositeAttribute"].contains(element.name) {
      guard let name = element.attributes["name"], !name.isEmpty else {
        note(element, "a <\(element.name)> has no name, and is left out")
        continue
      }
      if composites.updateValue(element, forKey: name) != nil {
        note(element, "two composites are called \(name), of which this one is read")
      }
    }
  }

  mutating func noteUnusedComposites() {
    for (name, element) in composites.sorted(by: { $0.value.line < $1.value.line })
    where !usedComposites.contains(name) {
      note(element, "the composite \(name) is that of no attribute of an entity, and is left out")
    }
  }

  /// The attributes by which one of the type Composite names its description. Different versions of the editor write different ones.
  static let compositeFields = ["composite", "compositeAttributeName", "compositeName", "elementName"]

  /// The elements of a composite attribute, and the name of their description; nil if the file does not describe it, with a note.
  mutating func elements(
    _ fields: inout MarkupFields, _ element: MarkupElement, _ path: String, _ depth: Int
  ) -> (composite: String, elements: [ModelDocument.Property])? {
    var given: [(field: String, name: String)] = []
    for field in Self.compositeFields { if let name = fields.text(field) { given.append((field, name)) } }
    let others: [String?] = [
      element.attributes["customClassName"], (element.attributes["name"] ?? "").capitalized,
    ]
    let names = given.map(\.name) + others.compactMap { $0 }
    guard let name = names.first(where: { composites[$0] != nil }), let described = composites[name] else {
      note(
        element, "\(path) is composite, and the file does not describe \(names.first ?? ""): it is left out")
      return nil
    }
    for (field, other) in given where other != name {
      let reason = composites[other] == nil ? "is not described in the file" : "is another one"
      note(
        element,
        "\(field)=\"\(other)\" of \(path) has no effect, as it \(reason): its elements are those of \(name)")
    }
    usedComposites.insert(name)
    guard depth <= CompositeAttributeDescription.greatestDepth, openComposites.insert(name).inserted else {
      note(element, "\(path) is a composite attribute of itself, and is left out")
      return nil
    }
    defer { openComposites.remove(name) }
    let made = elements(of: described, path, depth)
    if made.isEmpty { note(element, "\(path) is composite and has no elements, and is left out") }
    return made.isEmpty ? nil : (name, made)
  }

  private mutating func elements(
    of described: MarkupElement, _ path: String, _ depth: Int
  ) -> [ModelDocument.Property] {
    var made: [ModelDocument.Property] = []
    var seen: Set<String> = []
    for child in described.children where child.name == "attribute" {
      elementsLeft -= 1
      if elementsLeft == 0 {
        mistake(child, "the composite attributes have more than 100000 elements in all")
      }
      guard elementsLeft > 0, let property = attribute(child, of: path, depth: depth + 1) else { continue }
      if let problem = ModelChecks.problem(ofElementName: property.name, of: path) {
        mistake(child, problem)
      } else if !seen.insert(property.name).inserted {
        mistake(child, "\(path) has two elements called \(property.name)")
      } else {
        made.append(property)
      }
    }
    return made
  }

  /// An element of a composite attribute is stored, and has a value of its own.
  mutating func dropFlagsOfElement(
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
    if MarkupFields.isYes(element.attributes["indexed"]) {
      kept["indexed"] = "YES"
      note(
        element,
        "indexed=\"YES\" of \(path) has no effect: an index of the entity names an element of a composite attribute"
      )
    }
  }
}
