import Foundation
import Testing

@testable import FaultProgramme

/// Runs a part of `Tests/FaultProgramme/run consumers followers`. `HEARTWOOD_LONG=1` kills 1,000 processes in each.
@Suite(.serialized) struct `Processes with consumers that are killed` {
  private static let kills = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] == nil ? 16 : 1_000
  private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "FaultProgramme")

  @Test func `consumers do their work once, and holds stay, when their processes are killed`() throws {
    let run = DiaryKillRun(seed: 6201, roles: DiaryKillRun.withHolds, program: Self.program)
    let report = try run.run(kills: Self.kills)
    print("consumers: \(report)")
    #expect(report.kills >= Self.kills)
  }

  @Test func `a follower is equal when writers, the shipper and the follower are killed`() throws {
    let run = DiaryKillRun(seed: 6202, roles: DiaryKillRun.followed, program: Self.program)
    let report = try run.run(kills: Self.kills)
    print("followers: \(report)")
    #expect(report.kills >= Self.kills)
  }

  @Test func `a line that a process prints is read as it was meant`() {
    let lines: [DiaryLine] = [
      .entry(writer: 1, 17), .position(reader: 0, 4), .holding("hold-1-2"), .held("hold-1-2", .max),
      .releasing("hold-1-2"), .released("hold-1-2"), .shipped(3), .followed(4), .failed("an error 5 6"),
    ]
    for line in lines { #expect(DiaryLine("\(line)") == line) }
    #expect(DiaryLine("held hold-1-2") == nil)
  }
}
