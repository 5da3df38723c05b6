import HeartwoodFaults
import Testing

@testable import Heartwood

@Suite struct KeyPairsTests {
  // MIG-12
  @Test(arguments: 0..<40)
  func `pairs of keys are found as in a plain list, in whatever order they are added`(seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var pairs = KeyPairs()
    var plain: [(source: UInt64, destination: UInt64)] = []
    var (source, destination) = (UInt64.random(in: 0..<5, using: &random), UInt64(1))
    for _ in 0..<Int.random(in: 1...300, using: &random) {
      pairs.add(source, destination)
      plain.append((source, destination))
      // Long runs, gaps, one source with several destinations, and in some lists steps back.
      switch Int.random(in: 0..<20, using: &random) {
      case 0: source += UInt64.random(in: 2..<9, using: &random)
      case 1: destination += 3
      case 2: destination += 1
      case 3 where seed % 2 == 0: source = UInt64.random(in: 0..<(source + 1), using: &random)
      case 4 where seed % 3 == 0: destination = UInt64.random(in: 1..<(destination + 1), using: &random)
      default: (source, destination) = (source + 1, destination + 1)
      }
    }
    #expect(pairs.count == plain.count)
    #expect(plain.indices.map { pairs.destination(at: $0) } == plain.map(\.destination))
    #expect(pairs.destination(at: plain.count) == nil)
    for key in 0..<((plain.flatMap { [$0.source, $0.destination] }.max() ?? 0) + 3) {
      #expect(pairs.destinations(of: key) == plain.filter { $0.source == key }.map(\.destination))
      #expect(pairs.sources(of: key) == plain.filter { $0.destination == key }.map(\.source))
    }
  }
}
