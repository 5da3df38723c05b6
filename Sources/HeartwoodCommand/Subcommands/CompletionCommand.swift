/// Prints a script by which a shell completes the command's words.
enum CompletionCommand: Subcommand {
  enum Shell: String, CaseIterable { case bash, zsh, fish }

  static let syntax = SubcommandSyntax(
    name: "completion",
    summary: "print a script that completes commands and options in bash, zsh or fish",
    arguments: [SubcommandSyntax.Argument(name: "shell", summary: "bash, zsh or fish")],
    examples: [
      SubcommandSyntax.Example(
        line: "source <(heartwood completion bash)", meaning: "in ~/.bashrc; zsh alike in ~/.zshrc"),
      SubcommandSyntax.Example(
        line: "heartwood completion fish > ~/.config/fish/completions/heartwood.fish", meaning: "for fish"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let word = arguments.argument(0) ?? ""
    guard let shell = Shell(rawValue: word) else {
      throw .usage("<shell> is one of bash, zsh, fish, not \"\(word)\"")
    }
    switch shell {
    case .bash: try console.write(bash)
    // zsh reads what bash completes.
    case .zsh: try console.write("autoload -U +X bashcompinit && bashcompinit\n" + bash)
    case .fish: try console.write(fish)
    }
    return .success
  }

  private static var bash: String {
    var cases: [String] = []
    for syntax in Command.subcommands.map({ $0.syntax }) {
      cases.append("    \(syntax.name)) options=\"\(options(syntax))\" ;;")
    }
    for syntax in KeyValueSubcommands.all.map({ $0.syntax }) {
      cases.append("    \"\(syntax.name)\") options=\"\(options(syntax))\" ;;")
    }
    return """
      # Completion of heartwood, made by heartwood completion.
      _heartwood() {
        local word="${COMP_WORDS[COMP_CWORD]}" command="${COMP_WORDS[1]}" options=""
        if [ "$COMP_CWORD" -eq 1 ]; then
          COMPREPLY=($(compgen -W "\((names + [KeyValueSubcommands.name]).joined(separator: " "))" -- "$word"))
          return
        fi
        if [ "$command" = \(KeyValueSubcommands.name) ]; then
          if [ "$COMP_CWORD" -eq 2 ]; then
            COMPREPLY=($(compgen -W "\(keyValueNames.joined(separator: " "))" -- "$word"))
            return
          fi
          command="$command ${COMP_WORDS[2]}"
        fi
        case "$command" in
      \(cases.joined(separator: "\n"))
        esac
        case "$word" in
          -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
          *) COMPREPLY=($(compgen -f -- "$word")) ;;
        esac
      }
      complete -o filenames -F _heartwood heartwood

      """
  }

  private static var fish: String {
    var lines = ["# Completion of heartwood, made by heartwood completion."]
    for syntax in Command.subcommands.map({ $0.syntax }) {
      lines.append(
        "complete -c heartwood -n __fish_use_subcommand -f -a \(syntax.name) -d \(quoted(syntax.summary))")
      lines += options(syntax, after: syntax.name)
    }
    lines.append(
      "complete -c heartwood -n __fish_use_subcommand -f -a \(KeyValueSubcommands.name) -d \(quoted(KeyValueSubcommands.summary))"
    )
    for syntax in KeyValueSubcommands.all.map({ $0.syntax }) {
      let name = syntax.name.split(separator: " ").last ?? ""
      lines.append(
        "complete -c heartwood -n '__fish_seen_subcommand_from \(KeyValueSubcommands.name)' -f -a \(name) -d \(quoted(syntax.summary))"
      )
      lines += options(syntax, after: String(name))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func options(_ syntax: SubcommandSyntax, after name: String) -> [String] {
    syntax.options.map { option in
      "complete -c heartwood -n '__fish_seen_subcommand_from \(name)' -l \(option.name)"
        + (option.value == nil ? "" : " -r") + " -d \(quoted(option.summary))"
    }
  }

  private static func options(_ syntax: SubcommandSyntax) -> String {
    (syntax.options.flatMap(\.spellings) + ["--help"]).joined(separator: " ")
  }

  private static var names: [String] { Command.subcommands.map { $0.syntax.name } }

  private static var keyValueNames: [String] {
    KeyValueSubcommands.all.compactMap { $0.syntax.name.split(separator: " ").last.map(String.init) }
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "\\'") + "'"
  }
}
