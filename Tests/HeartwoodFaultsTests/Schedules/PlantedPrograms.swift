import HeartwoodFaults
import Synchronization

/// The failure of a planted bug.
struct PlantedFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A value that threads share without a lock. Each access is a scheduling point.
final class SharedValue: Sendable {
  private let value: Atomic<Int>

  init(_ value: Int = 0) { self.value = Atomic(value) }

  var now: Int { value.load(ordering: .relaxed) }

  func read() -> Int {
    SchedulePoint.reach("read")
    return now
  }

  func write(_ new: Int) {
    SchedulePoint.reach("write")
    value.store(new, ordering: .relaxed)
  }

  func exchange(_ expected: Int, for new: Int) -> Bool {
    SchedulePoint.reach("exchange")
    return value.compareExchange(expected: expected, desired: new, ordering: .relaxed).exchanged
  }
}

/// Programs with a bug that only some schedules reveal, and correct versions of some.
enum PlantedPrograms {
  /// Two threads increment a counter by a separate read and write.
  static func lostUpdate(_ threads: ExploredThreads) {
    let counter = SharedValue()
    for name in ["first", "second"] {
      threads.add(name) { counter.write(counter.read() + 1) }
    }
    threads.afterwards {
      if counter.now != 2 { throw PlantedFailure("counted \(counter.now) of 2") }
    }
  }

  static func countUnderLock(_ threads: ExploredThreads) {
    let (counter, lock) = (SharedValue(), ScheduledLock())
    for name in ["first", "second"] {
      threads.add(name) { lock.withLock { counter.write(counter.read() + 1) } }
    }
    threads.afterwards {
      if counter.now != 2 { throw PlantedFailure("counted \(counter.now) of 2") }
    }
  }

  /// Two threads acquire two locks in different orders.
  static func lockOrder(_ threads: ExploredThreads) {
    let (first, second) = (ScheduledLock(), ScheduledLock())
    threads.add("forward") { first.withLock { second.withLock {} } }
    threads.add("backward") { second.withLock { first.withLock {} } }
  }

  /// A thread checks the condition before it acquires the lock.
  static func missedWakeUp(_ threads: ExploredThreads) {
    let (isReady, lock, condition) = (SharedValue(), ScheduledLock(), ScheduledCondition())
    threads.add("waiter") {
      if isReady.read() == 0 { lock.withLock { condition.wait(lock) } }
    }
    threads.add("notifier") {
      lock.withLock { isReady.write(1) }
      condition.broadcast()
    }
  }

  static func wakeUp(_ threads: ExploredThreads) {
    let (isReady, lock, condition) = (SharedValue(), ScheduledLock(), ScheduledCondition())
    threads.add("waiter") {
      lock.withLock { while isReady.read() == 0 { condition.wait(lock) } }
    }
    threads.add("notifier") {
      lock.withLock { isReady.write(1) }
      condition.broadcast()
    }
  }

  /// The ABA problem: a stack's top is exchanged if it is unchanged, although the nodes below it have changed.
  static func reusedTop(_ threads: ExploredThreads) {
    let top = SharedValue(1)
    let below = [SharedValue(0), SharedValue(2), SharedValue(0)]
    threads.add("pop") {
      let first = top.read()
      let next = below[first].read()
      _ = top.exchange(first, for: next)
    }
    threads.add("pop two, push the first") {
      guard top.exchange(1, for: 2), top.exchange(2, for: 0) else { return }
      below[1].write(0)
      _ = top.exchange(0, for: 1)
    }
    threads.afterwards {
      // If node 1 was pushed again, the second thread had popped node 2, which must not be on the stack.
      if top.now == 2, below[1].now == 0 { throw PlantedFailure("a popped node is on the stack") }
    }
  }
}
