/// A source of unpredictable numbers.
public protocol Entropy: Sendable {
  /// The next number, with 64 random bits.
  func next() -> UInt64
}

/// The entropy of the operating system.
public struct SystemEntropy: Entropy {
  /// The entropy; it has no state.
  public init() {}

  /// A number from the system's cryptographically secure generator.
  public func next() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
  }
}
