import Foundation
import Heartwood
import HeartwoodPostgres

/// The command-line tool `heartwood-postgres`.
@main
struct Command {
  static let help = """
    heartwood-postgres copy STORE COPY

      copy STORE COPY    Copies a store to PostgreSQL, or one from there to a folder, and compares each object.

    One of the two is a URL, such as postgres://user@host/database?schema=name, the other one the folder of a store, or
    the file of one as a source. No store may be at COPY. Objects keep their numbers, so their URIs stay valid. The
    history is not copied, nor are the positions of its consumers: the copy begins one of its own. A copy to PostgreSQL that was interrupted goes on when the same command is given again; one
    from there starts again. A copy that was whole is only compared.

    Progress is written to standard error. Exit status: 0, 64 for a wrong command line, 74 for all other errors, also if
    an object of the copy is not as it is in the store.

    """

  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    guard !words.contains("--help"), !words.contains("-h") else {
      write(help, to: .standardOutput)
      exit(0)
    }
    guard words.count == 3, words[0] == "copy" else {
      write("heartwood-postgres: the command is copy, with two places; see --help\n", to: .standardError)
      exit(64)
    }
    do {
      try copy(words[1], words[2])
    } catch {
      write("heartwood-postgres: \(error)\n", to: .standardError)
      exit(74)
    }
  }

  private static func copy(_ source: String, _ destination: String) throws {
    let copy = StoreCopy(from: place(source), to: place(destination)) { step in
      write("\(step.name): \(step.done) of \(step.total)\n", to: .standardError)
    }
    let report = try copy.run()
    if report.continuedFrom > 0 {
      write("continued a copy that had \(report.continuedFrom) objects\n", to: .standardError)
    }
    let total = report.objects.values.reduce(0, +)
    write(
      "copied and compared \(total) objects, \(report.links) destinations of relationships\n",
      to: .standardOutput)
    for (name, count) in report.objects.sorted(by: { $0.key < $1.key }) {
      write("  \(name): \(count)\n", to: .standardOutput)
    }
    write("not copied: the history, and the positions of its consumers\n", to: .standardOutput)
  }

  private static func place(_ text: String) -> URL {
    if let url = URL(string: text), PostgresStore.recognises(url) { return url }
    return URL(fileURLWithPath: text)
  }

  private static func write(_ text: String, to handle: FileHandle) { handle.write(Data(text.utf8)) }
}
