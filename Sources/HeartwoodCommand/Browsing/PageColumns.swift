import Heartwood

/// The columns of a table of the page: the attributes of an entity, then its to-one relationships.
struct PageColumns {
  struct Column {
    enum Content {
      case attribute, toOne
      /// The data is in a file of its own, and is read where it is shown.
      case outside
    }

    let name: String
    /// The name of its type; that of the destination for a relationship.
    let type: String
    let content: Content
    /// Whether an index has its order.
    var isIndexed = false
    /// Whether its values have an order.
    var isSortable = false

    var json: JSONValue {
      .object(
        JSONObject([
          ("name", .string(name)), ("type", .string(type)), ("isReference", .bool(content == .toOne)),
          ("isIndexed", .bool(isIndexed)), ("isSortable", .bool(isSortable)),
        ]))
    }
  }

  let columns: [Column]

  init(of entity: String, in model: DocumentModel) {
    let lineage = model.lineage(of: entity)
    let toOnes = lineage.reversed().flatMap(\.relationships).filter { !$0.isToMany }
    columns =
      Self.attributes(of: lineage)
      + toOnes.map { Column(name: $0.name, type: $0.destination, content: .toOne) }
  }

  /// The attributes of an entity, those of its ancestors first.
  ///
  /// - Parameter lineage: The entity and its ancestors.
  static func attributes(of lineage: [DocumentEntity]) -> [Column] {
    let first = Set(lineage.flatMap { $0.indexes + $0.uniquenessConstraints }.compactMap(\.first))
    return lineage.reversed().flatMap(\.attributes).map { attribute in
      let isOutside = attribute.allowsExternalStorage && attribute.type == .data
      return Column(
        name: attribute.name, type: attribute.type.rawValue, content: isOutside ? .outside : .attribute,
        isIndexed: attribute.isIndexed || attribute.isUnique || first.contains(attribute.name),
        isSortable: !isOutside && !attribute.isTransient && !unsortable.contains(attribute.type))
    }
  }

  private static let unsortable: Set<DocumentType> = [.composite, .transformable, .undefined]

  var json: JSONValue { .array(columns.map(\.json)) }

  /// The names of the relationships, whose destinations are shown by their labels.
  var references: [String] { columns.filter { $0.content == .toOne }.map(\.name) }

  /// A row of the table.
  struct Row {
    let id: ManagedObjectID
    let cells: [JSONValue]

    var json: JSONValue {
      .object(JSONObject([("id", .string(ObjectName.text(id))), ("cells", .array(cells))]))
    }
  }

  func row(of object: ManagedObject) throws -> Row {
    let cells = try columns.map { column in try cell(column, of: object) }
    return Row(id: object.objectID, cells: cells)
  }

  /// A row with what its object is called, as everywhere on the page, and the attribute that says so.
  func labelledRow(of object: ManagedObject) throws -> JSONValue {
    let row = try row(of: object)
    return .object(
      JSONObject([
        ("id", .string(ObjectName.text(row.id))), ("cells", .array(row.cells)),
        ("label", PageCell.label(object)),
        ("labelName", ObjectName.labelAttribute(of: object.entity).map(JSONValue.string) ?? .null),
      ]))
  }

  private func cell(_ column: Column, of object: ManagedObject) throws -> JSONValue {
    switch column.content {
    case .attribute: return PageCell.json(CellValue(column.name, of: object))
    case .outside:
      let count = try object.dataCount(forKey: column.name)
      return count.map { .object(JSONObject([("outside", .integer(Int64($0)))])) } ?? .null
    case .toOne:
      return Related.objects(object, column.name, isOrdered: true).first.map(PageCell.reference) ?? .null
    }
  }
}
