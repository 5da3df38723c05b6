import Foundation

/// Runs the fault programme, or one of the processes that it starts.
@main
struct FaultProgramme {
  static let parts: [any Part] = [
    CrashPart(), RecoveryPart(), ErrorPart(), SyncPart(), DamagePart(), SimulationPart(), KillPart(),
    ProcessPart(), PairPart(), DiaryPart.consumers, DiaryPart.followers, SchedulePart(), IsolationPart(),
  ]

  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      if words.first == "victim" { try Victim.run(Array(words.dropFirst())) }
      if words.first == MigrationVictim.command { try MigrationVictim.run(Array(words.dropFirst())) }
      if words.first == PairChild.command { try PairChild.run(Array(words.dropFirst())) }
      if words.first == DiaryChild.command { try DiaryChild.run(Array(words.dropFirst())) }
      if words.first == StressChild.command { try StressChild.run(Array(words.dropFirst())) }
      if words.first == "stress" { try stress(words.dropFirst().joined(separator: " ")) }
      if words.first == "schedule" {
        let report = try SchedulePart.replay(Array(words.dropFirst()))
        print(report)
        exit(report.failure == nil ? 0 : 1)
      }
      if words.first == "worker" { try Worker.serve(Array(words.dropFirst()), parts) }
      let arguments = try Arguments(words)
      let chosen = try chosenParts(arguments)
      exit(try Programme(chosen, arguments).run() ? 0 : 1)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(2)
    }
  }

  /// Runs one stress test of several processes, as described by its line.
  private static func stress(_ line: String) throws -> Never {
    let count = try StressRun(scenario: try StressScenario(line: line)).run()
    print("\(count) commits were acknowledged, and all are there")
    exit(0)
  }

  private static func chosenParts(_ arguments: Arguments) throws -> [any Part] {
    let unknown = arguments.parts.filter { name in !parts.contains { $0.name == name } }
    guard unknown.isEmpty else {
      let list = parts.map { "  \($0.name)  \($0.summary)" }.joined(separator: "\n")
      throw Finding("there is no part \(unknown[0])\n\(Arguments.usage)\n\(list)")
    }
    guard arguments.piece == nil || arguments.parts.count == 1 else {
      throw Finding("--piece needs the part that it is one of")
    }
    return arguments.parts.isEmpty ? parts : parts.filter { arguments.parts.contains($0.name) }
  }
}
