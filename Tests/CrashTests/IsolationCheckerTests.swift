import Testing

@testable import FaultProgramme

@Suite struct IsolationCheckerTests {
  @Test(arguments: PlantedAnomaly.all)
  func `a planted anomaly is found and named`(planted: PlantedAnomaly) throws {
    for seed in 1...5 as ClosedRange<UInt64> { try planted.prove(seed: seed, count: 40) }
  }

  @Test func `a thousand correct histories raise no alarm, and write skew is reported`() throws {
    let allowed = try IsolationProof.findNothingInCorrectHistories(seeds: 0..<1000, count: 40)
    #expect(allowed > 0)
  }

  @Test func `every anomaly has been planted`() {
    let planted = Set(PlantedAnomaly.all.map(\.anomaly))
    #expect(planted == Set(Anomaly.allCases))
  }

  @Test func `write skew among transactions that see snapshots is allowed`() {
    var planter = Planter(HistoryGenerator.history(.snapshot, count: 10, seed: 1), seed: 1)
    let (x, y) = (planter.freshList(), planter.freshList())
    let (base, begin) = (planter.newest, planter.tick())
    planter.commit(.read(x, []), .append(y, 1_000_001), from: base)
    planter.commit(.read(y, []), .append(x, 1_000_002), from: base, begin: begin)
    let report = IsolationReport(of: planter.finish())
    #expect(report.findings.isEmpty)
    #expect(report.allowed.map(\.anomaly).contains(.writeSkew))
  }
}
