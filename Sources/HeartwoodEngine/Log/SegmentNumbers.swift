import HeartwoodFiles
import Synchronization

/// Assigns the numbers of log and page segments; none is used twice.
final class SegmentNumbers: @unchecked Sendable {
  private let lock = Lock()
  /// Writes are guarded by `lock`.
  private let next: Atomic<UInt32>

  init(next: UInt32) { self.next = Atomic(next) }

  /// The number of the next segment. Acquires no lock.
  var upcoming: UInt32 { next.load(ordering: .acquiring) }

  /// Skips the numbers below this one, which another process has used.
  func raise(to number: UInt32) { lock.withLock { next.store(max(upcoming, number), ordering: .releasing) } }

  /// Assigns the next number.
  ///
  /// - Throws: `.tooLarge` if all numbers are used.
  func take() throws(EngineError) -> UInt32 {
    try lock.withLock { () throws(EngineError) in
      let number = upcoming
      guard UInt64(number) <= Format.segmentNumberLimit else {
        throw EngineError(
          .tooLarge, "the store has used all segment numbers; copy its contents to a new store")
      }
      next.store(number + 1, ordering: .releasing)
      return number
    }
  }
}
