import Foundation
import HeartwoodEngine

/// Prints the value of a key.
enum KeyValueGetCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv get",
    summary: "write the value of a key",
    arguments: [.folder, .key],
    options: [
      .moment, .hexadecimal,
      SubcommandSyntax.Option(name: "raw", summary: "write the value's bytes as they are, and nothing else"),
    ],
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood kv get towns.store city/paris --at 3", meaning: "the value at generation 3")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let key = try arguments.key(1)
    let (path, notation) = (arguments.argument(0) ?? "", arguments.notation)
    guard !arguments.has("raw") || notation == .text else {
      throw .usage("--raw writes bytes as they are, and --hex writes digits: one of them")
    }
    try KeyValueStore.reading(path, at: arguments.moment(), console) { snapshot in
      guard let value = try snapshot.get(key) else {
        throw CommandFailure(.noInput, "\(path): there is no key \(notation.text(key))")
      }
      if arguments.has("raw") { return try console.write(value) }
      try console.writeLine(notation.text(value))
    }
    return .success
  }
}

/// Lists keys and their values.
enum KeyValueListCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv list",
    summary: "list keys and their values, in the order of the keys' bytes",
    arguments: [.folder],
    options: SubcommandSyntax.Option.range + [
      SubcommandSyntax.Option(name: "reverse", summary: "from the last key to the first"),
      SubcommandSyntax.Option(name: "limit", value: "number", summary: "at most this many"),
      SubcommandSyntax.Option(name: "keys-only", summary: "without the values"), .moment, .hexadecimal,
    ],
    discussion: "A line for each key: the key, a tab and the value. Long values are truncated on a terminal.",
    examples: [
      SubcommandSyntax.Example(
        line: "heartwood kv list towns.store --prefix city/ --reverse --limit 10",
        meaning: "the last ten keys that begin with city/")
    ])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let range = try arguments.range()
    var rest = try arguments.count("limit") ?? .max
    let (isReversed, keysOnly) = (arguments.has("reverse"), arguments.has("keys-only"))
    try KeyValueStore.reading(arguments.argument(0) ?? "", at: arguments.moment(), console) { snapshot in
      guard rest > 0 else { return }
      try snapshot.scan(range, reversed: isReversed) { key, value in
        try write(key, keysOnly ? nil : value, arguments.notation, console)
        snapshot.forgetDecompressedValues()
        rest -= 1
        return rest > 0
      }
    }
    return .success
  }

  /// Formats no more of a value than can be shown, if long values are truncated.
  private static func write(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, _ notation: ByteNotation,
    _ console: any Console
  ) throws {
    var line: [UInt8] = []
    EntryLine.appendKey(key, notation, to: &line)
    if let value, !console.cutsLongCells {
      line.append(UInt8(ascii: "\t"))
      notation.append(value, to: &line)
    } else if let value {
      let shown = notation.text(Array(value.prefix(ResultTable.widestCell * 4)))
      line += Array("\t\(shown.cut(toColumns: ResultTable.widestCell))".utf8)
    }
    line.append(UInt8(ascii: "\n"))
    try console.write(line)
  }
}

/// Counts keys.
enum KeyValueCountCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv count",
    summary: "count the keys, or those of a range, without a scan",
    arguments: [.folder],
    options: SubcommandSyntax.Option.range + [.moment, .hexadecimal])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let range = try arguments.range()
    try KeyValueStore.reading(arguments.argument(0) ?? "", at: arguments.moment(), console) { snapshot in
      try console.writeLine("\(snapshot.count(in: range))")
    }
    return .success
  }
}

/// Prints the number of keys before a key.
enum KeyValueRankCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv rank",
    summary: "print the number of keys before a key, which need not exist",
    arguments: [.folder, .key],
    options: [.moment, .hexadecimal])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let key = try arguments.key(1)
    try KeyValueStore.reading(arguments.argument(0) ?? "", at: arguments.moment(), console) { snapshot in
      try console.writeLine("\(snapshot.rank(of: key))")
    }
    return .success
  }
}

/// Prints the entry at a rank.
enum KeyValueEntryCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv entry",
    summary: "print the key and the value at a rank; 0 is the first",
    arguments: [
      .folder, SubcommandSyntax.Argument(name: "number", summary: "the number of keys before it, from 0"),
    ],
    options: [.moment, .hexadecimal])

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let (path, word) = (arguments.argument(0) ?? "", arguments.argument(1) ?? "")
    guard let rank = UInt64(word) else {
      throw .usage("<number> is a whole number, 0 or more, not \"\(word)\"")
    }
    try KeyValueStore.reading(path, at: arguments.moment(), console) { snapshot in
      guard let entry = try snapshot.entry(at: rank) else {
        throw CommandFailure(.noInput, "\(path): there is no entry \(rank): there are \(snapshot.count) keys")
      }
      var line: [UInt8] = []
      EntryLine.append(entry.key, entry.value, arguments.notation, to: &line)
      try console.write(line)
    }
    return .success
  }
}
