import Heartwood
import HeartwoodEngine

/// Reads all of a store and reports whether it is intact.
enum VerifyCommand: Subcommand {
  static let syntax = SubcommandSyntax(
    name: "verify",
    summary: "read all of a store and check it; exit status 1 if something is wrong",
    arguments: [.store],
    discussion: """
      Checks every byte in use against its checksum, and that rows, indexes, relationships and history fit together.
      Nothing is changed. Each finding is a line.
      """)

  static func run(_ arguments: ParsedArguments, console: any Console) throws(CommandFailure) -> ExitCode {
    let path = arguments.argument(0) ?? ""
    try CommandStore.refuseApple(path)
    do {
      return try CommandStore.with(path, for: .inspecting, console) { store in
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
