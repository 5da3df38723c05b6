import Foundation
import Heartwood

/// Copies a store of files to a schema beside the destination, from where its tables take their places in one transaction.
///
/// Each part is committed by itself, so that a copy that was interrupted goes on where it was:
///
/// 1. rows without their references, by ranges of what is not there yet;
/// 2. indexes and references of to-one relationships;
/// 3. tables of pairs, and the places in ordered relationships, each again from its beginning until it is noted as done;
/// 4. the exchange.
struct CopyToPostgres {
  private let copy: StoreCopy
  private let model: ManagedObjectModel
  private let address: PostgresAddress
  /// The tables beside the destination.
  private let made: PostgresSchema
  private static let atOnce = 2000

  init(_ copy: StoreCopy, _ model: ManagedObjectModel) throws {
    (self.copy, self.model) = (copy, model)
    address = try PostgresAddress(copy.destination)
    let coordinator = try PersistentStoreCoordinator(checking: model)
    withExtendedLifetime(coordinator) {}
    try address.requireSessions()
    made = PostgresSchema(model, named: "\(address.schema).copying".sqlName, .postgres)
  }

  /// - Returns: How many objects were there already.
  func run() throws -> Int {
    let source = try copy.coordinator(copy.source, model)
    defer { try? source.close() }
    do {
      let connection = try PostgresConnection(address)
      let lock = PostgresSchemaLock(named: made.name, address)
      guard try lock.tryToTake(connection) else {
        throw HeartwoodError(
          .persistentStoreTimeout, "another program copies a store to \(address.text) now: wait for it")
      }
      return try run(source, connection)
    } catch let commit as PostgresCommitFailure {
      throw failure(commit.failure)
    } catch let lost as PostgresFailure {
      throw failure(lost)
    }
  }

