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
      BackupVerb.self, SalvageVerb.self,
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
      console.writeNote(HelpText.overview)
      return .usage
    }
    switch first {
    case "--help", "-h", "help": try writeHelp(for: words.dropFirst(), console: console)
    case "--version": try console.writeLine("heartwood \(version)")
    case KeyValueVerbs.name: return try runKeyValueVerb(words.dropFirst(), console: console)
    default: return try run(verb(named: words.prefix(1)), words.dropFirst(), console: console)
    }
    return .success
  }

  private static func runKeyValueVerb(
    _ words: ArraySlice<String>, console: any Console
  ) throws(CommandFailure) -> ExitCode {
    guard let first = words.first else {
      console.writeNote(KeyValueVerbs.help)
      return .usage
    }
    guard !["--help", "-h", "help"].contains(first) else {
      try writeHelp(for: [KeyValueVerbs.name] + words.dropFirst(), console: console)
      return .success
    }
    return try run(verb(named: [KeyValueVerbs.name, first]), words.dropFirst(), console: console)
  }

  private static func run(
    _ verb: any Verb.Type, _ words: ArraySlice<String>, console: any Console
  ) throws(CommandFailure) -> ExitCode {
    if words.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      try console.write(HelpText.verb(verb.syntax))
      return .success
    }
    return try verb.run(ParsedArguments(Array(words), for: verb.syntax), console: console)
  }

  private static func writeHelp(
    for words: ArraySlice<String>, console: any Console
  ) throws(CommandFailure) {
    guard let first = words.first else { return try console.write(HelpText.overview) }
    guard first == KeyValueVerbs.name else {
      return try console.write(HelpText.verb(verb(named: words.prefix(1)).syntax))
    }
    guard words.count > 1 else { return try console.write(KeyValueVerbs.help) }
    try console.write(HelpText.verb(verb(named: words.prefix(2)).syntax))
  }

  /// - Parameter words: The verb, or kv and its verb.
  private static func verb(named words: ArraySlice<String>) throws(CommandFailure) -> any Verb.Type {
    let (name, group) = (words.joined(separator: " "), words.count > 1 ? KeyValueVerbs.all : verbs)
    if let verb = group.first(where: { $0.syntax.name == name }) { return verb }
    let known = group.map { $0.syntax.name } + (words.count > 1 ? [] : [KeyValueVerbs.name])
    let head = words.dropLast().map { $0 + " " }.joined()
    throw .usage(
      "there is no command \"\(name)\"\(Spelling.hint(name, among: known)); see heartwood \(head)--help")
  }

  private static func report(_ failure: CommandFailure, to console: any Console) -> ExitCode {
    console.writeNote("heartwood: \(failure.message.escapingControls)\n")
    return failure.code
  }
}
