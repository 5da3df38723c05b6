import CLibrary
import HeartwoodBytes
import Synchronization

/// Tells the synchronization primitives whether a `ThreadScheduler` runs the calling thread.
///
/// In a process without scheduled threads this costs one relaxed load and a branch that is never taken.
package enum Scheduling {
  /// The number of scheduled threads of the process.
  @usableFromInline static let scheduledThreads = Atomic(0)

  /// Whether any thread of the process is scheduled.
  @inlinable @inline(__always)
  package static var isOn: Bool { scheduledThreads.load(ordering: .relaxed) != 0 }

  /// The scheduler of the calling thread; nil for an ordinary thread.
  @inlinable @inline(__always)
  package static var ofCaller: (any ThreadScheduler)? { isOn ? lookUp() : nil }

  /// A point at which the scheduler may run another thread; does nothing on an ordinary thread. Called just
  /// before an access to an atomic that is part of a protocol of its own.
  @inlinable @inline(__always)
  package static func reach(_ operation: StaticString) {
    if isOn { reachScheduled(operation) }
  }

  @inline(never) @usableFromInline
  static func reachScheduled(_ operation: StaticString) { lookUp()?.reach("\(operation)", "") }

  /// Runs `body` on the calling thread under `scheduler`.
  package static func run(under scheduler: any ThreadScheduler, _ body: () -> Void) {
    let entry = Unmanaged.passRetained(Entry(scheduler))
    scheduledThreads.wrappingAdd(1, ordering: .relaxed)
    pthread_setspecific(key, entry.toOpaque())
    body()
    pthread_setspecific(key, nil)
    scheduledThreads.wrappingSubtract(1, ordering: .relaxed)
    entry.release()
  }

  /// Runs `body`; the scheduler runs no other thread meanwhile unless this one has to wait for it.
  package static func uninterrupted<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let scheduler = ofCaller else { return try body() }
    scheduler.beginUninterrupted()
    defer { scheduler.endUninterrupted() }
    return try body()
  }

  private final class Entry {
    let scheduler: any ThreadScheduler

    init(_ scheduler: any ThreadScheduler) { self.scheduler = scheduler }
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let result = pthread_key_create(&key, nil)
    require(result == 0, "The system refused a thread-specific value.")
    return key
  }()

  @inline(never) @usableFromInline
  static func lookUp() -> (any ThreadScheduler)? {
    guard let entry = pthread_getspecific(key) else { return nil }
    return Unmanaged<Entry>.fromOpaque(entry).takeUnretainedValue().scheduler
  }
}
