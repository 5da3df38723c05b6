import Foundation
import Testing

@testable import FaultProgramme

@Suite(.serialized) struct `A process that is killed` {
  @Test(arguments: [VictimKind.small, .deferring, .graph])
  func `a killed process loses no commit that was acknowledged as durable`(kind: VictimKind) throws {
    try KillRun(kind, seed: 4711, program: program).run(kills: 10)
  }

  @Test(arguments: [
    "seed=4712 processes=3 threads=2 kills=6 commits=600 tasks=reclaim,backup,verify,follow",
    "seed=4713 processes=2 threads=4 stops=3 openers=1 commits=400 durability=mixed buffered=true tasks=checkpoint",
  ])
  func `a killed process takes no commit from other processes that write the same store`(scenario: String)
    throws
  {
    try StressRun(scenario: try StressScenario(line: scenario), program: program).run()
  }

  @Test func `a killed process is part of a scenario that its line repeats`() throws {
    for seed in 1...200 as ClosedRange<UInt64> {
      let scenario = StressScenario(drawnBy: seed, commits: 100)
      #expect(try StressScenario(line: "\(scenario)") == scenario)
    }
    #expect(throws: Finding.self) { try StressScenario(line: "seed=1 nonsense=2") }
  }

  @Test(arguments: [
    (SIGKILL, "its process was ended by signal 9"), (SIGALRM, "it had not ended after 600 s"),
  ])
  func `a killed process ends the part that it runs, and not the fault programme`(
    signal: Int32, finding: String
  ) throws {
    let worker = try Worker(.short, seed: 1, program: program)
    try worker.ask("kills", 0)
    #expect(try worker.answer().figures["kills"] == 10)
    kill(worker.identifier, SIGSTOP)
    try worker.ask("kills", 0)
    kill(worker.identifier, signal)
    kill(worker.identifier, SIGCONT)
    #expect(try worker.answer().finding == finding)
    #expect(!worker.isRunning)
  }

  private var program: URL {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
      path: "FaultProgramme")
  }
}
