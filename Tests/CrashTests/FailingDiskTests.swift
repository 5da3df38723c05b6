import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import FaultProgramme

/// Runs a part of `Tests/FaultProgramme/run errors`.
@Suite(.serialized) struct FailingDiskTests {
  @Test(arguments: Workload.ofOneProcess)
  func `any one failing call leaves a store that keeps its promises`(workload: Workload) throws {
    let prepared = try PreparedWorkload(workload)
    let calls = try prepared.calls().filter { $0.calls != .of(.read) || $0.number.isMultiple(of: 4) }
    let tried = Array(calls.sampled(every: 48))
    for (number, call) in tried.enumerated() {
      try ErrorScenario(prepared: prepared, plan: call.plan(Self.way(number))).run()
    }
    print("\(workload): \(tried.count) of \(calls.count) failing calls")
  }

  @Test(arguments: [Workload.checkpoints, .reopening, .deferredRoll])
  func `any one failing read is an error and not a loss`(workload: Workload) throws {
    let course = try OpeningErrorScenario(workload)
    for access in [EngineOptions.Access.readWrite, .readOnly] {
      for (number, call) in try course.calls(access).sampled(every: 6).enumerated() {
        #expect(try course.run(call.plan(Self.way(number)), access), "\(call)")
      }
    }
  }

  @Test(arguments: [Workload.creation, .deferred])
  func `short reads and writes change nothing`(workload: Workload) throws {
    let short = ShortTransfers(prepared: try PreparedWorkload(workload))
    let transfers = try short.transfers()
    for transfer in transfers.sampled(every: 4) { try short.run(transfer) }
    #expect(transfers.count > 10)
    try short.runAll(largestRead: 1000, largestWrite: 700)
  }

  @Test func `a store on a failing real disk leaves no file open`() throws {
    let disk = RealDisk(workload: .creation)
    for (number, call) in try disk.calls().enumerated() where number.isMultiple(of: 3) {
      try disk.run(call.plan(Self.way(number)))
    }
  }

  @Test(arguments: [
    WayToFail(code: .inputOutput, duration: .forever, isOfAllCalls: true),
    WayToFail(code: .inputOutput, duration: .forever), WayToFail(code: .noSpace, effect: .whole),
  ])
  func `a refused commit stays absent, or reports that it may reappear`(way: WayToFail) throws {
    let prepared = try PreparedWorkload(.manySmall)
    for number in stride(from: 15, through: 42, by: 3) {
      let plan = FailingCall(calls: .write, number: number).plan(way)
      try ErrorScenario(prepared: prepared, plan: plan).run()
    }
  }

  private static func way(_ number: Int) -> WayToFail { WayToFail.usual[number % WayToFail.usual.count] }
}
