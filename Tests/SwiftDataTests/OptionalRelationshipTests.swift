import Foundation
import SwiftData
import Testing

/// Optional to-many relationships, as CloudKit requires them, in conditions.
struct OptionalRelationshipTests {
  let context: ModelContext
  let notes: [Note]

  init() throws {
    context = try Library.context(of: Folder.self, Note.self, Label.self)
    var notes: [Note] = []
    let labels = ["red", "green"].map { Label($0) }
    let folders = ["a", "b", "c"].map { Folder($0) }
    for number in 0..<12 {
      let note = Note("\(number)")
      context.insert(note)
      if number % 4 != 0 { note.folder = folders[number % 2] }
      if number % 3 != 0 { note.labels = [labels[number % 2]] }
      if number % 5 == 0 { note.parent = notes.first }
      notes.append(note)
    }
    for folder in folders { context.insert(folder) }
    try context.save()
    self.notes = notes
  }

  private func check<Model: PersistentModel>(
    _ predicate: Predicate<Model>, isTelling: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let context = ModelContext(context.container)
    let all = try context.fetch(FetchDescriptor<Model>())
    let found = try context.fetch(FetchDescriptor(predicate: predicate))
    let expected = try all.filter { try predicate.evaluate($0) }
    #expect(Set(found) == Set(expected), sourceLocation: sourceLocation)
    #expect(
      !isTelling || !expected.isEmpty && expected.count < all.count, "it tells nothing apart",
      sourceLocation: sourceLocation)
  }

  // SWD-23
  @Test func `whether there are any`() throws {
    try check(#Predicate<Folder> { $0.notes?.isEmpty == true })
    try check(#Predicate<Folder> { $0.notes?.isEmpty ?? true })
    try check(#Predicate<Folder> { !($0.notes?.isEmpty ?? true) })
    try check(#Predicate<Note> { $0.labels!.isEmpty })
    try check(#Predicate<Folder> { ($0.notes?.count ?? 0) > 0 })
    try check(#Predicate<Folder> { $0.notes == nil }, isTelling: false)
    try check(#Predicate<Folder> { $0.notes != nil }, isTelling: false)
    try check(#Predicate<Note> { $0.folder?.notes == nil })
    try check(#Predicate<Note> { $0.folder?.notes != nil })
  }

  // SWD-23
  @Test func `conditions on each`() throws {
    let red = "red"
    let id = try #require(notes[1].labels?.first).persistentModelID
    try check(#Predicate<Note> { $0.labels?.contains { $0.name == red } ?? false })
    try check(#Predicate<Note> { $0.labels?.contains { $0.name == red } == true })
    try check(#Predicate<Note> { $0.labels?.contains { $0.name == red } != true })
    try check(#Predicate<Note> { $0.labels.flatMap { $0.contains { $0.name == red } } == true })
    try check(#Predicate<Note> { $0.labels?.allSatisfy { $0.name == red } ?? true })
    try check(#Predicate<Note> { $0.labels?.filter { $0.name == red }.isEmpty == false })
    try check(#Predicate<Note> { ($0.labels?.filter { $0.name == red }.count ?? 0) == 1 })
    try check(#Predicate<Note> { $0.labels?.contains { $0.persistentModelID == id } ?? false })
    try check(#Predicate<Note> { $0.labels?.contains { $0.id == id } ?? false })
    try check(
      #Predicate<Note> { note in
        if let labels = note.labels { return labels.contains { $0.name == red } } else { return true }
      })
    try check(#Predicate<Folder> { $0.notes?.contains { $0.labels?.isEmpty == true } == true })
    try check(#Predicate<Folder> { $0.notes?.contains { $0.text == "3" && $0.folder?.name == "b" } == true })
  }

  // SWD-23
  @Test func `over a model that may be missing`() throws {
    let folder = try #require(notes[1].folder).persistentModelID
    let red = "red"
    try check(#Predicate<Note> { ($0.folder?.notes?.count ?? 5) > 5 })
    try check(#Predicate<Note> { ($0.folder?.notes?.count ?? 5) == 5 })
    try check(#Predicate<Note> { ($0.parent?.lines.count ?? 5) > 2 })
    try check(#Predicate<Note> { $0.folder?.notes?.isEmpty ?? true })
    try check(#Predicate<Note> { $0.folder?.notes?.isEmpty != true }, isTelling: false)
    try check(#Predicate<Note> { $0.folder?.notes?.contains { $0.text == "3" } ?? true })
    try check(#Predicate<Note> { $0.parent?.lines.isEmpty == nil })
    try check(#Predicate<Note> { $0.folder?.id == folder })
    try check(#Predicate<Note> { $0.folder?.persistentModelID != folder })
    try check(#Predicate<Note> { $0.parent?.labels?.filter { $0.name == red }.count == 0 })
  }

  // SWD-26
  @Test func `a relationship that is nil reads as empty once it is saved`() throws {
    let folder = Folder("new")
    folder.notes = nil
    context.insert(folder)
    try context.save()
    #expect(
      try ModelContext(context.container).fetch(FetchDescriptor<Folder>()).allSatisfy { $0.notes != nil })
    #expect(folder.notes == [])
  }

  // SWD-23, SWD-40
  @Test func `no message names operators that a predicate cannot have`() throws {
    #expect {
      try context.fetch(FetchDescriptor<Note>(predicate: #Predicate { $0.labels == $0.folder?.labels }))
    } throws: {
      SwiftDataError.unsupportedPredicate ~= $0 && !"\($0)".contains("ANY")
    }
  }
}

@Model final class Folder {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Note.folder) var notes: [Note]?
  @Relationship(inverse: \Label.folders) var labels: [Label]?
  init(_ name: String) { self.name = name }
}

@Model final class Note {
  var text: String
  var folder: Folder?
  var parent: Note?
  @Relationship(inverse: \Note.parent) var lines: [Note] = []
  @Relationship(inverse: \Label.notes) var labels: [Label]? = []
  init(_ text: String) { self.text = text }
}

@Model final class Label {
  var name: String
  var notes: [Note]?
  var folders: [Folder]?
  init(_ name: String) { self.name = name }
}
