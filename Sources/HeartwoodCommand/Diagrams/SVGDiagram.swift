import Foundation
import Heartwood

/// A model as a picture: a box for each entity with its properties, and lines between related ones.
enum SVGDiagram {
  /// Where the boxes of the entities are, in their order.
  static func layout(_ model: DocumentModel) -> DiagramLayout { layout(model, ModelLines(model)) }

  private static func layout(_ model: DocumentModel, _ connections: ModelLines) -> DiagramLayout {
    let lines =
      connections.inheritances.map { (upper: $0.parent, lower: $0.child) }
      + connections.associations.map { $0.pointsDown ? ($0.from, $0.to) : ($0.to, $0.from) }
    var boxes = model.entities.map(box)
    for association in connections.associations where association.from == association.to {
      let width = Double(TextWidth.columns(of: cardinalities(association))) * character
      boxes[association.from].side = max(boxes[association.from].side, loopWidth + width)
    }
    return DiagramLayout(boxes: boxes, lines: lines)
  }

  static func text(_ model: DocumentModel) -> String {
    let connections = ModelLines(model)
    let layout = layout(model, connections)
    let (width, height) = (number(layout.width), number(layout.height))
    var parts = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" width=\"\(width)\" height=\"\(height)\">",
      style,
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>",
    ]
    for (number, points) in layout.lines.enumerated() where number < connections.inheritances.count {
      parts.append(path(points, "inherits"))
      if let end = points.first { parts.append(triangle(end, points)) }
    }
    for (association, points) in zip(
      connections.associations, layout.lines.dropFirst(connections.inheritances.count))
    {
      parts +=
        association.from == association.to
        ? loop(association, of: model.entities[association.from], layout.boxes[association.from])
        : line(association, points)
    }
    for (entity, box) in zip(model.entities, layout.boxes) { parts += drawn(entity, box) }
    return (parts + ["</svg>"]).joined(separator: "\n") + "\n"
  }

  // MARK: Boxes

  private static let row = 18.0
  private static let title = 26.0
  private static let character = 7.3

  private static func rows(_ entity: DocumentEntity) -> [(name: String, type: String, isRelationship: Bool)] {
    entity.attributes.map { ($0.name, $0.typeText, false) }
      + entity.relationships.map { ($0.name, $0.destination + ($0.isToMany ? " \u{00D7}n" : ""), true) }
  }

  private static func box(_ entity: DocumentEntity) -> DiagramLayout.Box {
    let columns = rows(entity).map { TextWidth.columns(of: $0.name) + TextWidth.columns(of: $0.type) + 3 }
    let widest = max(columns.max() ?? 0, TextWidth.columns(of: entity.name) + 2, 14)
    return DiagramLayout.Box(
      width: (Double(widest) * character + 20).rounded(), height: title + Double(rows(entity).count) * row + 8
    )
  }

  private static func drawn(_ entity: DocumentEntity, _ box: DiagramLayout.Box) -> [String] {
    let (x, y, width) = (number(box.x), number(box.y), number(box.width))
    var parts = [
      "<rect class=\"box\" x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(number(box.height))\" rx=\"6\"/>",
      "<path class=\"title\" d=\"M\(x) \(number(box.y + title))v\(number(6 - title))a6 6 0 0 1 6 -6h\(number(box.width - 12))a6 6 0 0 1 6 6v\(number(title - 6))z\"/>",
      label(entity.name, box.x + box.width / 2, box.y + 17.5, entity.isAbstract ? "name abstract" : "name"),
    ]
    for (index, row) in rows(entity).enumerated() {
      let y = box.y + title + Double(index) * self.row + 16
      parts.append(label(row.name, box.x + 10, y, row.isRelationship ? "relationship" : "property"))
      parts.append(label(row.type, box.x + box.width - 10, y, "type"))
    }
    return parts
  }

  // MARK: Lines

  private static func path(_ points: [DiagramLayout.Point], _ style: String) -> String {
    guard let first = points.first else { return "" }
    var text = "M\(number(first.x)) \(number(first.y))"
    for (before, point) in zip(points, points.dropFirst()) where before != point {
      if before.x == point.x {
        text += "L\(number(point.x)) \(number(point.y))"
      } else {
        let middle = number((before.y + point.y) / 2)
        text +=
          "C\(number(before.x)) \(middle) \(number(point.x)) \(middle) \(number(point.x)) \(number(point.y))"
      }
    }
    return "<path class=\"\(style)\" d=\"\(text)\"/>"
  }

  private static func line(
    _ association: ModelLines.Association, _ points: [DiagramLayout.Point]
  ) -> [String] {
    guard let first = points.first, let last = points.last else { return [] }
    let atOwner = association.pointsDown ? first : last
    let atDestination = association.pointsDown ? last : first
    let isDown = first.y < last.y
    var parts = [path(points, "relates")]
    parts.append(
      cardinality(association.relationship, atDestination, above: (atDestination == last) == isDown))
    if let inverse = association.inverse {
      parts.append(cardinality(inverse, atOwner, above: (atOwner == last) == isDown))
    } else {
      parts.append(arrow(atDestination, isDown: (atDestination == last) == isDown))
    }
    return parts
  }

  /// A line from an entity to itself, at the row of the relationship.
  private static func loop(
    _ association: ModelLines.Association, of entity: DocumentEntity, _ box: DiagramLayout.Box
  ) -> [String] {
    let place = rows(entity).firstIndex { $0.isRelationship && $0.name == association.relationship.name }
    let (x, y) = (box.x + box.width, box.y + title + Double(place ?? 0) * row + 4)
    return [
      "<path class=\"relates\" d=\"M\(number(x)) \(number(y))c22 -4 22 18 0 14\"/>",
      label(cardinalities(association), x + loopWidth, y + 11, "cardinality"),
    ]
  }

  private static let loopWidth = 20.0

  private static func cardinalities(_ association: ModelLines.Association) -> String {
    [association.relationship, association.inverse].compactMap { $0?.cardinality }.joined(separator: " ")
  }

  private static func cardinality(
    _ relationship: DocumentRelationship, _ point: DiagramLayout.Point, above: Bool
  ) -> String {
    label(relationship.cardinality, point.x + 5, point.y + (above ? -6 : 14), "cardinality")
  }

  private static func arrow(_ tip: DiagramLayout.Point, isDown: Bool) -> String {
    let back = number(isDown ? tip.y - 8 : tip.y + 8)
    return "<path class=\"relates\" d=\"M\(number(tip.x - 4)) \(back)L\(number(tip.x)) \(number(tip.y))"
      + "L\(number(tip.x + 4)) \(back)\"/>"
  }

  private static func triangle(_ tip: DiagramLayout.Point, _ points: [DiagramLayout.Point]) -> String {
    let back = number((points.last?.y ?? tip.y) > tip.y ? tip.y + 11 : tip.y - 11)
    return "<path class=\"parent\" d=\"M\(number(tip.x - 6)) \(back)L\(number(tip.x)) \(number(tip.y))"
      + "L\(number(tip.x + 6)) \(back)z\"/>"
  }

  private static func label(_ text: String, _ x: Double, _ y: Double, _ style: String) -> String {
    "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\">\(text.escapedForMarkup(keepingLines: false))</text>"
  }

  /// With at most one digit after the point.
  private static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
  }

  private static let style = """
    <style>
    text { font: 12px ui-monospace, Menlo, "DejaVu Sans Mono", monospace; fill: #24313a; }
    .paper { fill: #ffffff; }
    .box { fill: #fbfcfd; stroke: #5b6770; }
    .title { fill: #dde7f0; stroke: #5b6770; }
    .name { font-weight: bold; text-anchor: middle; }
    .abstract { font-style: italic; font-weight: normal; }
    .relationship { fill: #1f5f99; }
    .type { text-anchor: end; fill: #6b7780; }
    .cardinality { font-size: 11px; fill: #1f5f99; }
    .relates { fill: none; stroke: #1f5f99; stroke-width: 1.2; }
    .inherits { fill: none; stroke: #5b6770; stroke-width: 1.2; }
    .parent { fill: #ffffff; stroke: #5b6770; stroke-width: 1.2; }
    </style>
    """
}
