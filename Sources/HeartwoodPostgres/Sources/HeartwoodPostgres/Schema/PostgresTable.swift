import Heartwood

/// The table of an entity and all its subentities.
///
/// `_id` is the number of an object, `_version` how often its row was written, `_entity` the name of its entity, where there are several.
final class PostgresTable: @unchecked Sendable {
  let root: EntityDescription
  /// The root and its subentities, that one first.
  let entities: [EntityDescription]
  let name: String
  /// With the schema, as in SQL.
  let sqlName: String
  private(set) var columns: [PostgresColumn] = []
  /// By entity, the indexes of the columns of `EntityDescription.storedProperties`.
  private(set) var columnsOfEntity: [ObjectIdentifier: [Int]] = [:]
  /// By declaring entity and name.
  private var columnOfProperty: [PropertyKey: Int] = [:]
  private let entitiesByName: [String: EntityDescription]

  private struct PropertyKey: Hashable {
    let entity: ObjectIdentifier
    let name: String
  }

  var isFamily: Bool { entities.count > 1 }
  /// The sequence of numbers.
  var sequence: String { (name + "_ids").sqlName }

  init(_ root: EntityDescription, schema: String) {
    self.root = root
    name = (root.name ?? "").sqlName
    sqlName = "\(schema.quoted).\(name.quoted)"
    var all = [root]
    var next = 0
    while next < all.count {
      all += all[next].subentities
      next += 1
    }
    entities = all
    entitiesByName = Dictionary(all.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    for entity in all { addColumns(of: entity) }
  }

  private func addColumns(of entity: EntityDescription) {
    let inherited = entity.superentity.flatMap { columnsOfEntity[ObjectIdentifier($0)] } ?? []
    let properties = entity.storedProperties
    var indexes: [Int] = []
    for (place, property) in properties.enumerated() {
      let key = PropertyKey(entity: ObjectIdentifier(entity), name: property.name)
      if place < inherited.count {
        indexes.append(inherited[place])
        columnOfProperty[key] = inherited[place]
        continue
      }
      // A sibling may have a property of the same name.
      let isTaken = columns.contains { $0.name == property.name.sqlName } || property.name.hasPrefix("_")
      let name = (isTaken ? "\(entity.name ?? "").\(property.name)" : property.name).sqlName
      if let attribute = property as? AttributeDescription {
        columns.append(PostgresColumn(name, attribute))
      } else {
        columns.append(PostgresColumn(name: name, kind: .reference))
      }
      indexes.append(columns.count - 1)
      columnOfProperty[key] = columns.count - 1
    }
    columnsOfEntity[ObjectIdentifier(entity)] = indexes
  }

  /// The column of an attribute or a to-one relationship of an entity of the table.
  func column(_ property: PropertyDescription, of entity: EntityDescription) -> PostgresColumn {
    let own = PropertyKey(entity: ObjectIdentifier(entity), name: property.name)
    let declaring = property.entity.map { PropertyKey(entity: ObjectIdentifier($0), name: property.name) }
    guard let index = columnOfProperty[own] ?? declaring.flatMap({ columnOfProperty[$0] }) else {
      preconditionFailure("\(entity.name ?? "?") has no column for \(property.name)")
    }
    return columns[index]
  }

  /// The entity of a name in `_entity`; the root for others.
  func entity(named name: String) -> EntityDescription { entitiesByName[name] ?? root }

  /// The column with the place of an object in an ordered relationship whose inverse is a to-one relationship.
  static func positionColumn(_ column: PostgresColumn) -> String { "\(column.name).position".sqlName }
}

/// The table of a relationship whose inverse is no to-one relationship: a row for each pair.
struct PostgresJoin: Sendable {
  /// With the schema, as in SQL.
  let sqlName: String
  let name: String
  /// The table of the objects in `source`, and of those in `target`.
  let source: PostgresTable
  let target: PostgresTable
  /// Whether the relationship is its own inverse, so that each pair is there in both directions.
  let isSymmetric: Bool
  /// Whether both sides are deleted with a row of theirs; false if a deleted object may stay a destination.
  let hasReferences: Bool
  /// Whether the store deletes the rows of a deleted destination: it is no more one, and the database has no references.
  let endsWithTarget: Bool

  /// The columns whose rows the store deletes with the object in them, for the objects of a table.
  func columnsOfDeleted(_ table: PostgresTable) -> [String] {
    if hasReferences { return [] }
    return (source === table ? ["source"] : []) + (target === table && endsWithTarget ? ["target"] : [])
  }
}

/// A to-many relationship, as the side of a join table that it reads.
struct PostgresSide: Sendable {
  let join: PostgresJoin
  /// The column of the objects that have the relationship.
  let own: String
  /// The column of the destinations.
  let other: String
  /// The column with the places of the destinations, if the relationship is ordered.
  let position: String?
  let destination: PostgresTable
}
