import Foundation
import Heartwood

/// Brings the tables of a store to another model, in one transaction: those of the new model are made in a schema beside the store's, filled
/// from the former ones, and take their places.
///
/// Objects keep their numbers and versions. All rows are copied, whatever the change is. No other program may use the store meanwhile.
struct PostgresMigration {
  private let migration: InferredMigration
  private let old: PostgresSchema
  private let new: PostgresSchema
  private let store: PostgresStore
  private let connection: PostgresConnection

  init(_ migration: InferredMigration, _ store: PostgresStore, _ connection: PostgresConnection) {
    (self.migration, self.store, self.connection) = (migration, store, connection)
    let schema: PostgresSchema = store.schema
    old = PostgresSchema(migration.sourceModel, named: schema.name, schema.dialect)
    new = PostgresSchema(migration.destinationModel, named: old.nameOfSuccessor, schema.dialect)
  }

  /// - Precondition: A transaction has begun.
  /// - Throws: `.migration` if a value has no place in the new tables.
  func run() throws {
    try new.dropRemains(connection)
    try connection.run("CREATE SCHEMA \(new.name.quoted)")
    for statement in try new.tableStatements + new.distribution(store.address.distributed) {
      try connection.run(statement)
    }
    for table in new.tables {
      for entity in table.entities where !entity.isAbstract { try fill(table, entity) }
      try advanceNumbers(of: table)
    }
    for table in new.tables { try dropDanglingReferences(of: table) }
    try fillJoins()
    try connection.run("SET CONSTRAINTS ALL IMMEDIATE")
    try old.replaceTables(by: new, connection)
  }

  // MARK: Rows

  private func fill(_ table: PostgresTable, _ entity: EntityDescription) throws {
    guard let source = migration.source(of: entity) else { return }
    let former = old.table(source)
    var values = [("_id", "_id"), ("_version", "_version")]
    if table.isFamily { values.append(("_entity", (entity.name ?? "").literal)) }
    for property in entity.storedProperties {
      let column = table.column(property, of: entity)
      values.append((column.name, value(property, entity, column, former, source)))
    }
    values += positions(table, entity, former, source)
    let isOf = former.isFamily ? " WHERE _entity = \((source.name ?? "").literal)" : ""
    try connection.run(
      "INSERT INTO \(table.sqlName) (\(values.map { $0.0.quoted }.joined(separator: ", "))) "
        + "SELECT \(values.map(\.1).joined(separator: ", ")) FROM \(former.sqlName)\(isOf)")
    for case let attribute as AttributeDescription in entity.storedProperties {
      try convert(attribute, entity, table, former, source)
    }
    try requireValues(table, entity)
  }

  /// How many values are converted at once.
  private static let convertedAtOnce = 5000

  /// Writes the values of an attribute whose type has changed in a way that the server has no expression for: such as the texts of numbers.
  private func convert(
    _ attribute: AttributeDescription, _ entity: EntityDescription, _ table: PostgresTable,
    _ former: PostgresTable, _ source: EntityDescription
  ) throws {
    guard let known = migration.source(of: attribute, in: entity) as? AttributeDescription,
      !(attribute is DerivedAttributeDescription && migration.derivesAnew(entity))
    else { return }
    let (column, before) = (table.column(attribute, of: entity), former.column(known, of: source))
    guard column.converted("", from: before.kind) == nil else { return }
    let isOf = table.isFamily ? " AND n._entity = \((entity.name ?? "").literal)" : ""
    let sql =
      "SELECT n._id, \(before.selected("f")) FROM \(table.sqlName) n JOIN \(former.sqlName) f ON f._id = n._id "
      + "WHERE n._id > $1::int8 AND f.\(before.name.quoted) IS NOT NULL\(isOf) ORDER BY n._id LIMIT \(Self.convertedAtOnce)"
    var last: Int64 = .min
    while true {
      let rows = try connection.query(sql, [.integer(last)])
      guard rows.count > 0 else { return }
      let values = (0..<rows.count).map { row in
        (
          number: rows.integer(row, 0),
          values: [migration.converted(before.kind.value(rows, row, 1), from: known, to: attribute)]
        )
      }
      try store.set([column], values, nil, table, connection)
      last = rows.integer(rows.count - 1, 0)
    }
  }

