import Heartwood

/// Derived attributes that read other rows: computed in the transaction that changes what they read, which locks these rows.
extension PostgresStore {
  func derivation(
    of request: PersistentStoreRequest, _ context: ManagedObjectContext?, _ connection: PostgresConnection
  ) -> StoreDerivation? {
    derivation(of: request, with: context) { [unowned self] in try lock($0, $1, connection) }
  }

  private func lock(
    _ objects: [ManagedObjectID], _ lock: StoreDerivation.Lock, _ connection: PostgresConnection
  ) throws {
    let strength =
      switch lock {
      case .reading: "SHARE"
      case .writing: address.dialect.hasNoKeyLocks ? "NO KEY UPDATE" : "UPDATE"
      case .deleting: "UPDATE"
      }
    // In one order, so that two transactions do not wait for each other.
    for (table, members) in byTable(objects, \.self) {
      for part in parts(members) {
        _ = try connection.query(
          "SELECT _id FROM \(table.sqlName) WHERE _id = ANY($1::int8[]) ORDER BY _id FOR \(strength)",
          [.integers(part.map(number))])
      }
    }
  }

  /// Writes derived values, without another version.
  func writeDerived(_ values: [StoreDerivation.Values], _ connection: PostgresConnection) throws {
    let groups = Dictionary(grouping: values) { object in
      [object.objectID.entity.name ?? ""] + object.changes.map(\.attribute.name)
    }
    for (_, members) in groups.sorted(by: { $0.key.joined(separator: ",") < $1.key.joined(separator: ",") }) {
      let entity = members[0].objectID.entity
      let table = schema.table(entity)
      HistoryRecording.current?.noteUpdate(members.map(\.objectID), members[0].changes.map(\.attribute))
      let columns = members[0].changes.map { table.column($0.attribute, of: entity) }
      try set(
        columns, members.map { (number($0.objectID), $0.changes.map(\.value)) }, nil, table, connection)
    }
  }
}
