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
  /// Of tables and indexes.
  private var names = DistinctNames()
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
    let concrete = entities.filter { !$0.isAbstract }
    // Tables of entities have their names before links and indexes get theirs.
    let tableNames = concrete.map { names.take($0.name ?? "") }
    for (entity, name) in zip(concrete, tableNames) { try addTable(entity, name) }
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

  private mutating func addTable(_ entity: EntityDescription, _ name: String) throws {
    let columns = Self.columns(of: entity)
    var taken = DistinctNames()
    for column in columns { _ = taken.take(column.name) }
    let key = taken.take(taken.has("id") ? "_id" : "id")
    let fields = columns.map { "\(SQLiteWriter.quoted($0.name)) \($0.type)" }
    let rows = try writer.createTable(
      "CREATE TABLE \(SQLiteWriter.quoted(name)) (\((["\(key) INTEGER PRIMARY KEY"] + fields).joined(separator: ", ")))"
    )
    for column in columns where column.property is RelationshipDescription && !column.isEntity {
      let index = names.take("\(name)_\(column.name)_index")
      try writer.createIndex(
        "CREATE INDEX \(SQLiteWriter.quoted(index)) ON \(SQLiteWriter.quoted(name)) (\(SQLiteWriter.quoted(column.name)))"
      )
    }
    tables.append(EntityTable(entity: entity, columns: columns, rows: rows))
  }

  /// The columns of an entity's table but for its key. Properties have their own names before others get theirs.
  private static func columns(of entity: EntityDescription) -> [Column] {
    var names = DistinctNames()
    var given: [String: String] = [:]
    let properties = entity.storedProperties
    for property in properties.filter({ !$0.name.contains(".") })
      + properties.filter({ $0.name.contains(".") })
    {
      given[property.name] = names.take(columnName(property.name))
    }
    return properties.flatMap { property -> [Column] in
      let name = given[property.name] ?? property.name
      if let attribute = property as? AttributeDescription {
        return [Column(name: name, type: type(attribute), property: property)]
      }
      guard let relationship = property as? RelationshipDescription else { return [] }
      let key = Column(name: name, type: "INTEGER", property: property)
      guard relationship.destinationEntity?.subentities.isEmpty == false else { return [key] }
      return [
        key, Column(name: names.take("\(name)_entity"), type: "TEXT", property: property, isEntity: true),
      ]
    }
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
    let table = names.take(Self.fullName(relationship))
    let name = SQLiteWriter.quoted(table)
    let namesEntity = relationship.destinationEntity?.subentities.isEmpty == false
    var fields = ["source INTEGER", "destination INTEGER"]
    if namesEntity { fields.append("destination_entity TEXT") }
    if relationship.isOrdered { fields.append("position INTEGER") }
    let rows = try writer.createTable(
      "CREATE TABLE \(name) (\(fields.joined(separator: ", ")), PRIMARY KEY (source, destination))")
    try writer.createIndex(
      "CREATE INDEX \(SQLiteWriter.quoted(names.take(table + "_index"))) ON \(name) (destination)")
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
    let value = object.value(forKey: column.property.name)
    // The number itself, not that of its digits.
    if let number = value as? Float { return .real(Double(number)) }
    switch CellValue(attribute: value) {
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
