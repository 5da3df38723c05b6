import Foundation
import Testing

@testable import FaultProgramme

@Suite(.serialized) struct `A process that is killed` {
  @Test(arguments: [VictimKind.small, .deferring, .graph])
  func `loses nothing that it was told is durable`(kind: VictimKind) throws {
    let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "FaultProgramme")
    try KillRun(kind, seed: 4711, program: program).run(kills: 10)
  }
}
