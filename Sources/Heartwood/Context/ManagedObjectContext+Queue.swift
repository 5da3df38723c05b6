import Dispatch
import Foundation
import HeartwoodFiles
import Synchronization

extension ManagedObjectContext {
  /// The queue that a context uses. The names are those that the initialiser takes: `.privateQueue`, `.mainQueue`.
  public enum ConcurrencyType: Hashable, Sendable {
    /// A serial queue of the context's own.
    case privateQueue
    /// The main queue. On Linux, in a program that does not run it, blocks of such contexts run on another thread, one at a
    /// time, after a quarter of a second for the first.
    case mainQueue
  }

  /// When `perform` runs its block. The names are Core Data's.
  public enum ScheduledTaskType: Hashable, Sendable {
    /// At once if the caller is on the context's queue already, such as in a `ModelActor` of the context.
    case immediate
    /// After what is scheduled on the queue.
    case enqueued
  }

  /// Runs `block` on the context's queue and returns its result; pending changes are processed after it.
  ///
  /// The result must be `Sendable`: objects may be used on the queue only, their identifiers anywhere.
  ///
  /// If the task is cancelled, fetches in the block throw `CancellationError`.
  ///
  /// A context of the main queue also works in programs that never run the main queue: see `ConcurrencyType.mainQueue`.
  ///
  /// - Throws: The error of `block`.
  @_disfavoredOverload
  public nonisolated(nonsending) func perform<Result: Sendable, Failure: Error>(
    schedule: ScheduledTaskType = .immediate, _ block: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if schedule == .immediate, isOnQueue {
      return try asEvent { Swift.Result { () throws(Failure) in try block() } }.get()
    }
    // Ends fetches of the block, and what takes long within a row of one.
    let control = ScanControl()
    let result = await withTaskCancellationHandler {
      await handedOver(
        { control.during { self.asEvent { Swift.Result { () throws(Failure) in try block() } } } },
        through: { enqueue($0) })
    } onCancel: {
      control.cancel()
    }
    return try result.get()
  }

  /// Schedules a block as `perform(_:)` does.
  func schedule(_ block: @escaping @Sendable () -> Void) {
    enqueue { self.asEvent(block) }
  }

  /// Runs `block` on the context's queue and waits for it. Calls may be nested.
  ///
  /// Unlike `perform`, does not process pending changes after the block.
  ///
  /// - Throws: The error of `block`.
  public func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    try runAndWait(block)
  }

  /// Runs a block as `performAndWait(_:)` does.
  func runAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    guard Self.overriding.current != nil else { return try sync { try onQueue(block) } }
    return try Self.overriding.with(nil) { try sync { try onQueue(block) } }
  }

  /// Runs a block of another context on this one's queue and waits for it. Unlike `performAndWait`, it does not make uses
  /// outside of the queue errors.
  func waitForQueue<Result>(_ block: () throws -> Result) rethrows -> Result {
    try sync { try onQueue(claims: false, block) }
  }

  /// Runs a block on the queue; the occupancy check rejects other threads until it returns.
  private func onQueue<Result>(claims: Bool = true, _ block: () throws -> Result) rethrows -> Result {
    occupancy?.enterQueue(self, claims: claims)
    defer { endUse() }
    return try Self.running.with(self) { try block() }
  }

  /// The context whose block runs on the thread: of `perform`, `performAndWait`, or an actor of the context.
  static let running = ThreadValue<ManagedObjectContext>()

  /// The contexts on whose queues the current call runs or for which it is waited: the innermost last.
  private static let callers = ThreadValue<[ObjectIdentifier]>()

  /// Runs a block on the queue and waits for it; at once if the caller is already on it, or is waited for on it.
  private func sync<Result>(_ block: () throws -> Result) rethrows -> Result {
    if isOnQueue { return try block() }
    let callers = (Self.callers.current ?? []) + [ObjectIdentifier(self)]
    if concurrencyType == .mainQueue {
      return try MainQueue.shared.sync { try Self.callers.with(callers, block) }
    }
    return try MainQueue.shared.sync(on: queue) { try Self.callers.with(callers, block) }
  }

  /// Schedules a block on the queue.
  func enqueue(_ block: @escaping @Sendable () -> Void) {
    if concurrencyType == .mainQueue { return MainQueue.shared.async(block) }
    Self.callers.run(block, on: queue, with: [ObjectIdentifier(self)])
  }

  /// Runs a block on the queue as an event.
  func asEvent<Result>(_ block: () -> Result) -> Result {
    onQueue {
      let result = block()
      processPendingChanges()
      // An idle context keeps no generation, so that its space can be reclaimed.
      view.held = nil
      return result
    }
  }

  var isOnQueue: Bool {
    if concurrencyType == .mainQueue && MainQueue.shared.isHere { return true }
    return Self.callers.current?.contains(ObjectIdentifier(self)) == true
  }

  /// A queue that the thread's `callers` mark, and not a value of the queue: libdispatch frees such a value on another thread, which
  /// it wakes for each context that ends.
  static func makeQueue(_ type: ConcurrencyType) -> DispatchQueue {
    type == .mainQueue ? .main : DispatchQueue(label: "Heartwood context")
  }
}

/// The same under names that the module `CoreData` does not have.
extension ManagedObjectContext {
  /// The context on whose queue the code runs.
  package static var runningContext: ManagedObjectContext? { running.current }

  /// Calls `perform(_:)`, which a class may override. What it calls `super.perform(_:)` with need not be `Sendable` there, and comes here again: then it
  /// is scheduled.
  package func enqueueBlock(_ block: @escaping @Sendable () -> Void) {
    guard type(of: self) != ManagedObjectContext.self, Self.overriding.current != self else {
      return schedule(block)
    }
    Self.overriding.with(self) { perform(block) }
  }

  /// The context whose class's `perform(_:)` runs on the thread; nil within a block.
  private static let overriding = ThreadValue<ManagedObjectContext?>()

  package nonisolated(nonsending) func performBlock<Result: Sendable>(
    schedule: ScheduledTaskType, _ block: @escaping @Sendable () -> Result
  ) async -> Result { await perform(schedule: schedule, block) }
}

/// Checks of the queue.
extension ManagedObjectContext {
  /// Begins a use of the context. The caller must call `endUse` after it.
  @inline(__always)
  func beginUse(_ verb: StaticString, _ object: ManagedObject? = nil, _ slot: Int? = nil) {
    guard let occupancy else { return }
    occupancy.enter(self, ContextOccupancy.Use(verb: verb, object: object, slot: slot))
  }

  @inline(__always)
  func endUse() { occupancy?.leave() }

  private static let checking = Atomic<Int>(ConcurrencyChecking.initial.rawValue)

  /// The checking mode of contexts that are created from now on; existing contexts keep theirs.
  @_disfavoredOverload
  public static var concurrencyChecking: ConcurrencyChecking {
    get { ConcurrencyChecking(rawValue: checking.load(ordering: .relaxed)) ?? .off }
    set { checking.store(newValue.rawValue, ordering: .relaxed) }
  }
}
