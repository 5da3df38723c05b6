/// Prints the manual page.
enum ManualCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "manual",
    summary: "print the manual page of all commands, for man",
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood manual > ~/.local/share/man/man1/heartwood.1", meaning: "then man heartwood shows it"
      )
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    try console.write(ManualPage.text)
    return .success
  }
}
