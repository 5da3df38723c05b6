import Heartwood

/// A model as text: each entity, followed by its properties in columns.
enum ModelText {
  static func text(_ model: DocumentModel) -> String {
    model.entities.map(text).joined(separator: "\n")
  }

  private static func text(_ entity: DocumentEntity) -> String {
    var lines = [title(entity)]
    let rows = entity.attributes.map(row) + entity.relationships.map(row)
    let nameWidth = rows.map { TextWidth.columns(of: $0.name) }.max() ?? 0
    let typeWidth = rows.map { TextWidth.columns(of: $0.type) }.max() ?? 0
    for row in rows {
      let type = row.marks.isEmpty ? row.type : row.type.padded(toColumns: typeWidth)
      let marks = row.marks.isEmpty ? "" : "  " + row.marks.joined(separator: ", ")
      lines.append("  \(row.name.padded(toColumns: nameWidth))  \(type)\(marks)")
    }
    for constraint in entity.uniquenessConstraints {
      lines.append("  unique together: \(constraint.joined(separator: ", "))")
    }
    for index in entity.rangeIndexes { lines.append("  indexed by ranges: \(index.joined(separator: ", "))") }
    for index in entity.indexes { lines.append("  indexed together: \(index.joined(separator: ", "))") }
    for index in entity.partialIndexes {
      let kind = index.kind == .values ? "" : " by \(index.kind.rawValue)"
      lines.append(
        "  indexed\(kind) where \(index.condition): \(index.properties.joined(separator: ", "))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func title(_ entity: DocumentEntity) -> String {
    (entity.isAbstract ? "abstract " : "") + entity.name + (entity.superentity.map { ": \($0)" } ?? "")
  }

  private static func row(_ attribute: DocumentAttribute) -> (name: String, type: String, marks: [String]) {
    let marks = [
      (attribute.isUnique, "unique"), (attribute.isIndexed, "indexed"),
      (attribute.hasFullTextIndex, "full text"),
      (attribute.preservesValueInHistoryOnDeletion, "kept in history"),
      (attribute.preservesValueInHistoryOnUpdate, "former values in history"),
      (attribute.isTransient, "transient"), (attribute.allowsExternalStorage, "external storage"),
      (attribute.derivation != nil, "derived as \(attribute.derivation ?? "")"),
      (attribute.defaultValue != nil, "default \(attribute.defaultValue.map(JSONWriter.line) ?? "")"),
    ]
    return (attribute.name, attribute.typeText, marks.filter { $0.0 }.map { $0.1 })
  }

  private static func row(_ relationship: DocumentRelationship) -> (
    name: String, type: String, marks: [String]
  ) {
    var marks: [String] = []
    if relationship.isOrdered { marks.append("ordered") }
    if relationship.isTransient { marks.append("transient") }
    if let inverse = relationship.inverse { marks.append("inverse \(inverse)") }
    if relationship.deleteRule != .nullify { marks.append("delete rule \(relationship.deleteRule.rawValue)") }
    if !relationship.isOptional { marks.append("required") }
    if relationship.minimumCount > 0 { marks.append("at least \(relationship.minimumCount)") }
    if relationship.maximumCount > 0, relationship.isToMany {
      marks.append("at most \(relationship.maximumCount)")
    }
    return (relationship.name, (relationship.isToMany ? "->> " : "-> ") + relationship.destination, marks)
  }
}
