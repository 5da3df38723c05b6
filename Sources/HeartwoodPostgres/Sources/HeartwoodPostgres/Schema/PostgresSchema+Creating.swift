import Foundation
import Heartwood

/// Creating the tables of a model, and checking that they are there.
extension PostgresSchema {
  /// The statements that create everything in an existing schema, in order.
  var statements: [String] {
    ownStatements + tableStatements
  }

  /// The statements that create the tables of the store itself.
  var ownStatements: [String] {
    ["CREATE TABLE \(metadataTable) (key text PRIMARY KEY, value bytea NOT NULL)", transactionStatement]
      + (dialect.hasHistory ? PostgresHistory(schema: name).statements : [])
  }

  /// The statement that creates the table with the identifiers of transactions.
  var transactionStatement: String {
    "CREATE TABLE IF NOT EXISTS \(transactionTable) (id uuid PRIMARY KEY, made timestamptz NOT NULL DEFAULT now(), "
      + "is_aborted boolean NOT NULL DEFAULT FALSE)"
  }

  /// The statements that create the tables of objects and pairs.
  var tableStatements: [String] {
    unreferencedStatements + referenceStatements
  }

  /// The statements that create the tables of objects, in which references to missing objects are not found.
  var unreferencedStatements: [String] { tables.flatMap(statements) }

  /// The statements that find them, and create the tables of pairs.
  var referenceStatements: [String] { tables.flatMap(references) + joins.flatMap(statements) }

