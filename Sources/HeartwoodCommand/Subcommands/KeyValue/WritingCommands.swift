import Foundation
import HeartwoodEngine

/// Sets the value of a key.
enum KeyValuePutCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv put",
    summary: "set the value of a key in a store, which is created if it is missing",
    arguments: [
      .folder, .key,
      SubcommandSyntax.Argument(
        name: "value", summary: "the value; - or nothing for all bytes of standard input",
        isOptional: true, mayBeEmpty: true),
    ],
    options: [.hexadecimal, .force],
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood kv put towns.store city/paris 2102650", meaning: "a value of seven bytes"),
      SubcommandSyntax.Example(
        line: "heartwood kv put towns.store map - < map.png", meaning: "a file as a value"),
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let (path, key) = (arguments.argument(0) ?? "", try arguments.key(1))
    let value = try value(arguments)
    try KeyValueStore.changing(path, creating: true) { engine in
      try engine.write { transaction in
        try transaction.checkHoldsNoGraph(arguments)
        try transaction.put(key, value)
      }
      try console.writeLine("put 1 key; generation \(engine.newestGeneration)")
    }
    return .success
  }

  private static func value(_ arguments: ParsedArguments) throws(CommandFailure) -> [UInt8] {
    if let word = arguments.argument(2), word != "-" { return try arguments.bytes(word, called: "<value>") }
    let input = try InputFile.read("-")
    guard arguments.notation == .hexadecimal else { return input }
    do {
      return try HexDigits.bytes(input.filter { !" \t\r\n".utf8.contains($0) }[...])
    } catch {
      throw .data("standard input: \(error.message)")
    }
  }
}

/// Deletes keys.
enum KeyValueDeleteCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv delete",
    summary: "delete keys and their values in one transaction",
    arguments: [
      .folder,
      SubcommandSyntax.Argument(
        name: "key", summary: SubcommandSyntax.Argument.key.summary, isRepeated: true),
    ],
    options: [.hexadecimal, .force],
    discussion: "A missing key is not an error.")

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let keys = try arguments.keys(from: 1)
    try KeyValueStore.changing(arguments.argument(0) ?? "") { engine in
      var deleted = 0
      try engine.write { transaction in
        try transaction.checkHoldsNoGraph(arguments)
        for key in keys where try transaction.delete(key) { deleted += 1 }
      }
      try console.writeLine(
        "deleted \(deleted) of \(Amount.text(keys.count, "key")); generation \(engine.newestGeneration)")
    }
    return .success
  }
}
