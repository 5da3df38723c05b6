import Dispatch

/// Appends work to queues at a later time, with one thread for the whole process.
///
/// `asyncAfter` is not used: its timers need descriptors, and libdispatch ends a process that has none left.
final class DelayedWork: @unchecked Sendable {
  static let all = DelayedWork()

  private struct Item {
    /// When the work is due, in nanoseconds of `MonotonicTime`.
    let time: Int
    let queue: DispatchQueue
    let work: @Sendable () -> Void
  }

  private let lock = Lock()
  private let changed = ConditionVariable()
  /// Sorted by time. Guarded by `lock`.
  @exclusivity(unchecked) private var items: [Item] = []
  @exclusivity(unchecked) private var hasThread = false

  /// Appends work to a queue after `seconds`. Drops the work if the system refuses the thread.
  func submit(to queue: DispatchQueue, afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void) {
    let time = MonotonicTime.nanoseconds + Int(min(max(seconds, 0), 1e9) * 1e9)
    lock.withLock {
      if !hasThread { hasThread = SystemThread.tryStart { [self] in run() } }
      guard hasThread else { return }
      let index = items.firstIndex { $0.time > time } ?? items.count
      items.insert(Item(time: time, queue: queue, work: work), at: index)
      if index == 0 { changed.broadcast() }
    }
  }

  private func run() {
    while true {
      for item in waitForDueItems() { item.queue.async(execute: item.work) }
    }
  }

  private func waitForDueItems() -> [Item] {
    lock.withLock {
      while true {
        let now = MonotonicTime.nanoseconds
        let due = Array(items.prefix { $0.time <= now })
        items.removeFirst(due.count)
        if !due.isEmpty { return due }
        guard let next = items.first else {
          changed.wait(lock)
          continue
        }
        changed.wait(lock, nanoseconds: next.time - now)
      }
    }
  }
}
