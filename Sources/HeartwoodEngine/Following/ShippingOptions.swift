import HeartwoodFiles

/// How a store is shipped.
public struct ShippingOptions: Sendable {
  /// A new base is shipped when the newest one is older than this many seconds and something was committed since.
  public var baseSeconds: Double
  /// A new base is also shipped when the pieces after the newest one have more bytes than it has, and than this.
  public var baseBytes: Int64
  /// Pieces are kept for at least this many seconds: the store can be restored to each moment of that time.
  public var retentionSeconds: Double
  /// The newest piece is replaced by a longer one up to about this many bytes; then the next one begins.
  public var pieceBytes: Int
  /// The shortest time in seconds between two pieces, in which commits are collected.
  public var pauseSeconds: Double
  /// Provides the times of pieces.
  public var clock: any WallClock
  /// Provides the lineage of a store.
  public var entropy: any Entropy

  /// Creates options: by default a base a day, kept for seven days, and up to 20 pieces a second.
  public init(
    baseSeconds: Double = 86_400, baseBytes: Int64 = 64 << 20, retentionSeconds: Double = 7 * 86_400,
    pieceBytes: Int = 256 << 10, pauseSeconds: Double = 0.05, clock: any WallClock = SystemClock(),
    entropy: any Entropy = SystemEntropy()
  ) {
    self.baseSeconds = baseSeconds
    self.baseBytes = baseBytes
    self.retentionSeconds = retentionSeconds
    self.pieceBytes = pieceBytes
    self.pauseSeconds = pauseSeconds
    self.clock = clock
    self.entropy = entropy
  }
}

/// A report on the work of a shipper.
public struct ShippingReport: Hashable, Sendable {
  /// The newest generation that the destination has.
  public var generation: Generation
  /// The number of the newest piece.
  public var piece: UInt64
  /// Bytes that were put.
  public var bytes: Int64 = 0
  /// Whether a base was put.
  public var isBase = false
  /// Number of removed pieces, which were older than the retention.
  public var removedPieces: Int = 0
}
