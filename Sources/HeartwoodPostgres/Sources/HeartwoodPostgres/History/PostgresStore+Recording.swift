import Foundation
import Heartwood

/// Writing the history.
extension PostgresStore {
  var history: PostgresHistory { PostgresHistory(schema: schema.name) }

  /// How saves of this store are recorded.
  struct HistoryChoice: Sendable {
    var tracks = false
    var bundle: String?
    var process: String?
    /// Whether the tables are there.
    var hasTables = false
  }

  /// Makes the tables of the history if they are missing and wanted.
  ///
  /// - Throws: `.persistentStoreOpen` if the store has a history, and is opened without.
  func openHistory(_ connection: PostgresConnection) throws {
    let description = storeDescription
    var choice = HistoryChoice(tracks: description.tracksHistory && !isReadOnly)
    if description.recordsProgramInHistory {
      choice.bundle = Bundle.main.bundleIdentifier
      choice.process = ProcessInfo.processInfo.processName
    }
    guard description.historyRetention == nil else {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the store at \(address.text) was not opened: stores in PostgreSQL do not delete their history by themselves; leave historyRetention out, "
          + "and delete it by requests")
    }
    guard address.dialect.hasHistory else {
      historyChoice = HistoryChoice()
      return
    }
    choice.hasTables = try history.exists(connection)
    if choice.tracks, !choice.hasTables {
      try history.create(connection, address)
      choice.hasTables = true
    }
    if !description.tracksHistory, !isReadOnly, choice.hasTables, try isRecorded(connection) {
      throw HeartwoodError(
        .persistentStoreOpen,
        "the store at \(address.text) was not opened: it has a history, in which saves without tracksHistory would be missing: open it with "
          + "tracksHistory, or delete its history first")
    }
    historyChoice = choice
  }

  private func isRecorded(_ connection: PostgresConnection) throws -> Bool {
    let rows = try connection.query("SELECT EXISTS (SELECT 1 FROM \(history.transactions))")
    return rows.bytes(0, 0).first == 1
  }

  /// Whether the transaction of a connection is to be recorded: also one of a store that does not track its history, if others do.
  private func records(_ connection: PostgresConnection) throws -> Bool {
    guard address.dialect.hasHistory else { return false }
    if historyChoice.tracks { return true }
    if !historyChoice.hasTables {
      guard try history.exists(connection) else { return false }
      historyChoice.hasTables = true
    }
    return try isRecorded(connection)
  }

  /// Runs the body of a transaction, and writes what it has changed into the history.
  ///
  /// - Parameters:
  ///   - context: The context that saves; nil for none.
  ///   - isOwn: Whether the coordinator tells its contexts about it.
  func recording<Result>(
    _ connection: PostgresConnection, for context: ManagedObjectContext?, isOwn: Bool,
    _ body: () throws -> Result
  ) throws -> Result {
    let recording = HistoryRecording()
    let result = try HistoryRecording.$current.withValue(recording, operation: body)
    guard !recording.isEmpty, try records(connection) else { return result }
    // Constraints that are checked at the end are checked now: nothing may wait for others any more once the number is taken.
    try connection.run(
      "SET CONSTRAINTS ALL IMMEDIATE; NOTIFY \(PostgresHistory.channel(historyIdentifier))")
    let nanoseconds = Int64((Date().timeIntervalSince1970 * 1e9).rounded())
    func text(_ value: String?) -> PostgresParameter {
      PostgresParameter(.text, value.map { Array($0.utf8) })
    }
    let transaction: [PostgresParameter] = [
      .integer(nanoseconds), text(context?.transactionAuthor), text(context?.name),
      text(historyChoice.bundle), text(historyChoice.process),
      isOwn ? .uuid(openingIdentifier) : PostgresParameter(.uuid, nil),
    ]
    try write(recording.groups { self.number($0) }, of: transaction, connection)
    return result
  }

  /// How many rows of the history a statement writes.
  private static let mostGroups = 32

  /// Takes the number of the transaction, and writes its rows: in one statement, unless there are very many groups.
  private func write(
    _ groups: [HistoryRecording.Group], of transaction: [PostgresParameter],
    _ connection: PostgresConnection
  ) throws {
    for first in stride(from: 0, to: groups.count, by: Self.mostGroups) {
      let part = groups[first..<min(first + Self.mostGroups, groups.count)]
      var (rows, parameters) = ([String](), first == 0 ? transaction : [])
      for (place, group) in zip(part.indices, part) {
        let next = parameters.count
        rows.append(
          "($\(next + 1)::int8::int4, $\(next + 2)::int8::int2, $\(next + 3)::text, $\(next + 4)::text[], $\(next + 5)::int8[], "
            + "$\(next + 6)::bytea)")
        let tombstones = try Tombstones.encoded(group.tombstones)
        parameters += [
          .integer(Int64(place)), .integer(Int64(group.kind.rawValue)),
          .text(group.entity.name ?? ""),
          .texts(group.properties), .integers(group.objects),
          tombstones.map { .data($0) } ?? PostgresParameter(.bytea, nil),
        ]
      }
      let number =
        first == 0
        ? "WITH e AS (UPDATE \(history.ends) SET newest = newest + 1 RETURNING newest), "
          + "h AS (INSERT INTO \(history.transactions) (number, made, author, context, bundle, process, store) "
          + "SELECT e.newest, $1::int8, $2::text, $3::text, $4::text, $5::text, $6::uuid FROM e) "
        : "WITH e AS (SELECT newest FROM \(history.ends)) "
      _ = try connection.query(
        "\(number)INSERT INTO \(history.changes) (number, place, kind, entity, properties, objects, tombstones) "
          + "SELECT e.newest, v.* FROM e, (VALUES \(rows.joined(separator: ", "))) v", parameters)
    }
  }

  /// Notes that objects are deleted, before they are: reads what the history keeps of them.
  func noteDeletion(_ objects: [ManagedObjectID], _ connection: PostgresConnection) throws {
    guard let recording = HistoryRecording.current, !objects.isEmpty else { return }
    var kept: [ManagedObjectID: [String: StoredValue]] = [:]
    for (name, members) in Dictionary(grouping: objects, by: { $0.entity.name ?? "" }) {
      guard let entity = managedObjectModel.entitiesByName[name] else { continue }
      let attributes = entity.attributesKeptOnDeletion
      guard !attributes.isEmpty else { continue }
      let table = schema.table(entity)
      let columns = attributes.map { table.column($0, of: entity) }
      let selected = columns.map { ", \($0.selected("t"))" }.joined()
      let rows = try connection.query(
        "SELECT t._id\(selected) FROM \(table.sqlName) t WHERE t._id = ANY($1::int8[])",
        [.integers(members.map(number))])
      for row in 0..<rows.count {
        var values: [String: StoredValue] = [:]
        for (place, column) in columns.enumerated() {
          let value = column.kind.value(rows, row, place + 1)
          if value != .null { values[attributes[place].name] = value }
        }
        kept[object(entity, rows.integer(row, 0))] = values
      }
    }
    for object in objects { recording.noteDeletion(object, keeping: kept[object] ?? [:]) }
  }
}