  /// The value of a column, as an expression over the former row.
  private func value(
    _ property: PropertyDescription, _ entity: EntityDescription, _ column: PostgresColumn,
    _ former: PostgresTable, _ source: EntityDescription
  ) -> String {
    guard let attribute = property as? AttributeDescription else {
      let known = migration.source(of: property, in: entity) as? RelationshipDescription
      guard let known, !known.isToMany else { return "NULL" }
      return former.column(known, of: source).name.quoted
    }
    // It is computed at the end.
    if attribute is DerivedAttributeDescription, migration.derivesAnew(entity) { return "NULL" }
    let preset = column.literal(migration.defaultValue(of: attribute, in: entity))
    guard let known = migration.source(of: attribute, in: entity) else { return preset }
    let before = former.column(known, of: source)
    guard let converted = column.converted(before.name.quoted, from: before.kind) else {
      // See `convert`.
      return attribute.isOptional
        ? "NULL" : "CASE WHEN \(before.name.quoted) IS NULL THEN \(preset) END"
    }
    return attribute.isOptional || preset == "NULL" ? converted : "COALESCE(\(converted), \(preset))"
  }

  /// The places in the lists of those whose to-one relationships have an ordered inverse.
  private func positions(
    _ table: PostgresTable, _ entity: EntityDescription, _ former: PostgresTable, _ source: EntityDescription
  ) -> [(String, String)] {
    table.orderedReferences.filter { entity.isKindOf(entity: $0.1) }.map { relationship, owner in
      let name = PostgresTable.positionColumn(table.column(relationship, of: owner))
      guard let known = migration.source(of: relationship, in: entity) as? RelationshipDescription,
        !known.isToMany
      else { return (name, "NULL") }
      let before = former.column(known, of: source)
      guard known.hasOrderedInverse else {
        let place = "row_number() OVER (PARTITION BY \(before.name.quoted) ORDER BY _id) - 1"
        return (name, "CASE WHEN \(before.name.quoted) IS NOT NULL THEN \(place) END")
      }
      return (name, PostgresTable.positionColumn(before).quoted)
    }
  }

  /// - Throws: `.migration` if an attribute that is not optional any more has no value somewhere.
  private func requireValues(_ table: PostgresTable, _ entity: EntityDescription) throws {
    for case let attribute as AttributeDescription in entity.storedProperties
    where !attribute.isOptional && !(attribute is DerivedAttributeDescription) {
      let known = migration.source(of: attribute, in: entity) as? AttributeDescription
      guard known?.isOptional != false else { continue }
      let column = table.column(attribute, of: entity).name.quoted
      let isOf = table.isFamily ? " AND _entity = \((entity.name ?? "").literal)" : ""
      let rows = try connection.query(
        "SELECT count(*), min(_id) FROM \(table.sqlName) WHERE \(column) IS NULL\(isOf)")
      guard rows.integer(0, 0) > 0 else { continue }
      throw HeartwoodError(
        .migration,
        "\(entity.name ?? "").\(attribute.name) is not optional any more, and \(rows.integer(0, 0)) objects have no value, such as the one with the number "
          + "\(rows.integer(0, 1)): give it a default value, or make it optional",
        property: attribute.name)
    }
  }

  /// Objects that are made later get no number that an object had.
  private func advanceNumbers(of table: PostgresTable) throws {
    guard let source = table.entities.lazy.compactMap(migration.source).first else { return }
    let former = old.table(source)
    try connection.run(
      "SELECT setval(\(sequence(table, new).literal)::regclass, last_value, is_called) FROM \(sequence(former, old))"
    )
  }

