import Foundation

/// The most memory that no file backs, looked at every few milliseconds by a thread of its own. The kernel's own peak counts pages of mapped
/// files too.
final class AnonymousMemoryPeak: @unchecked Sendable {
  private static let interval: UInt32 = 5_000

  private let lock = NSLock()
  private var peak = ProcessMemory.anonymousBytes()
  private var isStopped = false

  init() {
    let thread = Thread { [self] in
      while look() { usleep(Self.interval) }
    }
    thread.start()
  }

  private func look() -> Bool {
    let bytes = ProcessMemory.anonymousBytes()
    return lock.withLock {
      peak = max(peak, bytes)
      return !isStopped
    }
  }

  /// Ends the thread. Returns the most bytes that were seen.
  func stop() -> Int {
    _ = look()
    return lock.withLock {
      isStopped = true
      return peak
    }
  }
}
