import Foundation
import Heartwood
import HeartwoodEngine

/// The notes of one store.
struct Notebook {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init(at url: URL) throws {
    let model = try ManagedObjectModel(types: [Note.self, Tag.self])
    container = PersistentContainer(name: "Notebook", managedObjectModel: model)
    let description = PersistentStoreDescription(url: url)
    // The past stays readable, which taking back needs, until `heartwood reclaim`.
    description.engineOptions = EngineOptions(reclamation: .onDemand)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    context = container.newBackgroundContext()
  }

  func close() throws { try container.close() }

  /// Adds a note, with tags that are made when they are first used.
  @discardableResult
  func add(_ text: String, tags names: [String]) throws -> Note {
    try saving {
      let last = try context.fetch(Note.self, sort: [.descending(\.number)], limit: 1).first
      let note = Note(context: context)
      note.number = (last?.number ?? 0) + 1
      note.text = text
      note.tags = Set(try names.map(tag))
      return note
    }
  }

  private func tag(_ name: String) throws -> Tag {
    if let known = try context.fetch(Tag.self, where: { $0.name == name }).first { return known }
    let tag = Tag(context: context)
    tag.name = name
    return tag
  }

  /// The open notes, or those of one tag, oldest first.
  func notes(tag: String? = nil) throws -> [Note] {
    guard let tag else {
      return try context.fetch(Note.self, where: { $0.isDone == false }, sort: [.ascending(\.number)])
    }
    return try context.fetch(
      Note.self, where: { $0.isDone == false && $0.tags.contains { $0.name == tag } },
      sort: [.ascending(\.number)])
  }

  /// All notes with these words: `river`, `riv*`, `"so long" OR river`.
  func notes(with words: String) throws -> [Note] {
    try context.fetch(Note.self, where: { $0.text.matchesWords(words) }, sort: [.ascending(\.number)])
  }

  /// - Returns: Nil if there is no such note.
  func finish(_ number: Int64) throws -> Note? {
    try saving {
      let note = try context.fetch(Note.self, where: { $0.number == number }).first
      note?.isDone = true
      return note
    }
  }

  /// Takes the last change back, unless that was itself taking something back.
  ///
  /// - Returns: The changes that were taken back; empty if there are none.
  func undo() throws -> [String] {
    try saving(as: "undo") {
      guard let last = try container.history(after: nil).last, last.author == Self.author else { return [] }
      let conflicts = try context.revert(transaction: UInt64(last.transactionNumber))
      let left = Set(conflicts.map(\.objectID))
      return (last.changes ?? []).filter { !left.contains($0.changedObjectID) }
        .map { "\($0.changeType) of \($0.changedObjectID.entity.name ?? "")" }
    }
  }

  private static let author = "notebook"

  /// Makes a change and saves it. Another copy of the program may have saved the same number, tag or note meanwhile: the store refuses
  /// the one that is saved last, which is made again.
  private func saving<Result>(as author: String = Self.author, _ change: () throws -> Result) throws -> Result
  {
    context.transactionAuthor = author
    while true {
      do {
        let result = try change()
        try context.save()
        return result
      } catch {
        // The changes that could not be saved are not to be saved with the next command.
        context.reset()
        guard let code = (error as? HeartwoodError)?.code,
          code == .managedObjectMerge || code == .managedObjectConstraintMerge
        else { throw error }
      }
    }
  }
}
