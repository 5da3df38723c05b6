import Dispatch
import Foundation
import HeartwoodFiles
import Synchronization

/// Where contexts of the main queue run.
///
/// Programs without a run loop, such as commands and many servers, never run the main queue, and a block that waits for it would
/// wait for ever. So the first use asks the main queue for an answer. If none comes within `patience`, blocks run on another
/// thread, until an answer comes. Either way one block runs at a time, under a lock.
///
/// A program with an asynchronous `main` runs the main queue on any thread, as does `dispatchMain()`: whether a thread is the main one says nothing
/// there, so the queue is marked.
///
/// On Apple's systems the main queue is always used.
final class MainQueue: @unchecked Sendable {
  /// Whether blocks may run on another thread than the main thread.
  static var hasSubstitute: Bool {
    #if canImport(Darwin)
      false
    #else
      true
    #endif
  }

  static let shared = MainQueue(.main, patience: 0.25) { Thread.isMainThread }

  private let queue: DispatchQueue
  private let isCurrentThread: @Sendable () -> Bool
  /// Seconds to wait for the first answer.
  private let patience: Double
  private let substitute = DispatchQueue(label: "Heartwood main context")
  /// Held while a block runs, and recursive, as blocks of several contexts may be nested.
  private let exclusive = NSRecursiveLock()
  private let answered = DispatchSemaphore(value: 0)
  private let isRun = Atomic(false)
  private let isAsked = Atomic(false)
  private let hasWaited = Atomic(false)
  /// Blocks that wait on the substitute queue: a later one must not overtake them.
  private let waiting = Atomic(0)
  private let runsHere = ThreadValue<Bool>()
  /// Marks the queue, for threads that run it.
  private let mark = DispatchSpecificKey<Bool>()

  init(_ queue: DispatchQueue, patience: Double, isCurrentThread: @escaping @Sendable () -> Bool) {
    self.queue = queue
    self.patience = patience
    self.isCurrentThread = isCurrentThread
    queue.setSpecific(key: mark, value: true)
    #if canImport(Darwin)
      isRun.store(true, ordering: .relaxed)
    #endif
  }

  /// Whether the calling thread runs a block of the queue, or is the main thread.
  var isHere: Bool {
    isCurrentThread() || runsHere.current == true || DispatchQueue.getSpecific(key: mark) == true
  }

  /// Whether the calling thread is of the queue, and what is scheduled there will run.
  var isHereAndRuns: Bool { isCurrentThread() || isRun.load(ordering: .relaxed) && isHere }

  /// Runs a block on another queue and waits for it, on the calling thread. A block of this queue that waits so is still one of this queue.
  func sync<Result>(on other: DispatchQueue, _ block: () throws -> Result) rethrows -> Result {
    guard isHere else { return try other.sync(execute: block) }
    return try other.sync { try runsHere.with(true, block) }
  }

  func async(_ block: @escaping @Sendable () -> Void) {
    ask()
    if isRun.load(ordering: .acquiring), waiting.load(ordering: .acquiring) == 0 {
      return queue.async { self.run(block) }
    }
    waiting.add(1, ordering: .acquiringAndReleasing)
    substitute.async {
      if self.isAnswered() { self.queue.async { self.run(block) } } else { self.run(block) }
      self.waiting.subtract(1, ordering: .acquiringAndReleasing)
    }
  }

  func sync<Result>(_ block: () throws -> Result) rethrows -> Result {
    ask()
    if isAnswered() { return try queue.sync { try run(block) } }
    return try run(block)
  }

  private func run<Result>(_ block: () throws -> Result) rethrows -> Result {
    exclusive.lock()
    defer { exclusive.unlock() }
    return try runsHere.with(true, block)
  }

  private func ask() {
    guard !isRun.load(ordering: .relaxed), !isAsked.exchange(true, ordering: .relaxed) else { return }
    queue.async {
      self.isRun.store(true, ordering: .releasing)
      self.answered.signal()
    }
  }

  /// Whether the queue runs blocks. Waits for the answer until the patience has ended once.
  private func isAnswered() -> Bool {
    if isRun.load(ordering: .acquiring) { return true }
    if hasWaited.load(ordering: .relaxed) { return false }
    if answered.wait(timeout: .now() + patience) == .success { answered.signal() }
    hasWaited.store(true, ordering: .relaxed)
    return isRun.load(ordering: .acquiring)
  }
}
