import Foundation

/// The command `heartwood`.
@main
struct Command {
  static let version = "0.1.0"

  static var verbs: [any Verb.Type] {
    [
      ImportVerb.self, ModelVerb.self, FetchVerb.self, ShowVerb.self, CountVerb.self, DeleteVerb.self,
      HistoryVerb.self,
      GenerationsVerb.self, SchemaVerb.self, StatisticsVerb.self, VerifyVerb.self, ReclaimVerb.self,
    ]
  }

  static func main() {
    let console = StandardConsole()
    var status = run(Array(CommandLine.arguments.dropFirst()), console: console)
    do {
      try console.flush()
    } catch {
      status = report(error, to: console)
    }
    exit(status.rawValue)
  }

  /// Does what the words of a command line say, and tells a failure in one line.
  static func run(_ words: [String], console: any Console) -> ExitCode {
    do {
      return try dispatch(words, console: console)
    } catch {
      return report(error, to: console)
    }
  }

  private static func dispatch(
    _ words: [String], console: any Console
  ) throws(CommandFailure) -> ExitCode {
    guard let first = words.first else {
      console.writeNote(HelpText.overview(verbs.map { $0.syntax }))
      return .usage
    }
    switch first {
    case "--help", "-h", "help": try writeHelp(for: words.dropFirst().first, console: console)
    case "--version": try console.writeLine("heartwood \(version)")
    default: return try runVerb(named: first, words.dropFirst(), console: console)
    }
    return .success
  }

  private static func runVerb(
    named name: String, _ words: ArraySlice<String>, console: any Console
  ) throws(CommandFailure) -> ExitCode {
    let verb = try verb(named: name)
    if words.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      try console.write(HelpText.verb(verb.syntax))
      return .success
    }
    return try verb.run(ParsedArguments(Array(words), for: verb.syntax), console: console)
  }

  private static func writeHelp(for name: String?, console: any Console) throws(CommandFailure) {
    guard let name else { return try console.write(HelpText.overview(verbs.map { $0.syntax })) }
    try console.write(HelpText.verb(verb(named: name).syntax))
  }

  private static func verb(named name: String) throws(CommandFailure) -> any Verb.Type {
    if let verb = verbs.first(where: { $0.syntax.name == name }) { return verb }
    let hint = Spelling.hint(name, among: verbs.map { $0.syntax.name })
    throw .usage("there is no command \"\(name)\"\(hint); see heartwood --help")
  }

  private static func report(_ failure: CommandFailure, to console: any Console) -> ExitCode {
    console.writeNote("heartwood: \(failure.message.escapingControls)\n")
    return failure.code
  }
}
