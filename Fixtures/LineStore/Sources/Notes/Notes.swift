import Foundation
import Heartwood
import LineStore

final class Note: ManagedObject {
  @Attribute var text = ""
  @Attribute var written = Date()
  @Attribute(.indexed) var stars: Int64
  @Relationship(inverse: { $0.notes }) var labels: Set<Label>
}

final class Label: ManagedObject {
  @Attribute(.unique) var name = ""
  @Relationship(inverse: { $0.labels }) var notes: Set<Note>
}

/// Saves notes in a file of lines, opens it again, and shows what a fetch finds.
@main
struct Notes {
  static func main() throws {
    PersistentStoreCoordinator.registerStoreClass(LineStore.self, type: LineStore.kind)
    defer { PersistentStoreCoordinator.registerStoreClass(nil, type: LineStore.kind) }
    let file = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString).lines")
    defer { try? FileManager.default.removeItem(at: file) }

    try with(file) { context in
      let label = Label(context: context)
      label.name = "garden"
      for (number, text) in ["Water the roses", "Buy seeds", "Call Ada"].enumerated() {
        let note = Note(context: context)
        (note.text, note.stars) = (text, Int64(number))
        if number < 2 { note.labels = [label] }
      }
      try context.save()
    }
    print(try String(contentsOf: file, encoding: .utf8).split(separator: "\n").count, "lines")
    let found = try with(file) { context in
      let request = FetchRequest<Note>()
      request.predicate = try FormatPredicate("ANY labels.name == 'garden' AND stars > 0")
      return try context.fetch(request).map(\.text)
    }
    print(found.joined(separator: ", "))
    guard found == ["Buy seeds"] else { exit(1) }
  }

  private static func with<Result>(_ file: URL, _ body: (ManagedObjectContext) throws -> Result) throws
    -> Result
  {
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(types: [Note.self, Label.self]))
    try coordinator.addPersistentStore(type: LineStore.kind, at: file)
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    let result = try context.performAndWait { try body(context) }
    try coordinator.close()
    return result
  }
}
