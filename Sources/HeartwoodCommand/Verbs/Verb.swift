/// One of the things the command does.
protocol Verb: Sendable {
  static var syntax: VerbSyntax { get }
  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode
}
