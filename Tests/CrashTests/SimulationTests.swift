import Testing

@testable import FaultProgramme

@Suite struct SimulationTests {
  @Test(arguments: 0..<6)
  func `a store keeps its promises through a random life on a failing machine`(seed: Int) throws {
    var figures = Figures()
    try SimulationPart.run(seed, of: 1, operations: 250, &figures)
    #expect(figures["seeds"] == 1)
  }

  @Test func `the same seed has the same operations, results and bytes`() throws {
    let results = try [3, 3, 4].map { seed in
      try EngineSimulation(seed: seed, Trace()).run(200)
    }
    #expect(results[0] == results[1])
    #expect(results[0] != results[2])
  }
}
