/// The manual page, generated from the syntax of the subcommands.
///
/// Source of the notation: man(7).
enum ManualPage {
  static var text: String {
    let syntaxes = Command.subcommands.map { $0.syntax } + KeyValueSubcommands.all.map { $0.syntax }
    let parts = [
      ".TH HEARTWOOD 1 \"\" \"heartwood \(Command.version)\" \"User Commands\"",
      ".SH NAME\nheartwood \\- object graphs in a store on disk, without code",
      ".SH SYNOPSIS\n.B heartwood\n\\fIcommand\\fR \\fIstore\\fR ...",
      ".SH DESCRIPTION\n" + escaped(HelpText.introduction),
      ".SH COMMANDS",
    ]
    let ends = [
      ".SH EXIT STATUS\n" + escaped(HelpText.exitStatus),
      ".SH ENVIRONMENT",
      variable("NO_COLOR", "If it is set and not empty, tables have no colours on a terminal."),
      variable(
        "HEARTWOOD_HISTORY",
        "The file with the former lines of the shell, in place of ~/.heartwood_history; if it is empty, none are kept."
      ),
      variable(
        "HEARTWOOD_FETCH_DEBUG",
        "1 writes a line about each fetch to standard error, and 2 the steps of its plan, too."),
    ]
    return (parts + syntaxes.map(subcommand) + ends).joined(separator: "\n") + "\n"
  }

  private static func variable(_ name: String, _ meaning: String) -> String {
    entry("\\fB\(name)\\fR", meaning).joined(separator: "\n")
  }

  private static func subcommand(_ syntax: SubcommandSyntax) -> String {
    var lines = [".SS \(escaped(syntax.usage))", escaped(syntax.summary) + "."]
    for argument in syntax.arguments { lines += entry("\\fI\(escaped(argument.name))\\fR", argument.summary) }
    for option in syntax.options {
      let value = option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
      lines += entry("\\fB\(escaped(option.spellings.joined(separator: ", ")))\\fR\(value)", option.summary)
    }
    if !syntax.discussion.isEmpty { lines += [".PP", verbatim(syntax.discussion)] }
    for example in syntax.examples {
      lines += [".PP", escaped(example.meaning) + ":", ".PP", ".RS 4", verbatim(example.line), ".RE"]
    }
    return lines.joined(separator: "\n")
  }

  private static func entry(_ head: String, _ summary: String) -> [String] {
    [".TP", head, escaped(summary)]
  }

  private static func verbatim(_ text: String) -> String { ".nf\n\(escaped(text))\n.fi" }

  /// The text without characters that have a meaning in the notation.
  private static func escaped(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let line = line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
      return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }.joined(separator: "\n")
  }
}
