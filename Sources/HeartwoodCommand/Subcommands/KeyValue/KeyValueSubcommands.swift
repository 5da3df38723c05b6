/// `heartwood kv`: a store as what it is to the engine, keys and values.
enum KeyValueSubcommands {
  static let name = "kv"
  static let summary =
    "look into a store of any kind as keys and values, and change it (see heartwood kv --help)"

  static var all: [any Subcommand.Type] {
    [
      KeyValueGetCommand.self, KeyValuePutCommand.self, KeyValueDeleteCommand.self, KeyValueListCommand.self,
      KeyValueCountCommand.self, KeyValueRankCommand.self, KeyValueEntryCommand.self,
      KeyValueGenerationsCommand.self,
      KeyValueStatisticsCommand.self, KeyValueVerifyCommand.self, KeyValueReclaimCommand.self,
      KeyValueBackupCommand.self,
      KeyValueDumpCommand.self, KeyValueLoadCommand.self,
    ]
  }

  static var help: String {
    """
    heartwood kv: stores as keys and values

    usage: heartwood kv <command> <store> ...

    commands
    \(HelpText.columns(all.map { ($0.syntax.name, $0.syntax.summary) }))

    heartwood kv <command> --help tells more about a command. heartwood salvage saves what is left of a damaged store.

    Any store can be read so, a graph's too; to change a graph's, put, delete and load need --force. Those that read
    open the store for reading only; kv backup completes one that was not closed. Keys and values are bytes: in text,
    \\\\ stands for a backslash and \\xNN for a byte; with --hex, everything is in hexadecimal digits. A word that begins
    with - stands behind --.

    """
  }
}
