import Dispatch
import Synchronization

/// Waiting for changes in a directory, by one thread at a time; it ends when it is released.
public protocol DirectoryWatch: AnyObject, Sendable {
  /// Returns when a name in the directory, or what a file there holds, has changed since the last call, or since the watch
  /// was made; when `wake()` is or was called; or when the time is over. It may return without any of it.
  ///
  /// What is written through shared memory, or in a file's window, is not noticed.
  ///
  /// - Parameter seconds: How long to wait; nil for however long it takes.
  /// - Returns: false where only the time was over.
  func wait(seconds: Double?) -> Bool

  /// Lets the thread that waits return, or the next one that would. Any thread; cheap where it was called already.
  func wake()
}

/// A watch that sees nothing and looks at the clock instead: for directories whose changes nobody tells.
package final class TimedWatch: DirectoryWatch {
  private let alarm = DispatchSemaphore(value: 0)
  private let isAwake = Atomic(false)
  /// Nil where there is nothing to look for.
  private let interval: Double?

  /// - Parameter interval: After so many seconds at most, each wait ends; nil for waits that only `wake()` ends.
  package init(interval: Double?) { self.interval = interval }

  package func wait(seconds: Double?) -> Bool {
    let longest = [seconds, interval].compactMap { $0 }.min()
    let isCalled = alarm.wait(timeout: longest.map { .now() + $0 } ?? .distantFuture) == .success
    // Whoever calls from now on rings again; what was done before a call is seen by whoever returns from here.
    if isCalled { _ = isAwake.exchange(false, ordering: .acquiringAndReleasing) }
    return isCalled
  }

  package func wake() {
    if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { alarm.signal() }
  }
}
