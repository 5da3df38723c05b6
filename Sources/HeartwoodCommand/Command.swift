import Foundation
import HeartwoodAppleStores

/// The command-line tool `heartwood`.
@main
struct Command {
  static let version = "0.9.0"

  static var subcommands: [any Subcommand.Type] {
    [
      ImportCommand.self, ExportCommand.self, ModelCommand.self, GenerateCommand.self, PortCommand.self,
      BrowseCommand.self, TableCommand.self, FetchCommand.self,
      ShowCommand.self, CountCommand.self, UpdateCommand.self, DeleteCommand.self,
      HistoryCommand.self,
      GenerationsCommand.self, DiffCommand.self, UndoCommand.self, HoldCommand.self,
      ReleaseCommand.self, ChangesCommand.self, ConsumersCommand.self, SchemaCommand.self,
      StatisticsCommand.self,
      VerifyCommand.self,
      ReclaimCommand.self,
      BackupCommand.self, ShipCommand.self, FollowCommand.self, RestoreCommand.self, CopyCommand.self,
      SalvageCommand.self, MigrateCommand.self, CompletionCommand.self,
      ShellCommand.self, ManualCommand.self,
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

  /// Executes a command line and reports a failure on one line.
  static func run(_ words: [String], console: any Console) -> ExitCode {
    AppleSQLiteStore.register()
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
    case KeyValueSubcommands.name: return try runKeyValueSubcommand(words.dropFirst(), console: console)
    default: return try run(subcommand(named: words.prefix(1)), words.dropFirst(), console: console)
    }
    return .success
  }

  private static func runKeyValueSubcommand(
    _ words: ArraySlice<String>, console: any Console
  ) throws(CommandFailure) -> ExitCode {
    guard let first = words.first else {
      console.writeNote(KeyValueSubcommands.help)
      return .usage
    }
    guard !["--help", "-h", "help"].contains(first) else {
      try writeHelp(for: [KeyValueSubcommands.name] + words.dropFirst(), console: console)
      return .success
    }
    return try run(subcommand(named: [KeyValueSubcommands.name, first]), words.dropFirst(), console: console)
  }

  private static func run(
    _ subcommand: any Subcommand.Type, _ words: ArraySlice<String>, console: any Console
  ) throws(CommandFailure) -> ExitCode {
    if words.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      try console.write(HelpText.subcommand(subcommand.syntax))
      return .success
    }
    return try subcommand.run(ParsedArguments(Array(words), for: subcommand.syntax), console: console)
  }

  private static func writeHelp(
    for words: ArraySlice<String>, console: any Console
  ) throws(CommandFailure) {
    guard let first = words.first else { return try console.write(HelpText.overview) }
    guard first == KeyValueSubcommands.name else {
      return try console.write(HelpText.subcommand(subcommand(named: words.prefix(1)).syntax))
    }
    guard words.count > 1 else { return try console.write(KeyValueSubcommands.help) }
    try console.write(HelpText.subcommand(subcommand(named: words.prefix(2)).syntax))
  }

  /// - Parameter words: The subcommand, or kv and its subcommand.
  private static func subcommand(named words: ArraySlice<String>) throws(CommandFailure)
    -> any Subcommand.Type
  {
    let (name, group) = (
      words.joined(separator: " "), words.count > 1 ? KeyValueSubcommands.all : subcommands
    )
    if let subcommand = group.first(where: { $0.syntax.name == name }) { return subcommand }
    let known = group.map { $0.syntax.name } + (words.count > 1 ? [] : [KeyValueSubcommands.name])
    let head = words.dropLast().map { $0 + " " }.joined()
    throw .usage(
      "there is no command \"\(name)\"\(Spelling.hint(name, among: known)); see heartwood \(head)--help")
  }

  private static func report(_ failure: CommandFailure, to console: any Console) -> ExitCode {
    console.writeNote("heartwood: \(failure.message.escapingControls)\n")
    return failure.code
  }
}
