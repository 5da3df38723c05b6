import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood

@Suite struct `Codes of boxes` {
  private static func number(_ random: inout SplitMix64) -> UInt64 {
    let number = UInt64.random(in: 0...(.max), using: &random)
    return switch Int.random(in: 0..<5, using: &random) {
    case 0: number
    case 1: number >> 40
    case 2: .max - number >> 50
    case 3: UInt64(1) << (number & 63)
    default: number & 7
    }
  }

  private static func range(_ random: inout SplitMix64) -> ClosedRange<UInt64> {
    let (first, second) = (number(&random), number(&random))
    return min(first, second)...max(first, second)
  }

  @Test func `a code has its two numbers, and its bytes its order`() throws {
    var random = SplitMix64(seed: 5)
    var codes: [BoxCode] = []
    for _ in 0..<500 {
      let (first, second) = (Self.number(&random), Self.number(&random))
      let code = BoxCode(first, second)
      #expect(code.first == first && code.second == second)
      var bytes: [UInt8] = []
      code.append(to: &bytes)
      #expect(bytes.withUnsafeBytes { BoxCode($0) } == code)
      codes.append(code)
    }
    for (left, right) in zip(codes, codes.dropFirst()) {
      var (first, second): ([UInt8], [UInt8]) = ([], [])
      left.append(to: &first)
      right.append(to: &second)
      #expect((left < right) == first.lexicographicallyPrecedes(second))
    }
    #expect(BoxCode(0, 0) < BoxCode(0, 1) && BoxCode(0, 1) < BoxCode(1, 0) && BoxCode(1, 1) < BoxCode(0, 2))
    #expect([1, 2].withUnsafeBytes { BoxCode(UnsafeRawBufferPointer(rebasing: $0.prefix(15))) } == nil)
  }

  @Test func `the parts of a box have each of its points once, and few others`() throws {
    var random = SplitMix64(seed: 6)
    for _ in 0..<60 {
      let points = (0..<400).map { _ in BoxCode(Self.number(&random), Self.number(&random)) }
      let box = Box(first: Self.range(&random), second: Self.range(&random))
      var counted = 0
      let ranges = try BoxRanges(box) { codes in
        counted += 1
        return points.count { codes.contains($0) }
      }
      #expect(ranges.parts.count <= 35 && counted < 500)
      for point in points {
        let parts = ranges.parts.filter { $0.codes.contains(point) }
        #expect(parts.count <= 1)
        if box.contains(point) { #expect(parts.count == 1) }
        if let part = parts.first { #expect(part.box != nil || box.contains(point)) }
      }
      #expect(ranges.entries == points.count { point in ranges.parts.contains { $0.codes.contains(point) } })
      #expect(
        zip(ranges.parts, ranges.parts.dropFirst()).allSatisfy { $0.codes.upperBound < $1.codes.lowerBound })
    }
  }
}
