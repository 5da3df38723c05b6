import Heartwood
import HeartwoodEngine

/// Reads all of a store and reports whether it is intact.
enum VerifyCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "verify",
    summary: "read all of a store and check it; exit status 1 if something is wrong",
    arguments: [.store], options: [.moment, .model],
    discussion: """
      Checks every byte in use against its checksum, and that rows, indexes, relationships and history fit together.
      Nothing is changed. Each finding is a line. With --as-of, the same is checked of what can be read as of then: rows,
      indexes, relationships and history, and the pages that have them, but not the rest of the files.

      Of a store of Core Data, a SQLite file, every row, object and link is read, and its history. The file has no
      checksums. The indexes by which links are found are compared with their tables. One that differs is a note, as are
      links that lead nowhere, and other things that are read as none.
      """)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    let moment = arguments.moment()
    do {
      if moment == nil, CommandStore.isApple(path) { return try readApple(path, arguments, console) }
      return try CommandStore.with(path, for: .inspecting, model: arguments.value("model"), console) {
        store in
        if let moment { return try verify(store, at: moment, console) }
        let findings = try findings(in: store, console)
        guard findings.isEmpty else { return try report(findings, path, console) }
        let count = try store.objectCounts().map(\.objects).reduce(0, +)
        let engine = try store.coordinator.statistics()
        try console.writeLine(
          "\(path) is sound: \(Amount.text(count, "object")), \(Amount.text(engine.keys, "key")), "
            + "generation \(engine.generation.rawValue)")
        return .success
      }
    } catch {
      // The purpose of the command is to report damage, so a store that is too damaged to open is a result.
      guard error.isDamage else { throw error }
      return try report([error.message], path, console)
    }
  }

  private static func verify(
    _ store: CommandStore, at moment: Moment, _ console: any Console
  ) throws -> ExitCode {
    let generation = try store.pastNumber(of: moment)
    let findings = try store.coordinator.verify(asOf: generation).findings
    guard findings.isEmpty else { return try report(findings, store.path, console) }
    try store.pin(to: .generation(generation))
    let count = try store.objectCounts().map(\.objects).reduce(0, +)
    try console.writeLine(
      "\(store.path) is sound as of generation \(generation): \(Amount.text(count, "object"))")
    return .success
  }

  private static func readApple(
    _ path: String, _ arguments: ParsedArguments, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    try CommandStore.with(path, for: .inspecting, model: arguments.value("model"), console) { store in
      try store.readAll()
      let count = try store.objectCounts().map(\.objects).reduce(0, +)
      try console.writeLine("\(path) can be read: \(Amount.text(count, "object"))")
      return .success
    }
  }

  static func report(
    _ findings: [String], _ path: String, _ console: any Console
  ) throws(CommandFailure) -> ExitCode {
    for finding in findings { try console.writeLine(finding.escapingControls) }
    console.writeNote("heartwood: \(path): \(Amount.text(findings.count, "finding"))\n")
    return .verificationFailed
  }

  private static func findings(in store: CommandStore, _ console: any Console) throws -> [String] {
    try showingProgress(on: console) { try store.coordinator.verify(progress: $0) }.findings
  }

  /// Runs a verification and shows the percentage of bytes that it has read.
  static func showingProgress<Report>(
    on console: any Console, _ body: (@escaping (Int64, Int64) -> Void) throws -> Report
  ) rethrows -> Report {
    var progress = ProgressLine("verifying", total: 100, on: console)
    defer { progress.finish() }
    return try body { done, total in
      progress.show("verifying \(total > 0 ? done * 100 / total : 100) %")
    }
  }
}
