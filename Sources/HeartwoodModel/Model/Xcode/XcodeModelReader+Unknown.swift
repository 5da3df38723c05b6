import Foundation

/// Parts that are not of the format.
extension XcodeModelReader {
  /// Notes each attribute, element and text that is not known, of an element and of all inside of it. Nothing else notes them.
  ///
  /// - Parameter owner: The name in messages of the element around it.
  mutating func noteUnknown(in element: MarkupElement, of owner: String = "") {
    let (name, short) = Self.names(of: element, in: owner)
    for (field, text) in element.attributes.sorted(by: { $0.key < $1.key })
    where XcodeFormat.treatment(of: field, in: element.name) == nil {
      note(element, "\(field)=\"\(text)\" of \(name) is not known, and has no effect")
    }
    let text = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
    if !text.isEmpty { note(element, "the text \"\(text.prefix(80))\" of \(name) has no effect") }
    for child in element.children {
      if XcodeFormat.isKnown(child.name, in: element.name) {
        noteUnknown(in: child, of: short)
      } else {
        note(child, "<\(child.name)> of \(name) is not known, and left out")
      }
    }
  }

  /// The names of an element in messages, alone and before the names of those inside of it.
  private static func names(of element: MarkupElement, in owner: String) -> (name: String, short: String) {
    let name = element.attributes["name"] ?? "without a name"
    switch element.name {
    case "model": return ("the model", "")
    case "entity": return ("the entity \(name)", name)
    case "composite", "compositeAttribute": return ("the composite \(name)", name)
    case "attribute", "relationship", "fetchedProperty": return ("\(owner).\(name)", "\(owner).\(name)")
    case "configuration": return ("the configuration \(name)", "the configuration \(name)")
    case "fetchIndex": return ("the index \(name) of \(owner)", "the index \(name) of \(owner)")
    case "fetchRequest":
      return ("the fetch request \(name)\(owner.isEmpty ? "" : " of \(owner)")", owner)
    default: return (owner.isEmpty ? "<\(element.name)>" : "<\(element.name)> of \(owner)", owner)
    }
  }
}
