import HeartwoodEngine

/// The workload of a victim.
enum VictimKind: String, CaseIterable, Sendable {
  /// Small segments and checkpoints, so that even a short run meets several.
  case small
  /// Two of three commits are deferred.
  case deferring
  /// Values of several kilobytes, through buffers.
  case large
  /// Saves of a graph.
  case graph
  /// The default options and the log only.
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

  /// The durability with which the transaction is committed.
  func durability(of number: Int) -> Durability {
    self == .deferring && !number.isMultiple(of: 3) ? .deferred : .full
  }
}
