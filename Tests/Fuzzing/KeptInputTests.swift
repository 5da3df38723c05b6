import Foundation
import HeartwoodFaults
import Testing

/// Runs the fuzz targets with their seeds, with the kept inputs of past findings, and with random changes of the seeds.
@Suite struct KeptInputTests {
  @Test(arguments: FuzzTarget.allCases)
  func `decoders read what the library writes`(target: FuzzTarget) {
    #expect(!target.seeds.isEmpty)
    for seed in target.seeds { #expect(target.finding(seed) == nil) }
  }

  @Test(arguments: FuzzTarget.allCases)
  func `inputs that once failed are refused or read`(target: FuzzTarget) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Fixtures/Fuzz/\(target.rawValue)").standardized
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() {
      let input = [UInt8](try Data(contentsOf: folder.appending(path: name)))
      #expect(target.finding(input) == nil, "Fixtures/Fuzz/\(target.rawValue)/\(name)")
    }
  }

  @Test(arguments: FuzzTarget.allCases)
  func `seeds with a few bytes changed are refused or read`(target: FuzzTarget) {
    var random = SplitMix64(seed: 31)
    let seeds = target.seeds
    for round in 0..<150 {
      var input = random.pick(seeds)
      for _ in 0..<(1 + random.next() % 4) where !input.isEmpty {
        input[random.below(input.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      if random.next() % 8 == 0 { input.removeLast(random.below(input.count + 1)) }
      #expect(target.finding(input) == nil, "\(target), seed 31, round \(round)")
    }
  }
}
