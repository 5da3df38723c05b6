/// One transaction in the log.
public struct GenerationRecord: Hashable, Sendable {
  /// The generation that it made.
  public let generation: Generation
  /// The commit time by the clock of the machine that committed, in nanoseconds since 1970.
  public let time: Int64
  /// The number of its puts.
  public let puts: UInt64
  /// The number of keys it deleted.
  public let deletes: UInt64
  /// Its size in the log, in bytes.
  public let bytes: Int64
  /// Whether the store made the transaction to move values. Its generation has the same content as the one
  /// before.
  public let isInternal: Bool
}