  private func failure(_ failure: PostgresFailure) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreSave, "the store was not copied to \(address.text): \(failure); call it again to go on",
      underlying: failure)
  }

  private func run(_ source: PersistentStoreCoordinator, _ connection: PostgresConnection) throws -> Int {
    guard let store = source.persistentStores.first else { return 0 }
    if let known = try storeAtDestination(connection) {
      // A former call has come as far as the exchange.
      guard known == store.identifier else {
        throw HeartwoodError(
          .persistentStoreOperation,
          "the store cannot be copied to \(address.text): a store is there; choose another schema, or remove it first"
        )
      }
      return 0
    }
    let state = CopyState(made, connection)
    let context = ManagedObjectContext(.privateQueue, coordinator: source)
    return try context.performAndWait {
      // The whole copy is of one state of the store.
      try? context.setQueryGenerationFrom(.current)
      let origin =
        "\(store.identifier) \(source.currentPersistentHistoryToken()?.transactionNumber ?? 0) \(model.versionChecksum)"
      if try state.origin() != origin { try begin(state, origin, connection) }
      var known = 0
      for root in StoreCopy.roots(model) { known += try copyRows(of: root, context, connection) }
      try state.once("references") {
        try connection.transaction(beginning: address.beginning) {
          for statement in made.referenceStatements { try connection.run(statement) }
        }
      }
      try copyRelationships(state, context, connection)
      try exchange(store, source, connection)
      return known
    }
  }

  private func storeAtDestination(_ connection: PostgresConnection) throws -> String? {
    let place = PostgresSchema(model, named: address.schema, .postgres)
    guard try place.exists(connection) else { return nil }
    let rows = try connection.query("SELECT value FROM \(place.metadataTable) WHERE key = 'uuid'")
    return rows.count == 0 ? "" : String(decoding: rows.bytes(0, 0), as: UTF8.self)
  }

  private func begin(_ state: CopyState, _ origin: String, _ connection: PostgresConnection) throws {
    try connection.transaction(beginning: address.beginning) {
      try state.dropRemains()
      try connection.run("CREATE SCHEMA \(made.name.quoted)")
      for statement in made.ownStatements + made.unreferencedStatements { try connection.run(statement) }
      try state.create(origin)
    }
  }

  // MARK: Rows

  private func copyRows(
    of root: EntityDescription, _ context: ManagedObjectContext, _ connection: PostgresConnection
  ) throws -> Int {
    let table = made.table(root)
    let found = try connection.query("SELECT _id FROM \(table.sqlName)")
    let known = Set((0..<found.count).map { found.integer($0, 0) })
    let request = StoreCopy.request(root)
    let total = try context.count(for: request)
    let name = "objects of \(root.name ?? "")"
    var (done, greatest) = (0, Int64(0))
    try context.enumerate(request, batchSize: Self.atOnce) { batch in
      let objects = try batch.map { try CopiedObject($0) }
      greatest = objects.reduce(greatest) { max($0, $1.number) }
      let new = objects.filter { !known.contains($0.number) }
      if !new.isEmpty {
        try connection.transaction(beginning: address.beginning) { try insert(new, table, connection) }
      }
      done += batch.count
      copy.tell(name, done, of: total)
    }
    // New objects have greater numbers than all that are there.
    let blocks = (greatest + Int64(PostgresStore.block)) / Int64(PostgresStore.block)
    _ = try connection.query(
      "SELECT setval($1::text::regclass, $2::int8, TRUE)",
      [
        .text("\(made.name.quoted).\(table.sequence.quoted)"),
        .integer(blocks * Int64(PostgresStore.block) + 1),
      ])
    return known.count
  }

  private func insert(
    _ objects: [CopiedObject], _ table: PostgresTable, _ connection: PostgresConnection
  ) throws {
    for (_, members) in Dictionary(grouping: objects, by: { $0.entity.name ?? "" }).sorted(by: {
      $0.key < $1.key
    }) {
      let entity = members[0].entity
      let columns = entity.storedProperties.map { table.column($0, of: entity) }
      let insert = PostgresInsert(columns, entity, table)
      _ = try connection.query(
        insert.sql, insert.parameters(members.map(\.number), members.map(\.values)) { _ in 0 })
    }
  }

  // MARK: Relationships

  private func copyRelationships(
    _ state: CopyState, _ context: ManagedObjectContext, _ connection: PostgresConnection
  ) throws {
    for entity in model.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
      for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
      where relationship.entity === entity && relationship.isToMany && !relationship.isTransient {
        let side = made.side(relationship)
        guard side != nil || relationship.isOrdered else { continue }
        try state.once(relationship.fullName) {
          try copy(relationship, side, entity, context, connection)
        }
      }
    }
  }

  private func copy(
    _ relationship: RelationshipDescription, _ side: PostgresSide?, _ entity: EntityDescription,
    _ context: ManagedObjectContext, _ connection: PostgresConnection
  ) throws {
    let request = FetchRequest<ManagedObject>(entityName: entity.name ?? "")
    request.relationshipKeyPathsForPrefetching = [relationship.name]
    let total = try context.count(for: request)
    var done = 0
    try context.enumerate(request, batchSize: Self.atOnce) { batch in
      var (own, other, places) = ([Int64](), [Int64](), [Int64]())
      for object in batch {
        let number = try CopiedObject.number(of: object)
        for (place, destination) in try CopiedObject.destinations(relationship, of: object).enumerated() {
          own.append(number)
          other.append(destination)
          places.append(Int64(place))
        }
      }
      if !own.isEmpty {
        let parameters = [own, other, places].map { PostgresParameter.integers($0) }
        try connection.transaction(beginning: address.beginning) {
          for sql in statements(relationship, side) { _ = try connection.query(sql, parameters) }
        }
      }
      done += batch.count
      copy.tell("relationship \(relationship.fullName)", done, of: total)
    }
  }

  private func statements(_ relationship: RelationshipDescription, _ side: PostgresSide?) -> [String] {
    let given = "unnest($1::int8[], $2::int8[], $3::int8[]) v(own, other, place)"
    guard let side else {
      guard let (table, column) = made.inverse(relationship) else { return [] }
      let position = PostgresTable.positionColumn(column).quoted
      return [
        "UPDATE \(table.sqlName) t SET \(position) = v.place FROM \(given) WHERE t._id = v.other AND t.\(column.name.quoted) = v.own"
      ]
    }
    let position = side.position ?? "\(side.own)_position"
    let value = side.position == nil ? "NULL" : "v.place"
    let update = side.position.map { " DO UPDATE SET \($0) = excluded.\($0)" } ?? " DO NOTHING"
    return [
      "INSERT INTO \(side.join.sqlName) AS t (\(side.own), \(side.other), \(position)) SELECT v.own, v.other, \(value)::int8 FROM \(given) "
        + "ON CONFLICT (source, target)\(update)"
    ]
  }

  // MARK: The end

  private func exchange(
    _ store: PersistentStore, _ source: PersistentStoreCoordinator, _ connection: PostgresConnection
  ) throws {
    let place = PostgresSchema(model, named: address.schema, .postgres)
    let metadata = try source.metadata(for: store).filter {
      !$0.key.hasPrefix("NSStore") && !$0.key.hasPrefix("Heartwood")
    }
    let program = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
    try connection.transaction(beginning: address.beginning) {
      _ = try connection.query("SELECT pg_advisory_xact_lock($1::int8)", [.integer(0x6865_6172_7477_6f6f)])
      guard try !place.exists(connection) else {
        throw HeartwoodError(
          .persistentStoreOperation,
          "the store was not copied to \(address.text): a store was made there meanwhile; choose another schema, or remove it"
        )
      }
      let known = try connection.query(
        "SELECT 1 FROM pg_namespace WHERE nspname = $1::text", [.text(place.name)])
      if known.count == 0 { try connection.run("CREATE SCHEMA \(place.name.quoted)") }
      var values = ["uuid": Data(store.identifier.utf8), "program": program, "former": Data()]
      values["model"] = try PostgresStore.modelData(of: model)
      for (name, hash) in model.entityVersionHashesByName { values["hash/\(name)"] = hash }
      for (key, value) in values {
        _ = try connection.query(
          "INSERT INTO \(made.metadataTable) (key, value) VALUES ($1::text, $2::bytea)",
          [.text(key), .data(value)])
      }
      try CopyState(made, connection).remove()
      for table in StoredSchema.tables(of: made, isWhole: true) {
        try connection.run("ALTER TABLE \(table) SET SCHEMA \(place.name.quoted)")
      }
      try connection.run("DROP SCHEMA \(made.name.quoted)")
      if known.count == 0 { try StoredSchema.noteMade(place.name, connection) }
    }
  }
}

