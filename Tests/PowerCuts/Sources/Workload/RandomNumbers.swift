/// Steele, Lea and Flood's SplitMix64: the same numbers for the same seed, in the machine and outside.
public struct RandomNumbers: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The numbers of a seed, from the first on.
  public init(seed: UInt64) { state = seed }

  /// The next number, all 64 bits of it.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to `limit`, which is above 0 and not among them.
  public mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