  private func sequence(_ table: PostgresTable, _ schema: PostgresSchema) -> String {
    "\(schema.name.quoted).\(table.sequence.quoted)"
  }

  /// Removes references to objects that are not there any more.
  private func dropDanglingReferences(of table: PostgresTable) throws {
    for (relationship, owner) in table.toOneRelationships
    where relationship.inverseRelationship.map({ $0.deleteRule != .noAction }) == true {
      let column = table.column(relationship, of: owner)
      let target = new.table(relationship.destinationEntity)
      let position =
        relationship.hasOrderedInverse ? ", \(PostgresTable.positionColumn(column).quoted) = NULL" : ""
      try connection.run(
        "UPDATE \(table.sqlName) t SET \(column.name.quoted) = NULL\(position) WHERE \(column.name.quoted) IS NOT NULL "
          + "AND NOT EXISTS (SELECT 1 FROM \(target.sqlName) d WHERE d._id = t.\(column.name.quoted))")
    }
  }

  // MARK: Pairs

  private func fillJoins() throws {
    var filled: Set<String> = []
    for entity in migration.destinationModel.entities {
      for relationship in entity.relationshipsByName.values where relationship.entity === entity {
        guard let side = new.side(relationship), side.own == "source",
          filled.insert(side.join.name).inserted
        else { continue }
        try fill(side.join, relationship, entity)
      }
    }
  }

  private func fill(
    _ join: PostgresJoin, _ relationship: RelationshipDescription, _ entity: EntityDescription
  )
    throws
  {
    guard let pairs = pairs(of: relationship, entity) else { return }
    let inverse = relationship.inverseRelationship
    func place(_ isOrdered: Bool, _ known: String, _ own: String, _ other: String) -> String {
      isOrdered ? "COALESCE(\(known), row_number() OVER (PARTITION BY \(own) ORDER BY \(other)) - 1)" : "NULL"
    }
    let exist =
      join.hasReferences
      ? " WHERE EXISTS (SELECT 1 FROM \(join.source.sqlName) s WHERE s._id = p.source) "
        + "AND EXISTS (SELECT 1 FROM \(join.target.sqlName) d WHERE d._id = p.target)" : ""
    try connection.run(
      "INSERT INTO \(join.sqlName) (source, target, source_position, target_position) SELECT source, target, "
        + "\(place(relationship.isOrdered, "source_position", "source", "target")), "
        + "\(place(inverse?.isOrdered == true, "target_position", "target", "source")) FROM (\(pairs)) p\(exist)"
    )
  }

  /// The former pairs of a relationship, as a SELECT of `source`, `target` and their places; nil if there were none.
  private func pairs(of relationship: RelationshipDescription, _ entity: EntityDescription) -> String? {
    if let known = source(of: relationship) { return pairs(of: known) }
    guard let inverse = relationship.inverseRelationship, let known = source(of: inverse) else { return nil }
    return "SELECT target AS source, source AS target, target_position AS source_position, "
      + "source_position AS target_position FROM (\(pairs(of: known))) r"
  }

  /// The source of a relationship, as its own entity or a subentity has it.
  private func source(of relationship: RelationshipDescription) -> RelationshipDescription? {
    guard var all = relationship.entity.map({ [$0] }) else { return nil }
    var next = 0
    while next < all.count {
      if let known = migration.source(of: relationship, in: all[next]) as? RelationshipDescription {
        return known
      }
      all += all[next].subentities
      next += 1
    }
    return nil
  }

