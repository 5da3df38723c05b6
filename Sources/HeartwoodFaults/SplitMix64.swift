import HeartwoodBytes

/// The SplitMix64 generator of Steele, Lea and Flood. It is small and fast, and every seed is suitable.
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator with a seed.
  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A random number in `0..<limit`. `limit` must be positive.
  package mutating func below(_ limit: Int) -> Int {
    require(limit > 0, "The limit must be positive, not \(limit).")
    return Int(next() % UInt64(limit))
  }

  /// A random element. The array must not be empty.
  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// Random bytes, runs of one byte, and copies of what came before.
  package mutating func compressibleBytes(_ count: Int) -> [UInt8] {
    var result: [UInt8] = []
    while result.count < count {
      let piece = 1 + below(below(6) == 0 ? 600 : 40)
      switch below(4) {
      case 0: result += bytes(piece)
      case 1: result += [UInt8](repeating: UInt8(below(4)), count: piece)
      default:
        guard !result.isEmpty else { continue }
        let start = below(result.count)
        for offset in 0..<piece { result.append(result[start + offset]) }
      }
    }
    return Array(result.prefix(count))
  }
}
