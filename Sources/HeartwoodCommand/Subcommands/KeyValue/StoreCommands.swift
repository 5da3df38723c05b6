import Heartwood
import Foundation
import HeartwoodEngine

/// Lists the generations of a store.
enum KeyValueGenerationsCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv generations",
    summary: "list the generations of a store that can still be read",
    arguments: [.folder],
    options: [.format],
    discussion: """
      Every transaction makes a generation, whose number can be given to --at. Internal ones were made by the store, to move
      what lives: they hold what the one before them holds.
      """)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", OutputFormat.self) ?? .table
    try KeyValueStore.inspecting(arguments.argument(0) ?? "", console) { engine in
      var table = ResultTable(columns: ["generation", "date", "puts", "deletes", "bytes", "internal"])
      table.noun = ("generation", "generations")
      table.rows = try engine.generations().map(row)
      try table.write(format, to: console)
    }
    return .success
  }

  private static func row(_ record: GenerationRecord) -> [CellValue] {
    [
      .integer(Int64(clamping: record.generation.rawValue)),
      .date(Date(timeIntervalSince1970: Double(record.time) / 1e9)),
      .integer(Int64(clamping: record.puts)), .integer(Int64(clamping: record.deletes)),
      .integer(record.bytes), .bool(record.isInternal),
    ]
  }
}

/// Prints the statistics of a store.
enum KeyValueStatisticsCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv statistics",
    summary: "print the number of keys of a store and its size on disk",
    arguments: [.folder],
    options: StatisticsCommand.syntax.options)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let format = try arguments.choice("format", StatisticsCommand.Format.self) ?? .text
    try KeyValueStore.inspecting(arguments.argument(0) ?? "", console) { engine in
      let figures = EngineFigures(identifier: "\(engine.storeIdentifier)", try engine.statistics())
      switch format {
      case .text: try console.write(EngineFigures.text(figures.rows))
      case .json: try console.writeLine(JSONWriter.pretty(.object(JSONObject(figures.fields))))
      }
    }
    return .success
  }
}

/// Reads all of a store and reports whether it is intact.
enum KeyValueVerifyCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv verify",
    summary: "read all of a store and check it; exit status 1 if something is wrong",
    arguments: [.folder],
    discussion: """
      Checks every byte in use against its checksum, and that log and tree fit together. What a graph means by its keys is
      not checked; use heartwood verify for that.
      """)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    do {
      return try KeyValueStore.inspecting(path, console) { engine in
        let report = try VerifyCommand.showingProgress(on: console) { try engine.verify(progress: $0) }
        guard report.isSound else { return try VerifyCommand.report(report.findings, path, console) }
        try console.writeLine(
          "\(path) is sound: \(Amount.text(report.keys, "key")), generation \(report.generation)")
        return .success
      }
    } catch {
      guard error.isDamage else { throw error }
      return try VerifyCommand.report([error.message], path, console)
    }
  }
}

/// Copies a store to another directory, or updates an earlier copy there.
enum KeyValueBackupCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv backup",
    summary: BackupCommand.syntax.summary,
    arguments: BackupCommand.syntax.arguments,
    discussion: BackupCommand.syntax.discussion)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let target = arguments.argument(1) ?? ""
    try KeyValueStore.completing(arguments.argument(0) ?? "", console) { engine in
      let report = try GraphFailure.catching(target) { try engine.backup(to: CommandStore.folder(target)) }
      try console.writeLine(BackupCommand.text(report))
    }
    return .success
  }
}

/// Reclaims the space of overwritten and deleted values.
enum KeyValueReclaimCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "kv reclaim",
    summary: "reclaim the space of overwritten and deleted values",
    arguments: [.folder],
    discussion: "Earlier generations that need the reclaimed space can no longer be read.")

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    try KeyValueStore.changing(arguments.argument(0) ?? "") { engine in
      try console.writeLine(ReclaimCommand.text(try engine.reclaim()))
    }
    return .success
  }
}
