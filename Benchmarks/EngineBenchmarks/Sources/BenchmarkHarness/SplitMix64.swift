/// A small generator of pseudorandom numbers whose whole state is one word: the same seed gives every peer the
/// same work.
public struct SplitMix64: RandomNumberGenerator {
  @usableFromInline var state: UInt64

  /// A generator whose numbers follow from `seed`.
  @inlinable
  public init(seed: UInt64) { state = seed }

  /// The next number, of all 64 bits.
  @inlinable
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.mixed(state)
  }

  /// A number in `0..<bound`, by multiplication: the bias is below `bound` / 2^64.
  @inlinable
  public mutating func next(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A bijection of 64-bit numbers that looks random.
  @inlinable
  public static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