  private func pairs(of known: RelationshipDescription) -> String {
    if let side = old.side(known) {
      let (own, other) = (side.own, side.other)
      return "SELECT \(own) AS source, \(other) AS target, \(own)_position AS source_position, "
        + "\(other)_position AS target_position FROM \(side.join.sqlName)"
    }
    if let (table, column) = old.inverse(known) {
      let position =
        known.isOrdered ? PostgresTable.positionColumn(column).quoted : "NULL::bigint"
      return "SELECT \(column.name.quoted) AS source, _id AS target, \(position) AS source_position, "
        + "NULL::bigint AS target_position FROM \(table.sqlName) WHERE \(column.name.quoted) IS NOT NULL"
    }
    guard let owner = known.entity else { preconditionFailure("\(known.name) is of no entity") }
    let table = old.table(owner)
    let column = table.column(known, of: owner)
    let position =
      known.hasOrderedInverse ? PostgresTable.positionColumn(column).quoted : "NULL::bigint"
    return "SELECT _id AS source, \(column.name.quoted) AS target, NULL::bigint AS source_position, "
      + "\(position) AS target_position FROM \(table.sqlName) WHERE \(column.name.quoted) IS NOT NULL"
  }
}

extension PostgresSchema {
  /// The name of a schema beside this one, in which the tables of a later model are made.
  var nameOfSuccessor: String { "\(name).migrating".sqlName }

  /// Removes what a migration by a mapping model left in this schema that was interrupted. Fails if the schema has things of others.
  func dropRemains(_ connection: PostgresConnection) throws {
    try connection.run("DROP SCHEMA IF EXISTS \(name.quoted)\(exists(connection) ? " CASCADE" : "")")
  }

  /// Puts the tables of another schema, which goes away, in the place of these.
  ///
  /// Without CASCADE: what others have made of the tables, such as a view, is not removed with them.
  func replaceTables(by new: PostgresSchema, _ connection: PostgresConnection) throws {
    let former = tables.map(\.sqlName) + joins.map(\.sqlName)
    if !former.isEmpty { try connection.run("DROP TABLE \(former.joined(separator: ", "))") }
    for table in new.tables.map(\.sqlName) + new.joins.map(\.sqlName) {
      try connection.run("ALTER TABLE \(table) SET SCHEMA \(name.quoted)")
    }
    try connection.run("DROP SCHEMA \(new.name.quoted)")
  }
}

extension PostgresTable {
  /// The to-one relationships whose inverse is ordered, with the entities that declare them.
  var orderedReferences: [(RelationshipDescription, EntityDescription)] {
    toOneRelationships.filter { $0.0.hasOrderedInverse }
  }
}

extension RelationshipDescription {
  /// Whether the inverse is a to-many relationship with an order.
  var hasOrderedInverse: Bool { inverseRelationship.map { $0.isToMany && $0.isOrdered } == true }
}

extension PostgresColumn {
  /// A value as a constant in SQL.
  func literal(_ value: StoredValue) -> String {
    switch value {
    case .null, .object: "NULL"
    case .integer(let number): "(\(number))"
    case .double(let number), .date(let number): "'\(number)'::double precision"
    case .decimal(let number): "'\(number.isNaN ? "NaN" : "\(number)")'::numeric"
    case .boolean(let value): value ? "true" : "false"
    case .string(let text): text.literal
    case .data(let data): "'\\x\(data.map { String(format: "%02x", $0) }.joined())'::bytea"
    case .uuid(let uuid): "'\(uuid.uuidString)'::uuid"
    }
  }

  /// A former column's value in this column; nil if the server does not convert it as Heartwood does.
  func converted(_ value: String, from former: Kind) -> String? {
    switch (former, kind) {
    case (.smallint, .smallint), (.integer, .integer), (.bigint, .bigint), (.real, .real), (.double, .double),
      (.boolean, .boolean), (.text, .text), (.bytea, .bytea), (.uuid, .uuid), (.numeric, .numeric),
      (.date, .date):
      value
    case (.smallint, .integer), (.smallint, .bigint), (.integer, .bigint): value
    case (.smallint, .real), (.smallint, .double), (.integer, .double), (.real, .double):
      "\(value)::double precision"
    case (.smallint, .numeric), (.integer, .numeric), (.bigint, .numeric): "\(value)::numeric"
    case (.smallint, .text), (.integer, .text), (.bigint, .text): "\(value)::text"
    case (.boolean, .smallint), (.boolean, .integer), (.boolean, .bigint): "\(value)::integer"
    default: nil
    }
  }
}
