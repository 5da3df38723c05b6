import Foundation
import HeartwoodEngine
import HeartwoodFaults

/// Runs several processes with several threads that write one store on the real file system, as described by
/// a scenario, and checks the store during the run and at the end.
struct StressRun {
  let scenario: StressScenario
  var program = URL(fileURLWithPath: CommandLine.arguments[0])

  /// - Returns: The number of acknowledged commits.
  @discardableResult
  func run() throws -> Int {
    let folder = FileManager.default.temporaryDirectory.appending(path: "stress-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
      let count = try run(in: folder.appending(path: "store").path)
      try FileManager.default.removeItem(at: folder)
      return count
    } catch {
      if ProcessInfo.processInfo.environment["HEARTWOOD_KEEP"] == nil {
        try? FileManager.default.removeItem(at: folder)
      }
      throw Finding("\(error); FaultProgramme stress \(scenario)")
    }
  }

  private func run(in path: String) throws -> Int {
    let acknowledgements = Acknowledgements()
    var processes: [StressProcess] = []
    // No process may outlive its test.
    defer { for process in processes where process.isRunning { process.kill() } }
    for number in 0..<scenario.processes + scenario.openers {
      processes.append(try start(number, path, acknowledgements))
    }
    var random = SplitMix64(seed: scenario.seed)
    let events = (0..<scenario.kills + scenario.stops).map { $0 < scenario.kills }
    for (number, isKill) in events.shuffled(using: &random).enumerated() {
      let wanted = scenario.commits * (number + 1) / (events.count + 1)
      try acknowledgements.wait(for: wanted) { processes.allSatisfy(\.isRunning) }
      let victim = random.below(processes.count)
      if isKill {
        processes[victim].kill()
        processes[victim] = try start(victim, path, acknowledgements)
      } else {
        processes[victim].stop(microseconds: UInt32(1000 + random.below(300_000)))
      }
    }
    try acknowledgements.wait(for: scenario.commits) { processes.allSatisfy(\.isRunning) }
    for process in processes { try process.finish() }
    try check(path, processes, try acknowledgements.ends())
    return acknowledgements.count
  }

  private func start(
    _ number: Int, _ path: String, _ acknowledgements: Acknowledgements
  ) throws -> StressProcess {
    let role = number < scenario.processes ? StressChild.Role.writer : .opener
    return try StressProcess(program, path, "p\(number)", role, scenario, acknowledgements)
  }

  // MARK: Checking

  /// Checks the final store. Every process has ended by itself, so every counter equals its last
  /// acknowledgement.
  private func check(_ path: String, _ processes: [StressProcess], _ ends: [String: ClosedRange<Int>]) throws
  {
    let engine = try Engine(at: path, options: scenario.options)
    let counts = try StressContents.check(try engine.snapshot(), ends.keys.sorted(), "at the end")
    for (thread, acknowledged) in ends.sorted(by: { $0.key < $1.key }) {
      let found = counts[thread] ?? 0
      try require(
        acknowledged.contains(found),
        "thread \(thread) was told of \(acknowledged.lowerBound) commits, and \(found) are there")
    }
    let report = try engine.verify()
    try require(report.isSound, "\(report.findings)")
    try engine.close()
    for process in processes {
      try checkBackup(at: StressChild.backup(of: path, by: process.name), ends.keys.sorted())
    }
  }

  /// Checks that a backup is complete. If a process was killed, it may be no store.
  private func checkBackup(at path: String, _ threads: [String]) throws {
    var options = scenario.options
    options.createsStore = false
    do {
      let backup = try Engine(at: path, options: options)
      try StressContents.check(try backup.snapshot(), threads, "in the backup")
      let findings = try backup.verify().findings
      try require(findings == [], "the backup: \(findings)")
      try backup.close()
    } catch let error as EngineError {
      try require(error.code == .notFound || error.code == .notAStore, "the backup: \(error)")
    }
  }
}
