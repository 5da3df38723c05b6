import Foundation

/// Findings about parts that are not of the format, and about objects that refer to each other.
extension XcodeMapping {
  /// Notes each attribute, relationship, object, element and text that is not known. Nothing else notes them.
  mutating func noteUnknown(in root: MarkupElement) {
    noteText(of: root, "<database>")
    noteFields(of: root, "<database>")
    for element in root.children where element.name != "databaseInfo" {
      guard element.name == "object" else {
        note(element.line, "<\(element.name)> is not known, and has no effect")
        continue
      }
      noteUnknown(inObject: element)
    }
  }

  private mutating func noteUnknown(inObject element: MarkupElement) {
    let type = (element.attributes["type"] ?? "").uppercased()
    let title = element.attributes["id"].flatMap { items[$0]?.title } ?? "an object"
    guard let known = XcodeMappingFormat.attributes[type] else {
      return note(element.line, "\(title) is of the type \"\(type)\", which is not known, and has no effect")
    }
    noteText(of: element, title)
    noteFields(of: element, title)
    for child in element.children {
      let name = child.attributes["name"] ?? ""
      switch child.name {
      case "attribute" where known[name.lowercased()] == nil:
        note(child.line, "\(name)=\"\(child.text.prefix(80))\" of \(title) is not known, and has no effect")
      case "relationship" where !XcodeMappingFormat.isRelationship(name.lowercased(), of: type):
        note(child.line, "the relationship \(name) of \(title) is not known, and has no effect")
      case "attribute", "relationship":
        noteFields(of: child, "\(name) of \(title)")
        if child.name == "relationship" { noteText(of: child, "\(name) of \(title)") }
        for part in child.children {
          note(part.line, "<\(part.name)> in \(name) of \(title) is not known, and has no effect")
        }
        if name.lowercased() == "autogenerateexpression" { noteFlag(child, title) }
      default: note(child.line, "<\(child.name)> of \(title) is not known, and has no effect")
      }
    }
  }

  private mutating func noteFlag(_ element: MarkupElement, _ title: String) {
    let text = element.text
    guard !text.isEmpty, !MarkupFields.isYes(text), !MarkupFields.isNo(text) else { return }
    note(
      element.line,
      "autogenerateexpression=\"\(text)\" of \(title) is neither 1 nor 0, and is read as if it were not there"
    )
  }

  private mutating func noteText(of element: MarkupElement, _ title: String) {
    let text = element.text.trimmingCharacters(in: .whitespacesAndNewlines)
    if !text.isEmpty { note(element.line, "the text \"\(text.prefix(80))\" of \(title) has no effect") }
  }

  private mutating func noteFields(of element: MarkupElement, _ title: String) {
    for (field, text) in element.attributes.sorted(by: { $0.key < $1.key })
    where !XcodeMappingFormat.isField(field, of: element.name) {
      note(element.line, "\(field)=\"\(text)\" of \(title) is not known, and has no effect")
    }
  }

  /// Notes or refuses what is in a list and does not name its owner, or names one whose list lacks it.
  mutating func checkReferences() {
    var owners: [String: [String]] = [:]
    for item in order.compactMap({ items[$0] }) {
      for (list, (_, back)) in (XcodeMappingFormat.lists[item.type] ?? [:]).sorted(by: { $0.key < $1.key }) {
        for identifier in item.references[list] ?? [] {
          owners[identifier, default: []].append(item.identifier)
          checkBack(identifier, back, list, of: item)
        }
      }
    }
    for item in order.compactMap({ items[$0] }) where owners[item.identifier] == nil { checkOwnerless(item) }
  }

  /// Checks an object that is in no list: Xcode leaves objects behind that name no owner either.
  private mutating func checkOwnerless(_ item: Item) {
    guard let backs = XcodeMappingFormat.backs[item.type] else { return }
    let named = backs.flatMap { item.references[$0] ?? [] }
    guard let owner = named.first else {
      return note(item.line, "\(item.title) is in the list of no other object, and has no effect")
    }
    mistake(
      item.line,
      "\(item.title) names \(items[owner]?.title ?? owner), whose lists lack it, and would have no effect: name \(item.identifier) there, or remove the object"
    )
  }

  /// Checks the owner that an object of a list names.
  private mutating func checkBack(_ identifier: String, _ back: String, _ list: String, of owner: Item) {
    guard let item = items[identifier] else { return }
    let named = item.references[back] ?? []
    if named.isEmpty {
      note(
        item.line,
        "\(item.title) is in \(list) of \(owner.title), and does not name it: it is read as its own")
    } else if named != [owner.identifier] {
      let other = named.compactMap { items[$0]?.title }.first ?? named.joined(separator: " ")
      mistake(
        item.line,
        "\(item.title) is in \(list) of \(owner.title), and names \(other): which is meant is not known")
    }
  }
}
