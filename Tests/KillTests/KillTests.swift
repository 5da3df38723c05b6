import Foundation
import Testing

@testable import FaultProgramme

@Suite(.serialized) struct `A process that is killed` {
  @Test(arguments: [VictimKind.small, .deferring, .graph])
  func `loses nothing that it was told is durable`(kind: VictimKind) throws {
    try KillRun(kind, seed: 4711, program: program).run(kills: 10)
  }

  @Test func `takes nothing from the others that write the same store`() throws {
    try CrowdRun(seed: 4712, program: program).run(kills: 10)
  }

  @Test(arguments: [
    (SIGKILL, "its process was ended by signal 9"), (SIGALRM, "it had not ended after 600 s"),
  ])
  func `ends the piece that it runs, and not the fault programme`(signal: Int32, finding: String) throws {
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
