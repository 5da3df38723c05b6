import Heartwood

/// An object as text or JSON.
enum ObjectText {
  static func text(_ object: ManagedObject, limit: Int, cuts: Bool) -> String {
    let properties = object.entity.properties
    let width = properties.map { TextWidth.columns(of: $0.name) }.max() ?? 0
    var lines = ["\(ObjectName.text(object.objectID))  \(object.objectID.uriRepresentation().absoluteString)"]
    for case let attribute as AttributeDescription in properties {
      let value = CellValue(attribute.name, of: object).display.escapingControls
      lines.append(line(attribute.name, width, cuts ? value.cut(toColumns: 200) : value))
    }
    for case let relationship as RelationshipDescription in properties {
      lines += self.lines(relationship, of: object, width, limit)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(_ name: String, _ width: Int, _ value: String) -> String {
    "  \(name.padded(toColumns: width))  \(value)"
  }

  /// The lines of a relationship: a to-one relationship is one line; a to-many relationship is followed by
  /// one line for each object.
  private static func lines(
    _ relationship: RelationshipDescription, of object: ManagedObject, _ width: Int, _ limit: Int
  ) -> [String] {
    let objects = Related.objects(object, relationship.name, isOrdered: relationship.isOrdered)
    guard relationship.isToMany else {
      return [line(relationship.name, width, objects.first.map { "-> \(name($0))" } ?? "-")]
    }
    let heading = line(relationship.name, width, objects.isEmpty ? "-" : "->> \(objects.count)")
    let indent = String(repeating: " ", count: width + 8)
    let listed = objects.prefix(limit).map { indent + name($0) }
    let rest = objects.count - listed.count
    return [heading] + listed + (rest > 0 ? ["\(indent)and \(rest) more (--limit 0 lists all)"] : [])
  }

  private static func name(_ object: ManagedObject) -> String {
    let label = ObjectName.label(object)?.escapingControls.cut(toColumns: ResultTable.widestCell)
    return (label.map { $0 + "  " } ?? "") + ObjectName.text(object.objectID)
  }

  /// All properties by name. References have the form of the import format.
  static func json(_ object: ManagedObject) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("@id", .string(ObjectName.text(object.objectID))),
      ("@uri", .string(object.objectID.uriRepresentation().absoluteString)),
    ]
    for property in object.entity.properties where !(property is FetchedPropertyDescription) {
      members.append((property.name, value(of: property, object).json))
    }
    return .object(JSONObject(members))
  }

  /// Some properties by name, in the form of the import format.
  ///
  /// - Parameter isWritten: Whether a destination of a relationship is among those that are written.
  static func json(
    _ object: ManagedObject, _ properties: [PropertyDescription],
    _ isWritten: (RelationshipDescription, ManagedObject) -> Bool
  ) -> JSONValue {
    let id = JSONValue.string(ObjectName.text(object.objectID))
    let members = properties.map { ($0.name, value(of: $0, object, isWritten).json) }
    return .object(JSONObject([("@id", id)] + members))
  }

  private static func value(
    of property: PropertyDescription, _ object: ManagedObject,
    _ isWritten: (RelationshipDescription, ManagedObject) -> Bool = { _, _ in true }
  ) -> CellValue {
    guard let relationship = property as? RelationshipDescription else {
      return CellValue(property.name, of: object)
    }
    let objects = Related.objects(object, relationship.name, isOrdered: relationship.isOrdered)
      .filter { isWritten(relationship, $0) }
    let names = objects.map { CellValue.reference(ObjectName.text($0.objectID)) }
    return relationship.isToMany ? .list(names) : names.first ?? .null
  }
}
