import Foundation
import Heartwood

/// Runs commands on one store, line by line.
enum ShellCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "shell",
    summary: "run commands on a store line by line, with history and completion on a terminal",
    arguments: [.store],
    discussion: """
      A line is a command without "heartwood" and without the store: fetch Country --where 'population > 5e7'. "help"
      lists the commands, "help fetch" describes one, and "exit" or the end of the input ends the session.
      On a terminal, Tab completes commands, options, entities and properties, and the arrow keys find former lines,
      which are kept in ~/.heartwood_history, or in the file that HEARTWOOD_HISTORY names. Otherwise the first line
      that fails ends the session with its status.
      """,
    examples: [
      SubcommandSyntax.Example(line: "heartwood shell world.heartwood", meaning: "a session on a terminal"),
      SubcommandSyntax.Example(
        line: "echo 'count Country' | heartwood shell world.heartwood",
        meaning: "commands from a file or a program"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    let model = try CommandStore.with(path, for: .reading, console) { $0.model }
    guard isatty(STDIN_FILENO) == 1 else { return try run(path, console) { readLine() } }
    var history = ShellHistory(path: ShellHistory.path(ProcessInfo.processInfo.environment))
    let complete = ShellCompletion(model: model)
    while case .some(.some(let line)) = Terminal.line(
      "heartwood> ", LineEditor(history: history.lines, complete: { complete($0) }))
    {
      history.add(line)
      guard try execute(line, path, console) != nil else { break }
      try console.flush()
    }
    return .success
  }

  /// Runs the lines of a script until one fails.
  static func run(
    _ path: String, _ console: any Console, _ next: () -> String?
  ) throws(CommandFailure) -> ExitCode {
    while let line = next() {
      guard let code = try execute(line, path, console) else { break }
      try console.flush()
      guard code == .success else { return code }
    }
    return .success
  }

  /// Runs one line; nil if it ends the session.
  private static func execute(
    _ line: String, _ path: String, _ console: any Console
  ) throws(CommandFailure) -> ExitCode? {
    let words = ShellWords(Array(line))
    guard words.openQuote == nil else {
      console.writeNote("heartwood: a quotation mark has no end\n")
      return .usage
    }
    let texts = words.words.map(\.text)
    guard let first = texts.first, !first.hasPrefix("#") else { return .success }
    if endings.contains(first) { return nil }
    guard first != syntax.name else {
      console.writeNote("heartwood: this is a shell already\n")
      return .usage
    }
    guard let syntax = syntax(of: texts),
      syntax.arguments.first?.name == SubcommandSyntax.Argument.store.name,
      !texts.contains("--help")
    else { return Command.run(texts, console: console) }
    let verb = texts.prefix(first == KeyValueSubcommands.name ? 2 : 1)
    return Command.run(verb + [path] + texts.dropFirst(verb.count), console: console)
  }

  private static let endings = ["exit", "quit"]

  static var verbs: [String] {
    (Command.subcommands.map { $0.syntax.name }.filter { $0 != syntax.name } + [
      KeyValueSubcommands.name, "help",
    ] + endings)
    .sorted()
  }

  static var keyValueVerbs: [String] {
    KeyValueSubcommands.all.map { String($0.syntax.name.dropFirst(KeyValueSubcommands.name.count + 1)) }
  }

  /// The syntax of the command that a line begins with; nil if there is none.
  static func syntax(of words: [String]) -> SubcommandSyntax? {
    guard let first = words.first else { return nil }
    guard first == KeyValueSubcommands.name else {
      return Command.subcommands.first { $0.syntax.name == first }?.syntax
    }
    guard words.count > 1 else { return nil }
    return KeyValueSubcommands.all.first { $0.syntax.name == "\(first) \(words[1])" }?.syntax
  }
}
