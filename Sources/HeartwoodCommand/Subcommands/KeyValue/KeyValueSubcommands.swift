/// `heartwood kv`: access to a store as keys and values.
enum KeyValueSubcommands {
  static let name = "kv"
  static let summary =
    "read and change a store of any kind as keys and values (see heartwood kv --help)"

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

    heartwood kv <command> --help describes a command. heartwood salvage copies the readable data of a damaged store.

    Any store can be read, including that of a graph; to change a graph's store, put, delete and load need --force.
    Commands that read open the store read-only; kv backup recovers a store that was not closed. Keys and values are
    bytes: in text, \\\\ stands for a backslash and \\xNN for a byte; with --hex, all bytes are hexadecimal digits. An
    argument that begins with - must follow --.

    """
  }
}
