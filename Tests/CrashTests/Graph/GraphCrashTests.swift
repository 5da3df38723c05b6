import Foundation
import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

@Suite(.serialized) struct `A graph whose machine crashes` {
  @Test func `a graph keeps every acknowledged save, whole, with its history`() throws {
    var limits = CrashImageLimits()
    limits.imageCount = 2
    let explorer = CrashExplorer(seed: 1, limits: limits)
    let report = try CrashSubject.graph.explore(explorer, variant: 0, seed: 1)
    print("graph: \(report)")
    try report.check()
    #expect(report.images > report.calls)
  }

  @Test func `the workload takes checkpoints and fills several segments before a crash`() throws {
    let disk = SimulatedFileSystem()
    try GraphSession.live(on: disk, GraphWitness(try GraphSession.states()))
    let names = try disk.openDirectory(Session.path).entries()
    #expect(names.contains { $0.hasSuffix(".pages") })
    #expect(names.count { $0.hasSuffix(".log") } > 1)
  }

  @Test func `a graph is compared with the intended result of its saves`() throws {
    let states = try GraphSession.states()
    #expect(states.count == GraphWorkload.steps.count + 1)
    #expect(states[0].lines == [])
    #expect(states[6].lines.prefix(18) == Self.afterSixSaves[...])
    #expect(states[9].lines.contains(Self.cascade))
    for (earlier, later) in zip(states, states.dropFirst()) {
      #expect(later.history.dropLast() == earlier.history[...])
    }
  }

  private static let afterSixSaves = [
    #"shelf A, 180: ["A9", "A3", "B1"]"#,
    #"shelf B, 210: ["A1", "B2", "B3", "A2"]"#,
    #"book A1 Title of B1, 7 pages, scan none, on B, lent to ["reader B1"], "#
      + #"about ["art", "law", "peace"], cites ["A2", "A1"], cited by ["A1", "B1"]"#,
    #"book A2 Moved, 107 pages, scan none, on B, lent to ["reader A2"], "#
      + #"about ["art"], cites [], cited by ["A1", "B1"]"#,
    #"book A3 Title of A3, 107 pages, scan none, on A, lent to ["reader A3"], "#
      + #"about ["art", "law"], cites [], cited by ["B1"]"#,
    #"book A9 Title of A9, 7 pages, scan none, on A, lent to [], about [], cites [], cited by []"#,
    #"book B1 Title of A1, 107 pages, scan none, on A, lent to ["reader A1"], "#
      + #"about [], cites ["A3", "A1", "A2"], cited by []"#,
    #"book B2 Ünïted 東京, 7 pages, scan none, on B, lent to ["reader B2"], about [], cites [], cited by []"#,
    #"book B3 Title of B3, 7 pages, scan 300×7, on B, lent to ["reader B3"], "#
      + #"about ["art"], cites [], cited by []"#,
    #"subject art: ["A1", "A2", "A3", "B3"]"#,
    #"subject law: ["A1", "A3"]"#,
    #"subject peace: ["A1"]"#,
    "loan to reader A1 of B1", "loan to reader A2 of A2", "loan to reader A3 of A3",
    "loan to reader B1 of A1", "loan to reader B2 of B2", "loan to reader B3 of B3",
  ]

  private static let cascade =
    #"transaction 9 by Eve in no context: delete Book p2 ["isbn=A2"]; delete Book p4 ["isbn=A1"]; "#
    + #"delete Book p5 ["isbn=B2"]; delete Book p6 ["isbn=B3"]; delete Loan p2 []; delete Loan p4 []; "#
    + #"delete Loan p5 []; delete Loan p6 []; delete Shelf p2 []; delete Subject p2 []; "#
    + #"update Book p1 ["citations"]; update Book p3 ["subjects"]; update Subject p3 ["books"]"#
}