/// The steps that a copy has done, in a table of its schema.
private struct CopyState {
  private let schema: PostgresSchema
  private let connection: PostgresConnection
  private var table: String { "\(schema.name.quoted).\"_heartwood_copy\"" }

  init(_ schema: PostgresSchema, _ connection: PostgresConnection) {
    (self.schema, self.connection) = (schema, connection)
  }

  /// Of which state of which store a copy was begun; nil if there is none.
  func origin() throws -> String? {
    guard try exists() else { return nil }
    let rows = try connection.query("SELECT value FROM \(table) WHERE name = 'origin'")
    return rows.count == 0 ? nil : rows.text(0, 0)
  }

  private func exists() throws -> Bool {
    let rows = try connection.query("SELECT to_regclass($1::text) IS NOT NULL", [.text(table)])
    return rows.bytes(0, 0).first == 1
  }

  func create(_ origin: String) throws {
    try connection.run("CREATE TABLE \(table) (name text PRIMARY KEY, value text NOT NULL)")
    _ = try connection.query("INSERT INTO \(table) VALUES ('origin', $1::text)", [.text(origin)])
  }

  /// Removes a copy of another state. Fails if the schema has things of others.
  func dropRemains() throws {
    try connection.run("DROP SCHEMA IF EXISTS \(schema.name.quoted)\(exists() ? " CASCADE" : "")")
  }

  func remove() throws { try connection.run("DROP TABLE \(table)") }

  /// Runs the body unless it was done before.
  func once(_ name: String, _ body: () throws -> Void) throws {
    let done = try connection.query("SELECT 1 FROM \(table) WHERE name = $1::text", [.text("done \(name)")])
    guard done.count == 0 else { return }
    try body()
    _ = try connection.query(
      "INSERT INTO \(table) VALUES ($1::text, '') ON CONFLICT DO NOTHING", [.text("done \(name)")])
  }
}
