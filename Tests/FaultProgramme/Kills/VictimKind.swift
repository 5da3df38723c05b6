import HeartwoodEngine

/// What a victim does until it is killed.
enum VictimKind: String, CaseIterable, Sendable {
  /// Small figures, so that a short life meets new segments and checkpoints.
  case small
  /// Two of three commits are deferred.
  case deferring
  /// Values of several kilobytes, through buffers.
  case large
  /// A graph that is saved.
  case graph
  /// The usual figures, nothing but the log.
  case usual

  var options: EngineOptions {
    var options = EngineOptions()
    switch self {
    case .small: (options.segmentBytes, options.checkpointBytes) = (64 << 10, 64 << 10)
    case .deferring: (options.segmentBytes, options.checkpointBytes) = (64 << 10, 96 << 10)
    case .large:
      (options.segmentBytes, options.checkpointBytes) = (128 << 10, 256 << 10)
      options.reading = .buffered
    case .graph: (options.segmentBytes, options.checkpointBytes) = (64 << 10, 64 << 10)
    case .usual: break
    }
    return options
  }

  func rows(seed: UInt64) -> VictimRows {
    VictimRows(seed: seed, largestValue: self == .large ? 20_000 : 300)
  }

  /// Whether the transaction is durable when its commit returns.
  func durability(of number: Int) -> Durability {
    self == .deferring && !number.isMultiple(of: 3) ? .deferred : .full
  }
}
