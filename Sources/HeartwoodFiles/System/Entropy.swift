/// Where numbers that nobody can guess come from.
public protocol Entropy: Sendable {
  /// The next number, all 64 bits of it random.
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
