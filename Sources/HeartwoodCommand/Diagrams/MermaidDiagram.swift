/// A model as a class diagram in Mermaid's notation.
///
/// Source of the notation: the documentation of Mermaid, "Class diagrams".
enum MermaidDiagram {
  static func text(_ model: DocumentModel) -> String {
    var lines = ["classDiagram"]
    for (index, entity) in model.entities.enumerated() {
      lines.append("  class \(declared(entity, index)) {")
      if entity.isAbstract { lines.append("    <<abstract>>") }
      lines += entity.attributes.map { "    \($0.typeText) \(safe($0.name))" }
      lines.append("  }")
    }
    let connections = ModelLines(model)
    for (parent, child) in connections.inheritances {
      lines.append("  \(name(model, parent)) <|-- \(name(model, child))")
    }
    for association in connections.associations { lines.append("  " + line(association, model)) }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(_ association: ModelLines.Association, _ model: DocumentModel) -> String {
    let near = association.inverse.map { " \"\($0.cardinality)\"" } ?? ""
    let arrow = association.inverse == nil ? "-->" : "--"
    let label = [association.relationship.name, association.inverse?.name].compactMap { $0 }
      .map(safe).joined(separator: " / ")
    return "\(name(model, association.from))\(near) \(arrow) "
      + "\"\(association.relationship.cardinality)\" \(name(model, association.to)) : \(label)"
  }

  private static func declared(_ entity: DocumentEntity, _ index: Int) -> String {
    isPlain(entity.name) ? entity.name : "E\(index)[\"\(safe(entity.name))\"]"
  }

  private static func name(_ model: DocumentModel, _ index: Int) -> String {
    let name = model.entities[index].name
    return isPlain(name) ? name : "E\(index)"
  }

  private static func isPlain(_ name: String) -> Bool {
    name.utf8.first.map { isLetter($0) } == true
      && name.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_") }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (65...90).contains(byte) || (97...122).contains(byte)
  }

  /// The text without characters that have a meaning in the notation.
  private static func safe(_ text: String) -> String {
    String(text.map { "\"{}[]()~<>:;`\n\r".contains($0) ? "_" : $0 })
  }
}
