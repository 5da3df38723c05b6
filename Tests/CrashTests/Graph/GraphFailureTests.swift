import Heartwood
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import FaultProgramme

/// Runs a part of `Tests/FaultProgramme/run errors`.
@Suite(.serialized) struct `A graph on a disk that fails` {
  @Test func `a graph refuses a save whole, and the same context saves when the disk works again`() throws {
    let states = try GraphSession.states()
    let calls = try GraphErrorScenario.calls()
    var outcomes = GraphErrorScenario.Outcomes()
    let tried = Array(calls.sampled(every: 7))
    for (number, call) in tried.enumerated() {
      let way = WayToFail.usual[number % WayToFail.usual.count]
      outcomes.add(try GraphErrorScenario(call.plan(way), states).run())
    }
    print("graph: \(tried.count) of \(calls.count) failing calls, \(outcomes)")
    #expect(outcomes.refused > 0 && outcomes.retried > 0 && outcomes.reopened > 0)
  }

  @Test(arguments: [0, 9_000, 17_000, 33_000, 60_000, 100_000])
  func `a graph continues when a full disk has room again`(room: Int64) throws {
    let outcomes = try GraphErrorScenario(FaultPlan(spaceLimit: room), try GraphSession.states()).run()
    #expect(outcomes.refused > 0)
  }

  @Test func `a graph shows the right objects or an error when a read fails`() throws {
    let opening = try GraphOpening()
    let refusals = try opening.calls().filter { call in
      try opening.run(call.plan(WayToFail(code: .inputOutput)))
    }
    #expect(refusals.count > 5)
  }
}
