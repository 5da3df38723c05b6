import Foundation
import Heartwood

/// The tables of a model.
///
/// Each root entity has a table for itself and all its subentities. A to-one relationship is a column with the number of its destination. A
/// to-many relationship is what refers back by its to-one inverse, or else the rows of a table of pairs.
final class PostgresSchema: Sendable {
  let name: String
  let dialect: PostgresDialect
  let tables: [PostgresTable]
  let joins: [PostgresJoin]
  private let tablesByEntity: [ObjectIdentifier: PostgresTable]
  private let sides: [String: PostgresSide]

  init(_ model: ManagedObjectModel, named name: String, _ dialect: PostgresDialect) {
    (self.name, self.dialect) = (name, dialect)
    tables = model.entities.filter { $0.superentity == nil }.map { PostgresTable($0, schema: name) }
    var byEntity: [ObjectIdentifier: PostgresTable] = [:]
    for table in tables { for entity in table.entities { byEntity[ObjectIdentifier(entity)] = table } }
    tablesByEntity = byEntity
    var (joins, sides) = ([PostgresJoin](), [String: PostgresSide]())
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
        guard !relationship.isTransient, relationship.isToMany,
          relationship.inverseRelationship?.isToMany != false,
          relationship.entity === entity, sides[relationship.fullName] == nil,
          let source = byEntity[ObjectIdentifier(entity)],
          let target = byEntity[ObjectIdentifier(relationship.destinationEntity)]
        else { continue }
        let inverse = relationship.inverseRelationship
        let name = relationship.fullName.sqlName
        let ends =
          inverse != nil && relationship.deleteRule != .noAction && inverse?.deleteRule != .noAction
        let join = PostgresJoin(
          sqlName: "\(self.name.quoted).\(name.quoted)", name: name, source: source, target: target,
          isSymmetric: inverse === relationship,
          hasReferences: dialect.hasReferences && ends, endsWithTarget: ends)
        joins.append(join)
        sides[relationship.fullName] = PostgresSide(
          join: join, own: "source", other: "target",
          position: relationship.isOrdered ? "source_position" : nil, destination: target)
        if let inverse, inverse !== relationship {
          sides[inverse.fullName] = PostgresSide(
            join: join, own: "target", other: "source",
            position: inverse.isOrdered ? "target_position" : nil, destination: source)
        }
      }
    }
    (self.joins, self.sides) = (joins, sides)
  }

  func table(_ entity: EntityDescription) -> PostgresTable {
    guard let table = tablesByEntity[ObjectIdentifier(entity)] else {
      preconditionFailure("\(entity.name ?? "?") is not of the model of the store")
    }
    return table
  }

  /// The side of a table of pairs that a to-many relationship is; nil if its inverse is a to-one relationship.
  func side(_ relationship: RelationshipDescription) -> PostgresSide? { sides[relationship.fullName] }

  /// The table and the column of the to-one inverse of a to-many relationship.
  func inverse(_ relationship: RelationshipDescription) -> (table: PostgresTable, column: PostgresColumn)? {
    guard !relationship.isTransient, let inverse = relationship.inverseRelationship, !inverse.isToMany,
      let entity = inverse.entity
    else { return nil }
    let table = table(entity)
    return (table, table.column(inverse, of: entity))
  }

  /// The table with the identifiers of transactions.
  var transactionTable: String { "\(name.quoted).\"_heartwood_transaction\"" }
  var metadataTable: String { "\(name.quoted).\"_heartwood\"" }
}

extension RelationshipDescription {
  /// The name with that of the declaring entity.
  var fullName: String { "\(entity?.name ?? "").\(name)" }
}
