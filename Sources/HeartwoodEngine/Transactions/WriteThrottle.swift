import HeartwoodFiles
import Synchronization

/// Slows commits so that they do not write faster than space is reclaimed. While values are moved, commits may write half
/// as many bytes as are moved; beyond that they wait for the next step.
final class WriteThrottle: Sendable {
  /// Bytes that commits may write before the first step.
  private static let burstBytes = 1 << 20
  /// Bytes that each step allows at least, even if it moved nothing.
  private static let leastBytes = 16 << 10

  private let isOn = Atomic(false)
  private let isStopped = Atomic(false)
  private let lock = Lock()
  private let changed = ConditionVariable()
  /// Bytes that commits may still write; may be negative.
  private let allowance = Atomic(0)

  /// Whether the last space survey found so much garbage that checkpoints are taken twice as often.
  let needsEarlyCheckpoint = Atomic(false)

  /// Whether the store is being closed, so that no reclamation may start or continue.
  var hasStopped: Bool { isStopped.load(ordering: .relaxed) }

  /// Starts throttling.
  func begin() {
    allowance.store(Self.burstBytes, ordering: .relaxed)
    isOn.store(true, ordering: .relaxed)
  }

  /// Records that a step moved so many bytes.
  func noteMoved(_ bytes: Int) {
    lock.withLock {
      allowance.wrappingAdd(max(bytes / 2, Self.leastBytes), ordering: .relaxed)
      changed.broadcast()
    }
  }

  /// Ends throttling, and wakes waiting commits.
  func end() {
    lock.withLock {
      isOn.store(false, ordering: .relaxed)
      changed.broadcast()
    }
  }

  /// Ends throttling for good, because the store is being closed.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    end()
  }

  /// Records that a commit wrote so many bytes.
  @inline(__always)
  func noteWritten(_ bytes: Int) {
    if isOn.load(ordering: .relaxed) { allowance.wrappingSubtract(bytes, ordering: .relaxed) }
  }

  /// Waits until commits may write again. Called before a transaction.
  ///
  /// - Precondition: The caller holds no lock.
  @inline(__always)
  func wait() {
    if isOn.load(ordering: .relaxed) { waitForStep() }
  }

  private func waitForStep() {
    lock.withLock {
      while isOn.load(ordering: .relaxed), allowance.load(ordering: .relaxed) <= 0 { changed.wait(lock) }
    }
  }
}
