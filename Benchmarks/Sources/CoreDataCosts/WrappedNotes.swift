import Foundation
import Heartwood

private final class WrappedNote: ManagedObject {
  @Attribute var number: Int64 = 0
  @Attribute var isDone = false
  @Attribute var text: String?
  @Attribute var due: Date?
}

/// The same loops over a class of Heartwood.
struct WrappedNotes {
  private let context: Heartwood.ManagedObjectContext
  private let notes: [WrappedNote]

  init(_ count: Int) throws {
    let container = try PersistentContainer(
      name: "Notes", types: [WrappedNote.self], at: URL(fileURLWithPath: "/dev/null"))
    let context = container.newBackgroundContext()
    self.context = context
    notes = try context.performAndWait {
      let notes = (0..<count).map { number in
        let note = WrappedNote(context: context)
        note.number = Int64(number)
        note.isDone = number % 2 == 0
        note.text = "note \(number)"
        note.due = Date(timeIntervalSinceReferenceDate: Double(number))
        return note
      }
      try context.save()
      return notes
    }
  }

  func performing<Result>(_ body: () -> Result) -> Result { context.performAndWait { body() } }

  func readNumbers() -> Int64 { notes.reduce(0) { $0 &+ $1.number } }
  func readTruths() -> Int64 { notes.reduce(0) { $0 &+ ($1.isDone ? 1 : 0) } }
  func readTexts() -> Int64 { notes.reduce(0) { $0 &+ Int64($1.text?.utf8.count ?? 0) } }
  func readDates() -> Int64 { notes.reduce(0) { $0 &+ Int64($1.due?.timeIntervalSinceReferenceDate ?? 0) } }
  func readByName() -> Int64 { notes.reduce(0) { $0 &+ ($1.value(forKey: "number") == nil ? 0 : 1) } }
  func setNumbers() -> Int64 {
    for note in notes { note.number = 7 }
    return 0
  }
}
