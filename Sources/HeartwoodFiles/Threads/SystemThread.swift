import CLibrary
import HeartwoodBytes

/// A thread of the operating system.
package enum SystemThread {
  /// Runs `body` on a new thread, which ends with it. Stops the program if the system refuses the thread.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    let isStarted = tryStart(body)
    require(isStarted, "The system refused a thread.")
  }

  /// Like `start`, but returns false if the system refuses the thread, for lack of memory or addresses or
  /// because of a limit.
  package static func tryStart(_ body: @escaping @Sendable () -> Void) -> Bool {
    let start = Unmanaged.passRetained(ThreadStart(body))
    #if canImport(Glibc)
      var thread = pthread_t()
      let result = pthread_create(&thread, nil, runThread, start.toOpaque())
      if result == 0 { pthread_detach(thread) }
    #else
      var thread: pthread_t?
      let result = pthread_create(&thread, nil, runThread, start.toOpaque())
      if result == 0, let thread { pthread_detach(thread) }
    #endif
    if result != 0 { start.release() }
    return result == 0
  }
}

private final class ThreadStart {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

#if canImport(Darwin)
  private func runThread(_ start: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().body()
    return nil
  }
#else
  private func runThread(_ start: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let start else { return nil }
    Unmanaged<ThreadStart>.fromOpaque(start).takeRetainedValue().body()
    return nil
  }
#endif
