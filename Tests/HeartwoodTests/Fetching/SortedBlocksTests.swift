import HeartwoodFaults
import Testing

@testable import Heartwood

@Suite struct `Sorted blocks` {
  @Test(arguments: [91, 92, 93] as [UInt64])
  func `insertions, removals, searches and walks are those of a sorted array`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var blocks = SortedBlocks<Int>()
    var plain: [Int] = []
    for step in 0..<6_000 {
      let value = Int.random(in: 0..<1_500, using: &random)
      let place = blocks.position { $0 < value }
      let index = plain.firstIndex { $0 >= value } ?? plain.count
      // It grows first, and is emptied at the end.
      if Int.random(in: 0..<6_000, using: &random) > step {
        blocks.insert(value, at: place)
        plain.insert(value, at: index)
      } else if blocks[place] == value {
        blocks.remove(at: place)
        plain.remove(at: index)
      }
      guard step % 50 == 0 else { continue }
      #expect(blocks.count == plain.count, "seed \(seed), step \(step)")
      let (lower, upper) = (
        Int.random(in: 0..<1_500, using: &random), Int.random(in: 0..<1_500, using: &random)
      )
      let (first, last) = (blocks.position { $0 < lower }, blocks.position { $0 < upper })
      let expected = plain.filter { $0 >= lower && $0 < upper }
      #expect(blocks.count(from: first, to: last) == expected.count, "seed \(seed), step \(step)")
      guard lower <= upper else { continue }
      #expect(Self.forwards(blocks, first, last) == expected, "seed \(seed), step \(step)")
      #expect(Self.backwards(blocks, first, last) == expected.reversed(), "seed \(seed), step \(step)")
    }
  }

  private static func forwards(
    _ blocks: SortedBlocks<Int>, _ first: SortedBlocks<Int>.Position, _ last: SortedBlocks<Int>.Position
  ) -> [Int] {
    var (found, place) = ([Int](), first)
    while place != last, let element = blocks[place] {
      found.append(element)
      blocks.advance(&place)
    }
    return found
  }

  private static func backwards(
    _ blocks: SortedBlocks<Int>, _ first: SortedBlocks<Int>.Position, _ last: SortedBlocks<Int>.Position
  ) -> [Int] {
    var (found, place) = ([Int](), last)
    while place != first, blocks.retreat(&place), let element = blocks[place] { found.append(element) }
    return found
  }
}
