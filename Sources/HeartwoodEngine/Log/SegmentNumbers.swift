import HeartwoodFiles
import Synchronization

/// Gives out the numbers of segments of both kinds; none is used twice.
final class SegmentNumbers: @unchecked Sendable {
  private let lock = Lock()
  /// Changed under the lock.
  private let next: Atomic<UInt32>

  init(next: UInt32) { self.next = Atomic(next) }

  /// The number that the next segment will have. Takes no lock: every commit asks.
  var upcoming: UInt32 { next.load(ordering: .acquiring) }

  /// Another process has used the numbers below this one.
  func raise(to number: UInt32) { lock.withLock { next.store(max(upcoming, number), ordering: .releasing) } }

  func take() throws(EngineError) -> UInt32 {
    try lock.withLock { () throws(EngineError) in
      let number = upcoming
      guard UInt64(number) <= Format.segmentNumberLimit else {
        throw EngineError(.tooLarge, "the store has used up all numbers of segments; copy it to a new one")
      }
      next.store(number + 1, ordering: .releasing)
      return number
    }
  }
}
