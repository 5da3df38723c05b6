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

  private var program: URL {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
      path: "FaultProgramme")
  }
}
