import HeartwoodFiles

/// The threads of one run of a program that a ``ScheduleExplorer`` explores, and what has to hold when they have finished.
public final class ExploredThreads {
  let scheduler: Scheduler
  private(set) var checks: [() throws -> Void] = []

  init(_ scheduler: Scheduler) { self.scheduler = scheduler }

  /// Adds a thread. None runs before the program's closure has returned.
  ///
  /// - Parameters:
  ///   - name: What it is called in messages.
  ///   - process: Threads that share locks have the same; nil where it may share with all others.
  ///   - body: What it does. An error that it throws is a failure of the schedule.
  public func add(_ name: String, process: String? = nil, _ body: @escaping @Sendable () throws -> Void) {
    scheduler.add(name, process: process, body)
  }

  /// A worker whose work is done on a thread of the run; that for later only while other threads run.
  ///
  /// - Parameters:
  ///   - name: What the thread is called in messages.
  ///   - process: Like that of a thread.
  public func worker(_ name: String, process: String? = nil) -> any BackgroundWorker {
    let worker = ScheduledWorker(name, scheduler)
    scheduler.add(name, process: process, isWorker: true) { worker.serve() }
    return worker
  }

  /// Adds what has to hold when all threads have finished; called by the thread that explores. An error that it throws
  /// is a failure of the schedule.
  public func afterwards(_ check: @escaping () throws -> Void) { checks.append(check) }
}
