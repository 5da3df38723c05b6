/// What a victim does between its promises.
public enum VictimKind: String, CaseIterable, Sendable {
  /// Four of five commits are full.
  case full
  /// One of eight commits is full, so that most of what reaches the disk was never synced.
  case deferring
  /// For the control: it promises like `full`, and its store was opened without syncs.
  case lying

  /// Whether the commit of a transaction is full; a deferred one is durable with the next one that is.
  public func isFull(_ number: Int) -> Bool {
    self == .deferring ? number % 8 == 0 : number % 5 != 3
  }
}
