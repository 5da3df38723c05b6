/// The help texts, generated from the syntax of the subcommands.
enum HelpText {
  static var overview: String {
    let subcommands = Command.subcommands.map { ($0.syntax.name, $0.syntax.summary) }
    return """
      heartwood: object graphs in a store on disk, without code

      usage: heartwood <command> <store> ...

      commands
      \(columns(subcommands + [(KeyValueSubcommands.name, KeyValueSubcommands.summary)]))

      heartwood <command> --help describes a command; heartwood --version prints the version.

      \(introduction)
      Exit status: \(exitStatus)

      """
  }

  static let introduction = """
    A store is a directory, or a file made by copy. import, kv put and kv load create a missing store; backup, copy,
    follow, restore and salvage create one from another. The folder in which it is to be must be there.
    Reading changes nothing, except that it recovers a store that its writer did not close. verify and the kv commands
    that read do not recover a store; kv backup does.
    """

  static let exitStatus = "0 done, 1 verify, salvage or port found what is wrong, 64 to 77 as in sysexits(3)."

  static func subcommand(_ syntax: SubcommandSyntax) -> String {
    var parts = ["heartwood \(syntax.name): \(syntax.summary)", "usage: \(syntax.usage)"]
    if !syntax.arguments.isEmpty {
      parts.append("arguments\n" + columns(syntax.arguments.map { ("<\($0.name)>", $0.summary) }))
    }
    if !syntax.options.isEmpty {
      parts.append("options\n" + columns(syntax.options.map { (written($0), $0.summary) }))
    }
    if !syntax.discussion.isEmpty { parts.append(syntax.discussion) }
    if !syntax.examples.isEmpty {
      parts.append("examples\n" + syntax.examples.map(example).joined(separator: "\n"))
    }
    return parts.joined(separator: "\n\n") + "\n"
  }

  private static func written(_ option: SubcommandSyntax.Option) -> String {
    option.spellings.joined(separator: ", ") + (option.value.map { " <\($0)>" } ?? "")
  }

  private static func example(_ example: SubcommandSyntax.Example) -> String {
    "  \(example.line)\n      \(example.meaning)"
  }

  static func columns(_ rows: [(String, String)]) -> String {
    let width = rows.map { $0.0.count }.max() ?? 0
    return rows.map { row in
      "  " + row.0 + String(repeating: " ", count: width - row.0.count + 2) + row.1
    }.joined(separator: "\n")
  }
}
