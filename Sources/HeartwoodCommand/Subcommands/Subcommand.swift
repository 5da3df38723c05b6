/// A subcommand of the tool.
protocol Subcommand: Sendable {
  static var syntax: SubcommandSyntax { get }
  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode
}
