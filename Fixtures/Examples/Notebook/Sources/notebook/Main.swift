import Foundation
import Heartwood

/// The commands.
@main
struct Main {
  static let usage = """
    notebook add TEXT [--tag NAME]...   adds a note
    notebook list [NAME]                open notes, or those of a tag
    notebook find WORDS                 notes with words
    notebook done NUMBER                marks a note as done
    notebook undo                       takes the last change back
    """

  static func main() {
    let place = ProcessInfo.processInfo.environment["NOTEBOOK"] ?? "notebook.heartwood"
    do {
      let notebook = try Notebook(at: URL(fileURLWithPath: place))
      for line in try run(Array(CommandLine.arguments.dropFirst()), notebook) { print(line) }
      try notebook.close()
    } catch {
      FileHandle.standardError.write(Data("notebook: \(error.localizedDescription)\n".utf8))
      exit(1)
    }
  }

  /// - Returns: The lines to print.
  static func run(_ words: [String], _ notebook: Notebook) throws -> [String] {
    switch (words.first, words.count) {
    case ("add", 2...):
      let tags = zip(words, words.dropFirst()).filter { $0.0 == "--tag" }.map(\.1)
      return [line(try notebook.add(words[1], tags: tags))]
    case ("list", 1...2): return try notebook.notes(tag: words.dropFirst().first).map(line)
    case ("find", 2): return try notebook.notes(with: words[1]).map(line)
    case ("done", 2):
      guard let number = Int64(words[1]), let note = try notebook.finish(number) else {
        return ["there is no note \(words[1])"]
      }
      return [line(note)]
    case ("undo", 1):
      let changes = try notebook.undo()
      return [
        changes.isEmpty ? "there is nothing to take back" : "took back: " + changes.joined(separator: ", ")
      ]
    default: return [usage]
    }
  }

  private static func line(_ note: Note) -> String {
    let tags = note.tags.map { " #\($0.name)" }.sorted().joined()
    return "\(note.number)  \(note.text)\(tags.isEmpty ? "" : " ")\(tags)"
  }
}
