import HeartwoodBytes

/// Steele, Lea and Flood's generator: small, fast, and every seed is a good one.
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The numbers of a seed, from the first on.
  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to `limit`, which is not among them.
  package mutating func below(_ limit: Int) -> Int {
    require(limit > 0, "There is no number below \(limit).")
    return Int(next() % UInt64(limit))
  }

  /// One of them; there has to be one.
  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }
}
