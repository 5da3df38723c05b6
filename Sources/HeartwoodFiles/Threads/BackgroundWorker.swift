import Dispatch

/// Runs work that no caller waits for: preallocation, checkpoints, reclamation.
///
/// The work runs in the order of submission, one item at a time.
public protocol BackgroundWorker: Sendable {
  /// Submits work.
  func submit(_ work: @escaping @Sendable () -> Void)

  /// Submits work to run after `seconds`. The work may be left out, and `drain` does not wait for it. A
  /// worker without a clock never runs it.
  func submit(afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void)

  /// Returns when all work submitted before has run. Must not be called from submitted work.
  func drain()
}

extension BackgroundWorker {
  /// Does not run the work.
  public func submit(afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void) {}
}

/// Runs the work at once, on the submitting thread. Makes tests deterministic.
public struct InlineWorker: BackgroundWorker {
  /// The worker; it has no state.
  public init() {}

  /// Runs the work before returning.
  public func submit(_ work: @escaping @Sendable () -> Void) { work() }

  /// Returns at once: no work is pending.
  public func drain() {}
}

/// Runs the work on a serial queue of its own.
public final class QueueWorker: BackgroundWorker {
  private let queue: DispatchQueue

  /// A worker whose queue has the name `label` in debuggers.
  public init(label: String = "heartwood.background") {
    queue = DispatchQueue(label: label, qos: .utility)
  }

  /// Appends the work to the queue.
  public func submit(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Appends the work to the queue after `seconds`.
  public func submit(afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void) {
    DelayedWork.all.submit(to: queue, afterSeconds: seconds, work)
  }

  /// Waits until all work in the queue has run.
  public func drain() { queue.sync {} }
}
