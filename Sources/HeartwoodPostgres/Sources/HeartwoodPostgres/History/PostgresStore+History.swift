import Foundation
import Heartwood

/// Reading and deleting the history, and the records of its consumers.
extension PostgresStore {
  /// How many transactions are read at once: few at first, as many calls want one.
  private static let (firstRead, mostRead) = (16, 1024)

  func readHistory(
    after number: UInt64, _ body: (StoreHistoryTransaction) throws -> Bool
  ) throws {
    var (last, count) = (Int64(clamping: number), Self.firstRead)
    while true {
      let found = try translating(.persistentStoreOperation, "the history was not read from \(address.text)")
      {
        try transactions(after: last, count)
      }
      for transaction in found where try !body(transaction) { return }
      guard found.count == count, let end = found.last else { return }
      (last, count) = (Int64(clamping: end.number), min(count * 4, Self.mostRead))
    }
  }

  private func transactions(after number: Int64, _ count: Int) throws -> [StoreHistoryTransaction] {
    let rows = try query(
      "SELECT h.number, h.made, h.author, h.context, h.bundle, h.process, COALESCE(h.store = $3::uuid, FALSE), "
        + "c.kind, c.entity, c.properties, c.objects, c.tombstones "
        + "FROM (SELECT * FROM \(history.transactions) WHERE number > $1::int8 ORDER BY number LIMIT $2::int8) h "
        + "LEFT JOIN \(history.changes) c ON c.number = h.number ORDER BY h.number, c.place",
      [.integer(number), .integer(Int64(count)), .uuid(openingIdentifier)])
    var found: [StoreHistoryTransaction] = []
    for row in 0..<rows.count {
      let number = UInt64(clamping: rows.integer(row, 0))
      if found.last?.number != number {
        let date = Date(timeIntervalSince1970: Double(rows.integer(row, 1)) / 1e9)
        var transaction = StoreHistoryTransaction(number: number, timestamp: date, changes: [])
        transaction.author = rows.optionalText(row, 2)
        transaction.contextName = rows.optionalText(row, 3)
        transaction.bundleID = rows.optionalText(row, 4)
        transaction.processID = rows.optionalText(row, 5)
        transaction.isOwn = rows.bytes(row, 6).first == 1
        found.append(transaction)
      }
      if !rows.isNull(row, 7) { found[found.count - 1].changes += changes(rows, row) }
    }
    return found
  }

  /// The changes of a row; none if the model does not have its entity any more.
  private func changes(_ rows: PostgresRows, _ row: Int) -> [StoreHistoryTransaction.Change] {
    guard let type = PersistentHistoryChange.ChangeType(rawValue: Int(rows.integer(row, 7))),
      let entity = managedObjectModel.entitiesByName[rows.text(row, 8)]
    else { return [] }
    let names = rows.texts(row, 9)
    let known = names.isEmpty ? [:] : entity.propertiesByName
    let properties = names.compactMap { name in known[name] ?? stored(name, entity) }
    let tombstones = rows.isNull(row, 11) ? [] : Tombstones.decoded(Data(rows.bytes(row, 11)))
    let attributes =
      tombstones.isEmpty ? [] : entity.storedProperties.compactMap { $0 as? AttributeDescription }
    return rows.integers(row, 10).enumerated().map { place, number in
      var change = StoreHistoryTransaction.Change(
        type, of: object(entity, number), updatedProperties: properties)
      if place < tombstones.count {
        change.tombstone = attributes.compactMap { attribute in
          tombstones[place][attribute.name].map { (attribute, $0) }
        }
      }
      return change
    }
  }

  /// An element of a composite attribute, which is no property of its entity by itself.
  private func stored(_ name: String, _ entity: EntityDescription) -> PropertyDescription? {
    entity.storedProperties.first { $0.name == name }
  }

  func historyEnds() throws -> (newest: UInt64, deleted: UInt64) {
    try translating(.persistentStoreOperation, "the history was not read from \(address.text)") {
      let rows = try query("SELECT newest, deleted FROM \(history.ends)", [])
      guard rows.count > 0 else { return (0, 0) }
      return (UInt64(clamping: rows.integer(0, 0)), UInt64(clamping: rows.integer(0, 1)))
    }
  }

  func removeHistory(through number: UInt64) throws -> Int {
    try translating(.persistentStoreSave, "the history was not deleted from \(address.text)") {
      try transaction(repeats: true) { connection in
        let last = PostgresParameter.integer(Int64(clamping: number))
        _ = try connection.query("DELETE FROM \(history.changes) WHERE number <= $1::int8", [last])
        let deleted = try connection.query(
          "DELETE FROM \(history.transactions) WHERE number <= $1::int8", [last])
        _ = try connection.query(
          "UPDATE \(history.ends) SET deleted = GREATEST(deleted, LEAST($1::int8, newest))", [last])
        return deleted.changed
      }
    }
  }

  // MARK: Consumers

  func readConsumers() throws -> [String: Data] {
    try translating(.persistentStoreOperation, "the consumers were not read from \(address.text)") {
      let rows = try query("SELECT name, record FROM \(history.consumers)", [])
      return Dictionary(
        (0..<rows.count).map { (rows.text($0, 0), Data(rows.bytes($0, 1))) },
        uniquingKeysWith: { first, _ in first })
    }
  }

  func writeConsumers(_ changes: [StoreConsumerChange]) throws {
    guard !changes.isEmpty else { return }
    try translating(.persistentStoreSave, "the consumers were not written to \(address.text)") {
      try transaction(repeats: true) { try write(changes, $0) }
    }
  }

  /// - Throws: `StoreConsumerChange.conflict` if a consumer has another record.
  func write(_ changes: [StoreConsumerChange], _ connection: PostgresConnection) throws {
    for change in changes.sorted(by: { $0.name < $1.name }) {
      let name = PostgresParameter.text(change.name)
      let result =
        switch (change.former, change.record) {
        case (let former?, let record?):
          try connection.query(
            "UPDATE \(history.consumers) SET record = $3::bytea WHERE name = $1::text AND record = $2::bytea",
            [name, .data(former), .data(record)])
        case (nil, let record?):
          try connection.query(
            "INSERT INTO \(history.consumers) (name, record) VALUES ($1::text, $2::bytea) ON CONFLICT DO NOTHING",
            [name, .data(record)])
        case (_, nil):
          try connection.query("DELETE FROM \(history.consumers) WHERE name = $1::text", [name])
        }
      guard result.changed > 0 || change.record == nil else { throw change.conflict }
    }
  }
}