  private func statements(_ table: PostgresTable) -> [String] {
    var parts = ["_id bigint PRIMARY KEY", "_version bigint NOT NULL"]
    if table.isFamily { parts.append("_entity text COLLATE \"C\" NOT NULL") }
    parts += table.columns.map(\.declaration)
    for position in positions(in: table) { parts.append("\(position.quoted) bigint") }
    var made = [
      "CREATE TABLE \(table.sqlName) (\(parts.joined(separator: ", ")))",
      "CREATE SEQUENCE \(name.quoted).\(table.sequence.quoted) INCREMENT \(PostgresStore.block) OWNED BY \(table.sqlName)._id",
    ]
    for (entity, constraint) in table.constraints {
      let columns = constraint.map { table.column($0, of: entity).name.quoted }.joined(separator: ", ")
      let label = PostgresSchema.constraintName(entity, constraint.map(\.name))
      if entity === table.root {
        // Checked at the end of a transaction: two objects may exchange their values.
        made.append(
          "ALTER TABLE \(table.sqlName) ADD CONSTRAINT \(label.quoted) UNIQUE (\(columns))\(deferred)"
        )
      } else {
        made.append(
          "CREATE UNIQUE INDEX \(label.quoted) ON \(table.sqlName) (\(columns)) WHERE \(Self.isOf(entity, "\"_entity\""))"
        )
      }
    }
    for entity in table.entities {
      for index in entity.indexes
      where entity.superentity?.indexes.contains(where: { $0.name == index.name }) != true {
        // Indexes of expressions are those of stores on the engine.
        let properties = index.elements.filter { $0.expression == nil }.map(\.property)
        let columns = properties.filter { ($0 as? RelationshipDescription)?.isToMany != true }
        guard !columns.isEmpty, columns.count == index.elements.count,
          columns.allSatisfy({ property in entity.storedProperties.contains { $0 === property } })
        else { continue }
        let label = "\(entity.name ?? "").\(index.name).index".sqlName
        let names = columns.map { table.column($0, of: entity).name.quoted }.joined(separator: ", ")
        made.append("CREATE INDEX IF NOT EXISTS \(label.quoted) ON \(table.sqlName) (\(names))")
      }
    }
    return made
  }

  /// The words for a constraint that is checked at the end of a transaction, where that is possible.
  private var deferred: String {
    dialect.hasDeferredConstraints ? " DEFERRABLE INITIALLY DEFERRED" : ""
  }

  /// The statements that spread the tables of some root entities and of their pairs over the servers of Citus, by the numbers of objects, and put a
  /// copy of each other table on all of them.
  ///
  /// - Throws: `.persistentStoreOpen` if one has a uniqueness constraint: no server sees all its values.
  func distribution(_ entities: Set<String>) throws -> [String] {
    guard dialect == .citus else { return [] }
    var made: [String] = []
    for table in tables {
      let isSpread = entities.contains(table.root.name ?? "")
      if isSpread, let (entity, _) = table.constraints.first {
        throw HeartwoodError(
          .persistentStoreOpen,
          "\(entity.name ?? "") cannot be distributed, because it has a uniqueness constraint: leave it out of distributed"
        )
      }
      made.append(
        isSpread
          ? "SELECT create_distributed_table(\(table.sqlName.literal), '_id')"
          : "SELECT create_reference_table(\(table.sqlName.literal))")
    }
    for join in joins {
      let isSpread = entities.contains(join.source.root.name ?? "")
      made.append(
        isSpread
          ? "SELECT create_distributed_table(\(join.sqlName.literal), 'source')"
          : "SELECT create_reference_table(\(join.sqlName.literal))")
    }
    return made
  }

  static func constraintName(_ entity: EntityDescription, _ names: [String]) -> String {
    "\(entity.name ?? "").\(names.joined(separator: ",")).unique".sqlName
  }

  /// A condition on the entity of a row.
  static func isOf(_ entity: EntityDescription, _ column: String) -> String {
    var all = [entity]
    var next = 0
    while next < all.count {
      all += all[next].subentities
      next += 1
    }
    return "\(column) IN (\(all.map { ($0.name ?? "").literal }.joined(separator: ", ")))"
  }

  /// The columns with places in ordered relationships.
  private func positions(in table: PostgresTable) -> [String] {
    table.orderedReferences.map { PostgresTable.positionColumn(table.column($0.0, of: $0.1)) }
  }

  /// The references and indexes of to-one relationships.
  private func references(of table: PostgresTable) -> [String] {
    table.toOneRelationships.flatMap { relationship, entity -> [String] in
      let column = table.column(relationship, of: entity)
      let index = "\(table.name).\(column.name).index".sqlName
      var made = ["CREATE INDEX \(index.quoted) ON \(table.sqlName) (\(column.name.quoted))"]
      if dialect.hasReferences, let inverse = relationship.inverseRelationship,
        inverse.deleteRule != .noAction
      {
        let label = "\(table.name).\(column.name).reference".sqlName
        let target = self.table(relationship.destinationEntity)
        made.append(
          "ALTER TABLE \(table.sqlName) ADD CONSTRAINT \(label.quoted) FOREIGN KEY (\(column.name.quoted)) "
            + "REFERENCES \(target.sqlName) (_id) DEFERRABLE INITIALLY DEFERRED")
      }
      return made
    }
  }

  private func statements(_ join: PostgresJoin) -> [String] {
    func reference(_ table: PostgresTable) -> String {
      join.hasReferences
        ? " REFERENCES \(table.sqlName) (_id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED" : ""
    }
    return [
      "CREATE TABLE \(join.sqlName) (source bigint NOT NULL\(reference(join.source)), target bigint NOT NULL\(reference(join.target)), "
        + "source_position bigint, target_position bigint, PRIMARY KEY (source, target))",
      "CREATE INDEX \("\(join.name).target".sqlName.quoted) ON \(join.sqlName) (target, source)",
    ]
  }

  /// Whether a store is in the schema.
  func exists(_ connection: PostgresConnection) throws -> Bool {
    let rows = try connection.query(
      "SELECT to_regclass($1::text) IS NOT NULL", [.text(metadataTable)])
    return rows.bytes(0, 0).first == 1
  }

  /// Whether transactions leave their identifiers.
  func notesTransactions(_ connection: PostgresConnection) throws -> Bool {
    let rows = try connection.query(
      "SELECT to_regclass($1::text) IS NOT NULL", [.text(transactionTable)])
    return rows.bytes(0, 0).first == 1
  }

  /// The parts of the tables that a database lacks; empty if everything is there.
  func missing(_ connection: PostgresConnection) throws -> [String] {
    let rows = try connection.query(
      "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = $1::text",
      [.text(name)])
    let found = Set((0..<rows.count).map { "\(rows.text($0, 0)).\(rows.text($0, 1))" })
    var wanted: [String] = []
    for table in tables {
      wanted += (["_id", "_version"] + table.columns.map(\.name)).map { "\(table.name).\($0)" }
    }
    for join in joins { wanted.append("\(join.name).source") }
    return wanted.filter { !found.contains($0) }
  }
}

extension PostgresTable {
  /// The uniqueness constraints, with the entities that declare them.
  var constraints: [(EntityDescription, [PropertyDescription])] {
    entities.flatMap { entity in
      entity.uniquenessConstraints.map { names in
        (entity, names.compactMap { name in entity.storedProperties.first { $0.name == name } })
      }
    }
  }

  /// The to-one relationships, with the entities that declare them.
  var toOneRelationships: [(RelationshipDescription, EntityDescription)] {
    entities.flatMap { entity in
      entity.storedProperties.compactMap { property in
        guard let relationship = property as? RelationshipDescription, relationship.entity === entity else {
          return nil
        }
        return (relationship, entity)
      }
    }
  }
}
