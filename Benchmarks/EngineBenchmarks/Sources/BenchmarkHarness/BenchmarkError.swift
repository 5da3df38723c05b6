/// A benchmark that cannot go on: a peer failed, or peers disagree about what they read.
public struct BenchmarkError: Error, CustomStringConvertible {
  /// The reason, in a sentence without a full stop.
  public let description: String

  /// An error with a reason.
  public init(_ description: String) { self.description = description }
}

/// The error of a peer that does not find what it was given.
public func missingKey(_ peer: String) -> BenchmarkError {
  BenchmarkError("\(peer) does not find a key that was put")
}
