import Dispatch
import Synchronization

/// Waits for changes in a directory, on one thread at a time. The watch ends when it is released.
public protocol DirectoryWatch: AnyObject, Sendable {
  /// Waits until a name in the directory or the contents of one of its files change, until `wake()` is
  /// called, or until the time is over. A change or a `wake()` since the last wait, or since the watch was
  /// made, ends it at once. May return spuriously.
  ///
  /// Writes through shared memory or through a file window are not noticed.
  ///
  /// - Parameter seconds: The longest wait; nil for no limit.
  /// - Returns: false if only the time was over.
  func wait(seconds: Double?) -> Bool

  /// Ends the current wait, or the next one if no thread waits. May be called on any thread; a repeated call
  /// is cheap.
  func wake()
}

/// A watch that notices no changes and wakes up at intervals: for directories whose changes are not reported.
package final class TimedWatch: DirectoryWatch {
  private let alarm = DispatchSemaphore(value: 0)
  private let isAwake = Atomic(false)
  /// In seconds; nil if there is nothing to poll for.
  private let interval: Double?

  /// - Parameter interval: Each wait ends after this many seconds at most; nil for no such limit.
  package init(interval: Double?) { self.interval = interval }

  package func wait(seconds: Double?) -> Bool {
    let longest = [seconds, interval].compactMap { $0 }.min()
    let isCalled = alarm.wait(timeout: longest.map { .now() + $0 } ?? .distantFuture) == .success
    // From here on `wake()` signals again. The exchange makes everything done before an earlier `wake()`
    // visible to the thread that returns from here.
    if isCalled { _ = isAwake.exchange(false, ordering: .acquiringAndReleasing) }
    return isCalled
  }

  package func wake() {
    if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { alarm.signal() }
  }
}
