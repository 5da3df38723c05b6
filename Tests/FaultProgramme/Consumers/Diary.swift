import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// One of a writer's entries, which are numbered from 1 without gaps.
final class DiaryEntry: ManagedObject {
  @Attribute(.indexed) var writer = ""
  @Attribute var number: Int64 = 0
  @Attribute var text: Data?
}

/// The note of a consumer of the history about an entry: one for each.
final class DiaryNote: ManagedObject {
  @Attribute(.indexed) var consumer = ""
  @Attribute var writer = ""
  @Attribute var number: Int64 = 0
  /// The number of the transaction that has inserted the entry.
  @Attribute var transaction: Int64 = 0
}

/// A text that is inserted, changed and deleted.
final class DiaryScrap: ManagedObject {
  @Attribute(.unique) var code = ""
  @Attribute var text = ""
}

/// A store with writers, consumers of its history, held generations and change sets. Each save adds one entry, and each consumer one note for each
/// entry, so that the objects say which transactions are there and which ones a consumer has seen.
enum Diary {
  static let types: [ManagedObject.Type] = [DiaryEntry.self, DiaryNote.self, DiaryScrap.self]
  /// One model for all runs, because a frozen model is never deallocated.
  static let model = Result { try ManagedObjectModel(types: types) }

  static let writers = ["first writer", "second writer"]
  /// The consumers whose history is kept until they have seen it.
  static let readers = ["first reader", "second reader"]
  /// A consumer whose history is deleted when it is too far behind.
  static let slowReader = "slow reader"
  private static let slowLimit: UInt64 = 6

  /// About how many transactions the history keeps if no consumer needs more.
  private static let kept: UInt64 = 8

  static func open(
    _ fileSystem: any FileSystem, at path: String = Session.path,
    options: EngineOptions = GraphSession.options, isBuffered: Bool = true,
    _ edit: (PersistentStoreDescription) -> Void = { _ in }
  ) throws -> PersistentContainer {
    try GraphSession.open(fileSystem, at: path, options: options, isBuffered: isBuffered, model: model) {
      $0.historyRetention = HistoryRetention(count: kept)
      // Runs of several processes leave the same bytes.
      $0.recordsProgramInHistory = false
      edit($0)
    }
  }

  /// Fills a new store: the consumers, and scraps that all writers and copies change.
  static func prepare(_ container: PersistentContainer) throws {
    for reader in readers { _ = try container.historyConsumer(reader, startingAt: .oldest) }
    _ = try container.historyConsumer(slowReader, startingAt: .oldest, lagLimit: slowLimit)
    try change(container, author: "preparation") { context in
      for number in 1...6 {
        let scrap = DiaryScrap(context: context)
        scrap.code = "common \(number)"
        scrap.text = "at first"
      }
    }
  }

  /// Saves the next entry of a writer, and changes scraps.
  ///
  /// - Parameter touchesCommon: Whether scraps are changed that others change too.
  /// - Returns: The number of the entry.
  @discardableResult
  static func save(
    _ writer: String, in container: PersistentContainer, _ random: inout SplitMix64,
    touchesCommon: Bool = true
  ) throws -> Int {
    var number = 0
    try change(container, author: writer) { context in
      number = try context.fetch(DiaryEntry.self, where: { $0.writer == writer }).count + 1
      let entry = DiaryEntry(context: context)
      entry.writer = writer
      entry.number = Int64(number)
      entry.text = Data(repeating: UInt8(truncatingIfNeeded: number), count: random.below(4000))
      try changeScraps(context, writer, number, &random, touchesCommon)
    }
    return number
  }

  private static func changeScraps(
    _ context: ManagedObjectContext, _ writer: String, _ number: Int, _ random: inout SplitMix64,
    _ touchesCommon: Bool
  ) throws {
    let scraps = try context.fetch(DiaryScrap.self, sort: [.ascending(\.code)]).filter {
      $0.code.hasPrefix(writer) || touchesCommon && $0.code.hasPrefix("common")
    }
    switch random.below(3) {
    case 0:
      let scrap = DiaryScrap(context: context)
      scrap.code = "\(writer) \(number)"
    case 1: if !scraps.isEmpty { random.pick(scraps).text = "changed by \(writer) with \(number)" }
    default: if scraps.count > 3 { context.delete(random.pick(scraps)) }
    }
  }

  /// Does the next work of a consumer: a note for each entry, saved with the position.
  ///
  /// - Returns: The position after it; nil if there was nothing after the consumer's position.
  @discardableResult
  static func consume(_ name: String, in container: PersistentContainer, limit: Int) throws -> UInt64? {
    let consumer = try container.historyConsumer(name)
    let position = try consumer.status.position
    let batch = try consumer.nextBatch(limit: limit)
    guard batch.end != position else { return nil }
    try change(container, author: name) { context in
      for transaction in batch.transactions {
        for case let (identifier, .insert) in (transaction.changes ?? []).map({
          ($0.changedObjectID, $0.changeType)
        }) {
          guard let entry = context.object(with: identifier) as? DiaryEntry else { continue }
          let note = DiaryNote(context: context)
          (note.consumer, note.writer, note.number) = (name, entry.writer, entry.number)
          note.transaction = Int64(transaction.transactionNumber)
        }
      }
      try context.complete(batch)
    }
    return batch.end.transactionNumber
  }

  /// Does the next work of the slow consumer, which begins at the newest transaction again if it has missed some.
  static func consumeSlowly(in container: PersistentContainer, limit: Int) throws {
    do {
      try consume(slowReader, in: container, limit: limit)
    } catch let error as HeartwoodError where error.code == .persistentHistoryTokenExpired {
      try container.historyConsumer(slowReader).restart(from: .newest)
    }
  }

  /// Deletes the history that all consumers but the slow one have seen.
  static func purge(_ container: PersistentContainer) throws {
    let positions = try container.persistentStoreCoordinator.historyConsumers().filter {
      $0.name != slowReader
    }.map(\.position)
    guard let first = positions.min(by: { $0.transactionNumber < $1.transactionNumber }) else { return }
    _ = try container.newBackgroundContext().execute(.deleteHistory(before: first))
  }

  private static func change(
    _ container: PersistentContainer, author: String, _ edit: (ManagedObjectContext) throws -> Void
  ) throws {
    let context = container.newBackgroundContext()
    context.transactionAuthor = author
    try context.performAndWait {
      try edit(context)
      try context.save()
    }
  }
}
