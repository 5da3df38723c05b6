import HeartwoodFiles
import Synchronization

/// Keeps commits from writing faster than space comes back: while values are moved, commits may write half as
/// much as is moved, and wait for the next step where they have written more.
final class WriteThrottle: Sendable {
  /// What commits may write ahead of what is moved.
  private static let burstBytes = 1 << 20
  /// What a step gives at least, also where it has found nothing to move.
  private static let leastBytes = 16 << 10

  private let isOn = Atomic(false)
  private let isStopped = Atomic(false)
  private let lock = Lock()
  private let changed = ConditionVariable()
  private let allowance = Atomic(0)

  /// Whether the store is being closed, so that nothing more is begun.
  var hasStopped: Bool { isStopped.load(ordering: .relaxed) }

  /// Space is being given back from now on.
  func begin() {
    allowance.store(Self.burstBytes, ordering: .relaxed)
    isOn.store(true, ordering: .relaxed)
  }

  /// A step has moved so much.
  func noteMoved(_ bytes: Int) {
    lock.withLock {
      allowance.wrappingAdd(max(bytes / 2, Self.leastBytes), ordering: .relaxed)
      changed.broadcast()
    }
  }

  /// Commits write as they like again.
  func end() {
    lock.withLock {
      isOn.store(false, ordering: .relaxed)
      changed.broadcast()
    }
  }

  /// The store is being closed.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    end()
  }

  /// A commit has written so much.
  @inline(__always)
  func noteWritten(_ bytes: Int) {
    if isOn.load(ordering: .relaxed) { allowance.wrappingSubtract(bytes, ordering: .relaxed) }
  }

  /// Waits where commits are too far ahead; before a transaction, with no locks.
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
