import Dispatch

/// Who does the work that nobody waits for: zero-filling, checkpoints, reclamation.
///
/// The work is done in the order in which it was submitted, one piece after another.
public protocol BackgroundWorker: Sendable {
  /// Takes over a piece of work.
  func submit(_ work: @escaping @Sendable () -> Void)

  /// Takes over a piece of work that is to be done in some seconds, and may be left out: `drain` does not wait for
  /// it. A worker without a clock never does it.
  func submit(afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void)

  /// Returns when everything submitted before has been done. Never called from submitted work.
  func drain()
}

extension BackgroundWorker {
  /// Leaves the work out.
  public func submit(afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void) {}
}

/// Does the work at once, on the thread that submits it: what tests use whose every step is determined.
public struct InlineWorker: BackgroundWorker {
  /// The worker; it has no state.
  public init() {}

  /// Does the work before returning.
  public func submit(_ work: @escaping @Sendable () -> Void) { work() }

  /// Returns at once: everything has been done.
  public func drain() {}
}

/// Does the work on a serial queue of its own.
public final class QueueWorker: BackgroundWorker {
  private let queue: DispatchQueue

  /// A worker whose queue carries `label` in debuggers.
  public init(label: String = "heartwood.background") {
    queue = DispatchQueue(label: label, qos: .utility)
  }

  /// Appends the work to the queue.
  public func submit(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Appends the work to the queue when the time has come.
  public func submit(afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void) {
    DelayedWork.all.submit(to: queue, afterSeconds: seconds, work)
  }

  /// Waits for the end of the queue as it is now.
  public func drain() { queue.sync {} }
}
