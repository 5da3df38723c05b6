import Heartwood

/// A model as a graph in the DOT language of Graphviz.
///
/// Source of the notation: the documentation of Graphviz, "DOT Language" and "HTML-Like Labels".
enum DotDiagram {
  static func text(_ model: DocumentModel) -> String {
    var lines = [
      "digraph Model {",
      "  rankdir = TB; nodesep = 0.5; ranksep = 0.8;",
      "  node [shape = plain, fontname = \"Helvetica\", fontsize = 11];",
      "  edge [fontname = \"Helvetica\", fontsize = 10, color = \"#5b6770\"];",
    ]
    for (index, entity) in model.entities.enumerated() {
      lines.append("  e\(index) [label = <\(table(entity))>];")
    }
    let connections = ModelLines(model)
    for (parent, child) in connections.inheritances {
      lines.append("  e\(parent) -> e\(child) [dir = back, arrowtail = onormal];")
    }
    lines += connections.associations.map { "  " + edge($0) }
    lines.append("}")
    return lines.joined(separator: "\n") + "\n"
  }

  private static func table(_ entity: DocumentEntity) -> String {
    let title = (entity.isAbstract ? "<i>\(escaped(entity.name))</i>" : "<b>\(escaped(entity.name))</b>")
    var rows = "<tr><td bgcolor=\"#dde7f0\" colspan=\"2\">\(title)</td></tr>"
    for attribute in entity.attributes {
      rows +=
        "<tr><td align=\"left\">\(escaped(attribute.name))</td>"
        + "<td align=\"left\">\(escaped(attribute.typeText))</td></tr>"
    }
    return
      "<table border=\"1\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"3\" color=\"#5b6770\">\(rows)</table>"
  }

  private static func edge(_ association: ModelLines.Association) -> String {
    let (relationship, inverse) = (association.relationship, association.inverse)
    var attributes = [
      "label = \(quoted([relationship.name, inverse?.name].compactMap { $0 }.joined(separator: " / ")))"
    ]
    let isDown = association.pointsDown
    let (tail, head) = isDown ? (association.from, association.to) : (association.to, association.from)
    let far = quoted(relationship.cardinality)
    let near = inverse.map { quoted($0.cardinality) }
    attributes.append((isDown ? "headlabel" : "taillabel") + " = \(far)")
    if let near { attributes.append((isDown ? "taillabel" : "headlabel") + " = \(near)") }
    attributes.append(
      inverse == nil ? "dir = \(isDown ? "forward" : "back"), arrowhead = vee, arrowtail = vee" : "dir = none"
    )
    return "e\(tail) -> e\(head) [\(attributes.joined(separator: ", "))];"
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: " ") + "\""
  }

  private static func escaped(_ text: String) -> String { text.escapedForMarkup(keepingLines: false) }
}
