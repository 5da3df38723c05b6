import Foundation
import Testing

/// What the library writes itself, what was found to be too much for it once, and what chance makes of both.
@Suite struct KeptInputTests {
  @Test(arguments: FuzzTarget.allCases)
  func `what the library writes itself is read`(target: FuzzTarget) {
    #expect(!target.seeds.isEmpty)
    for seed in target.seeds { #expect(target.finding(seed) == nil) }
  }

  @Test(arguments: FuzzTarget.allCases)
  func `what was found once is refused or read`(target: FuzzTarget) throws {
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
    var random = SystemIndependentRandomness(state: 31)
    let seeds = target.seeds
    for round in 0..<150 {
      var input = seeds[Int(random.next() % UInt64(seeds.count))]
      for _ in 0..<(1 + random.next() % 4) where !input.isEmpty {
        input[Int(random.next() % UInt64(input.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      if random.next() % 8 == 0 { input.removeLast(Int(random.next() % UInt64(input.count + 1))) }
      #expect(target.finding(input) == nil, "\(target), seed 31, round \(round)")
    }
  }
}

/// The same numbers everywhere.
private struct SystemIndependentRandomness {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
