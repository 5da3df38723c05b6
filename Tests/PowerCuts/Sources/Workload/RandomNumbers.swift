/// The SplitMix64 generator of Steele, Lea and Flood: the same numbers for the same seed, inside and outside
/// of the machine.
public struct RandomNumbers: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator with a seed.
  public init(seed: UInt64) { state = seed }

  /// The next 64-bit number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A random number in `0..<limit`. `limit` must be positive.
  public mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
