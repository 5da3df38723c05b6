import Foundation
import Heartwood
import HeartwoodSQLite

/// Writes a whole store as a SQLite database that other tools read: a table for each entity, and one for the links of each relationship that no
/// column of the destination implies.
struct SQLiteExport {
  private let store: CommandStore
  private let writer: SQLiteWriter
  private var tables: [EntityTable] = []
  private var links: [LinkTable] = []
  private(set) var objectCount = 0

  /// The table of an entity that is not abstract.
  private struct EntityTable {
    let entity: EntityDescription
    let columns: [Column]
    let rows: SQLiteTableWriter
  }

  private struct Column {
    let name: String
    let type: String
    let property: PropertyDescription
    /// Whether it has the name of the destination's entity, beside the column with its key.
    var isEntity = false
  }

  /// The table of a relationship's links.
  private struct LinkTable {
    let relationship: RelationshipDescription
    let rows: SQLiteTableWriter
    let namesEntity: Bool
  }

  init(_ store: CommandStore, to url: URL) throws {
    self.store = store
    writer = try SQLiteWriter(url)
    let entities = store.model.entities.sorted { $0.name ?? "" < $1.name ?? "" }
    for entity in entities where !entity.isAbstract { try addTable(entity) }
    for entity in entities {
      for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
      where relationship.entity === entity && Self.hasTable(relationship) {
        try addLinks(relationship)
      }
    }
  }

  /// Writes everything, and gives the file its name.
  mutating func write() throws {
    for table in tables {
      let request = FetchRequest<ManagedObject>(entityName: table.entity.name ?? "")
      request.includesSubentities = false
      request.fetchBatchSize = 1000
      for object in try store.context.fetchInBatches(request) {
        try table.rows.insert(
          [.integer(object.objectID.number)] + table.columns.map { Self.value($0, object) })
        objectCount += 1
      }
      try store.checkReadings()
    }
    for table in links { try write(table) }
    try writer.finish()
  }

  // MARK: Tables

  private mutating func addTable(_ entity: EntityDescription) throws {
    let name = entity.name ?? ""
    var columns: [Column] = []
    for property in entity.storedProperties {
      if let attribute = property as? AttributeDescription {
        columns.append(
          Column(name: Self.columnName(property.name), type: Self.type(attribute), property: property))
      } else if let relationship = property as? RelationshipDescription {
        columns.append(Column(name: property.name, type: "INTEGER", property: property))
        if relationship.destinationEntity?.subentities.isEmpty == false {
          columns.append(
            Column(name: "\(property.name)_entity", type: "TEXT", property: property, isEntity: true))
        }
      }
    }
    let fields = columns.map { "\(SQLiteWriter.quoted($0.name)) \($0.type)" }
    let key = columns.contains { $0.name.lowercased() == "id" } ? "_id" : "id"
    let rows = try writer.createTable(
      "CREATE TABLE \(SQLiteWriter.quoted(name)) (\((["\(key) INTEGER PRIMARY KEY"] + fields).joined(separator: ", ")))"
    )
    for column in columns where column.property is RelationshipDescription && !column.isEntity {
      try writer.createIndex(
        "CREATE INDEX \(SQLiteWriter.quoted("\(name)_\(column.name)_index")) ON \(SQLiteWriter.quoted(name)) "
          + "(\(SQLiteWriter.quoted(column.name)))")
    }
    tables.append(EntityTable(entity: entity, columns: columns, rows: rows))
  }

  /// Whether the links of a relationship are in a table of their own. Of two sides that are to-many one has it.
  private static func hasTable(_ relationship: RelationshipDescription) -> Bool {
    guard relationship.isToMany, !relationship.isTransient else { return false }
    guard let inverse = relationship.inverseRelationship, inverse !== relationship else { return true }
    guard inverse.isToMany else { return relationship.isOrdered }
    if relationship.isOrdered || inverse.isOrdered { return relationship.isOrdered }
    return fullName(relationship) < fullName(inverse)
  }

  private static func fullName(_ relationship: RelationshipDescription) -> String {
    "\(relationship.entity?.name ?? "")_\(relationship.name)"
  }

  private mutating func addLinks(_ relationship: RelationshipDescription) throws {
    let name = SQLiteWriter.quoted(Self.fullName(relationship))
    let namesEntity = relationship.destinationEntity?.subentities.isEmpty == false
    var fields = ["source INTEGER", "destination INTEGER"]
    if namesEntity { fields.append("destination_entity TEXT") }
    if relationship.isOrdered { fields.append("position INTEGER") }
    let rows = try writer.createTable(
      "CREATE TABLE \(name) (\(fields.joined(separator: ", ")), PRIMARY KEY (source, destination))")
    try writer.createIndex(
      "CREATE INDEX \(SQLiteWriter.quoted(Self.fullName(relationship) + "_index")) ON \(name) (destination)")
    links.append(LinkTable(relationship: relationship, rows: rows, namesEntity: namesEntity))
  }

  private func write(_ table: LinkTable) throws {
    let request = FetchRequest<ManagedObject>(entityName: table.relationship.entity?.name ?? "")
    request.fetchBatchSize = 1000
    for object in try store.context.fetchInBatches(request) {
      for (position, id) in object.objectIDs(forRelationshipNamed: table.relationship.name).enumerated() {
        var values: [SQLiteValue] = [.integer(object.objectID.number), .integer(id.number)]
        if table.namesEntity { values.append(.text(id.entity.name ?? "")) }
        if table.relationship.isOrdered { values.append(.integer(Int64(position))) }
        try table.rows.insert(values)
      }
    }
    try store.checkReadings()
  }

  // MARK: Values

  /// An element of a composite attribute has its whole name, with `_` for the points.
  private static func columnName(_ name: String) -> String { name.replacing(".", with: "_") }

  /// Dates and decimal numbers are texts: exact, and as SQLite's functions for dates take them.
  private static func type(_ attribute: AttributeDescription) -> String {
    switch attribute.type {
    case .integer16, .integer32, .integer64, .boolean: "INTEGER"
    case .double, .float: "REAL"
    case .binaryData, .transformable: "BLOB"
    default: "TEXT"
    }
  }

  private static func value(_ column: Column, _ object: ManagedObject) -> SQLiteValue {
    if column.property is RelationshipDescription {
      guard let id = object.objectIDs(forRelationshipNamed: column.property.name).first else { return .null }
      return column.isEntity ? .text(id.entity.name ?? "") : .integer(id.number)
    }
    switch CellValue(attribute: object.value(forKey: column.property.name)) {
    case .null: return .null
    case .bool(let flag): return .integer(flag ? 1 : 0)
    case .integer(let number): return .integer(number)
    case .double(let number): return .real(number)
    case .data(let data): return .blob(Array(data))
    case let value: return .text(value.plain)
    }
  }
}

extension ManagedObjectID {
  fileprivate var number: Int64 { Int64(clamping: key) }
}
