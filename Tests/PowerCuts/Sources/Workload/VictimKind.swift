/// The workload of a victim.
public enum VictimKind: String, CaseIterable, Sendable {
  /// Four of five commits are full.
  case full
  /// One of eight commits is full, so that most writes to the disk are never synced.
  case deferring
  /// A control: it acknowledges like `full`, but its store is opened without syncs.
  case lying

  /// Whether the commit of a transaction is full. A deferred commit becomes durable with the next full one.
  public func isFull(_ number: Int) -> Bool {
    self == .deferring ? number % 8 == 0 : number % 5 != 3
  }
}
