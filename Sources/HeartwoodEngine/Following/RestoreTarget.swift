/// Which state of a store is restored.
public enum RestoreTarget: Hashable, Sendable {
  /// The newest one that was shipped.
  case newest
  /// The one after a transaction.
  case generation(Generation)
  /// The newest one that was committed at a time or before it, by the clock of the machine that committed: nanoseconds since
  /// 1970. Where that clock ran backwards, the later transaction counts.
  case time(Int64)

  /// Whether a transaction is not after this state.
  func includes(_ frame: FrameHeader) -> Bool {
    switch self {
    case .newest: true
    case .generation(let generation): frame.transaction <= generation.rawValue
    case .time(let time): frame.time <= time
    }
  }

  /// Whether the state is in a piece, or at its end.
  func isIn(_ piece: PieceHeader) -> Bool {
    switch self {
    case .newest: return true
    case .generation(let generation):
      let first = piece.start.map { $0.generation + 1 } ?? piece.end.generation
      return first <= generation.rawValue && generation.rawValue <= piece.end.generation
    case .time(let time): return piece.earliestTime <= time
    }
  }

  /// Whether the state is at the end of a piece that it is in.
  func isAtEnd(of piece: PieceHeader) -> Bool {
    switch self {
    case .newest: true
    case .generation(let generation): generation.rawValue == piece.end.generation
    case .time(let time): piece.latestTime <= time
    }
  }
}

/// A report on a restore.
public struct RestoreReport: Hashable, Sendable {
  /// The generation that the store has.
  public var generation: Generation
  /// The commit time of the newest transaction of the last piece, in nanoseconds since 1970.
  public var time: Int64
  /// Bytes that were written.
  public var bytes: Int64
  /// Number of pieces that were read.
  public var pieces: Int
}
