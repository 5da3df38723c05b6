import CoreData

/// A class of which a translated copy is compiled.
public final class TranslatedNote: NSManagedObject {
  @NSManaged public var number: Int64
  @NSManaged public var isDone: Bool
  @NSManaged public var text: String?
  @NSManaged public var due: Date?
}

/// The loops that are timed, in the module of the class, as in an application.
public enum TranslatedNotes {
  public static func make(_ count: Int, in context: NSManagedObjectContext) -> [TranslatedNote] {
    (0..<count).map { number in
      let note = TranslatedNote(context: context)
      note.number = Int64(number)
      note.isDone = number % 2 == 0
      note.text = "note \(number)"
      note.due = Date(timeIntervalSinceReferenceDate: Double(number))
      return note
    }
  }

  public static func readNumbers(_ notes: [TranslatedNote]) -> Int64 { notes.reduce(0) { $0 &+ $1.number } }
  public static func readTruths(_ notes: [TranslatedNote]) -> Int64 {
    notes.reduce(0) { $0 &+ ($1.isDone ? 1 : 0) }
  }
  public static func readTexts(_ notes: [TranslatedNote]) -> Int64 {
    notes.reduce(0) { $0 &+ Int64($1.text?.utf8.count ?? 0) }
  }
  public static func readDates(_ notes: [TranslatedNote]) -> Int64 {
    notes.reduce(0) { $0 &+ Int64($1.due?.timeIntervalSinceReferenceDate ?? 0) }
  }
  public static func readByName(_ notes: [TranslatedNote]) -> Int64 {
    notes.reduce(0) { $0 &+ ($1.value(forKey: "number") == nil ? 0 : 1) }
  }
  public static func setNumbers(_ notes: [TranslatedNote]) -> Int64 {
    for note in notes { note.number = 7 }
    return 0
  }
}
