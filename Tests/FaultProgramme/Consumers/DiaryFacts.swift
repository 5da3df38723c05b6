import Foundation
import Heartwood
import HeartwoodBytes
import HeartwoodEngine

/// The key that tells an entry from others, in all copies of a diary.
struct DiaryKey: Hashable, Sendable, CustomStringConvertible {
  let writer: String
  let number: Int64

  var description: String { "\(writer)'s entry \(number)" }
}

/// The objects of a diary in one generation.
struct DiaryObjects {
  /// The keys of the entries by their identifiers.
  private(set) var entries: [ManagedObjectID: DiaryKey] = [:]
  /// By consumer, the entries that have a note, and the transactions that the notes name.
  private(set) var notes: [String: [(key: DiaryKey, transaction: UInt64)]] = [:]
  private(set) var lines: [String] = []

  /// - Parameter token: A past generation; nil for the newest.
  init(of container: PersistentContainer, at token: QueryGenerationToken? = nil) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      try context.setQueryGenerationFrom(token ?? .current)
      try read(context)
    }
  }

  private mutating func read(_ context: ManagedObjectContext) throws {
    for entry in try context.fetch(DiaryEntry.self) {
      let key = DiaryKey(writer: entry.writer, number: entry.number)
      entries[entry.objectID] = key
      lines.append("\(key): \(entry.text.map { "\($0.count)×\($0.first ?? 0)" } ?? "no text")")
    }
    for note in try context.fetch(DiaryNote.self) {
      let key = DiaryKey(writer: note.writer, number: note.number)
      notes[note.consumer, default: []].append((key, UInt64(note.transaction)))
      lines.append("note of \(note.consumer): \(key), transaction \(note.transaction)")
    }
    for scrap in try context.fetch(DiaryScrap.self) { lines.append("scrap \(scrap.code): \(scrap.text)") }
    // The next fetch throws the error of a property that could not be read.
    _ = try context.count(DiaryScrap.self)
    lines.sort()
  }

  /// The number of entries of each writer.
  var counts: [String: Int] { Dictionary(grouping: entries.values, by: \.writer).mapValues(\.count) }

  var digest: UInt64 {
    Array(lines.joined(separator: "\n").utf8).withUnsafeBytes { XXH3.hash($0, seed: 0) }
  }

  /// - Throws: A finding if entries are missing or there twice, or if a note is there twice or of nothing.
  func check() throws {
    for (writer, keys) in Dictionary(grouping: entries.values, by: \.writer) {
      let numbers = keys.map(\.number).sorted()
      try require(numbers == Array(1...Int64(numbers.count)), "\(writer) has the entries \(numbers)")
    }
    let known = Set(entries.values)
    for (consumer, notes) in notes {
      let noted = Set(notes.map(\.key))
      try require(noted.count == notes.count, "\(consumer) has noted an entry twice")
      try require(noted.isSubset(of: known), "\(consumer) has noted what is not there")
    }
  }
}

/// All that a diary shows: its objects, its history, and what it keeps of consumers, holds and copies.
struct DiaryFacts {
  /// A transaction of the history.
  struct Transaction {
    let number: UInt64
    /// The entries that it has inserted.
    let entries: [DiaryKey]
  }

  let objects: DiaryObjects
  let history: [Transaction]
  let consumers: [HistoryConsumer.Status]
  /// By name, the objects of the held generations.
  let holds: [String: DiaryObjects]
  let lines: [String]

  init(of container: PersistentContainer) throws {
    let coordinator = container.persistentStoreCoordinator
    let objects = try DiaryObjects(of: container)
    let transactions = try container.history()
    history = transactions.map { transaction in
      let inserted = (transaction.changes ?? []).filter { $0.changeType == .insert }
      return Transaction(
        number: UInt64(transaction.transactionNumber),
        entries: inserted.compactMap { objects.entries[$0.changedObjectID] })
    }
    consumers = try coordinator.historyConsumers()
    holds = try Dictionary(
      uniqueKeysWithValues: coordinator.holds().map { hold in
        let token = try coordinator.queryGenerationToken(ofHold: hold.name)
        return (hold.name, try DiaryObjects(of: container, at: token))
      })
    lines =
      objects.lines + transactions.map(GraphFacts.line) + consumers.map(Self.line)
      + holds.sorted { $0.key < $1.key }.map { "hold \($0): \($1.lines.count) lines, \($1.digest)" }
      + (try Self.copies(coordinator))
    self.objects = objects
  }

  private static func line(_ consumer: HistoryConsumer.Status) -> String {
    "consumer \(consumer.name) at \(consumer.position.transactionNumber), \(consumer.waitingCount) to come"
      + (consumer.isExpired ? ", expired" : "")
  }

  /// How far the store has the change sets of other copies.
  private static func copies(_ coordinator: PersistentStoreCoordinator) throws -> [String] {
    let own = coordinator.persistentStores.first.flatMap { UUID(uuidString: $0.identifier) }
    return try coordinator.changeSetPositions().filter { $0.key != own }
      .map { "copy \($0.key): up to \($0.value)" }.sorted()
  }
}

// MARK: Conditions that hold in every diary

extension DiaryFacts {
  /// Checks what holds without knowing what was saved.
  ///
  /// - Throws: A finding if the history has a gap or a transaction twice, if a consumer's notes are others than those of the transactions up to its
  ///   position, or if the objects of a hold are not those of one generation.
  func check() throws {
    try objects.check()
    try checkHistory()
    for consumer in consumers { try check(consumer) }
    for (name, held) in holds {
      do { try held.check() } catch { throw Finding("the hold \(name): \(error)") }
    }
  }

  /// The history has the last entries of each writer, in order.
  private func checkHistory() throws {
    let numbers = history.map(\.number)
    try require(
      zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "the history has the numbers \(numbers)")
    for (writer, keys) in Dictionary(grouping: history.flatMap(\.entries), by: \.writer) {
      let found = keys.map(\.number)
      let last = Int64(objects.counts[writer] ?? 0)
      try require(
        found == Array((last - Int64(found.count) + 1)...last),
        "of \(last) entries of \(writer) the history has \(found)")
    }
  }

  /// The consumer has a note for each entry up to its position, with the entry's transaction, and for no other.
  private func check(_ consumer: HistoryConsumer.Status) throws {
    let position = consumer.position.transactionNumber
    let transactions = Dictionary(
      history.flatMap { transaction in transaction.entries.map { ($0, transaction.number) } },
      uniquingKeysWith: { first, _ in first })
    let notes = objects.notes[consumer.name] ?? []
    for note in notes {
      try require(
        note.transaction <= position,
        "\(consumer.name) is at \(position), and has noted transaction \(note.transaction)")
      let expected = transactions[note.key] ?? note.transaction
      try require(
        note.transaction == expected,
        "\(consumer.name) has noted \(note.key) of transaction \(note.transaction), and it is of \(expected)")
    }
    guard Diary.readers.contains(consumer.name) else { return }
    try require(!consumer.isExpired, "\(consumer.name) has lost history that it has not seen")
    for key in Set(objects.entries.values).subtracting(notes.map(\.key)) {
      let number = transactions[key]
      try require(
        number ?? 0 > position,
        "\(consumer.name) is at \(position), and has not noted \(key) of transaction "
          + (number.map { "\($0)" } ?? "without a history"))
    }
  }
}
