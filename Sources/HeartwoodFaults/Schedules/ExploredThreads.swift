import HeartwoodFiles

/// The threads of one run of a program under a ``ScheduleExplorer``, and the checks after they have finished.
public final class ExploredThreads {
  let scheduler: Scheduler
  private var checks: [() throws -> Void] = []

  init(_ scheduler: Scheduler) { self.scheduler = scheduler }

  /// Adds a thread. No thread runs before the program's closure has returned.
  ///
  /// - Parameters:
  ///   - name: The name of the thread in messages.
  ///   - process: The process of the thread. Threads of different processes share no locks; nil if the thread
  ///     may share locks with all others.
  ///   - body: The code of the thread. An error that it throws is a failure of the schedule.
  public func add(_ name: String, process: String? = nil, _ body: @escaping @Sendable () throws -> Void) {
    scheduler.add(name, process: process, body)
  }

  /// Creates a background worker that runs on a thread of the run. Delayed work runs only while other threads
  /// run.
  ///
  /// - Parameters:
  ///   - name: The name of the thread in messages.
  ///   - process: The process of the thread, as in `add`.
  public func worker(_ name: String, process: String? = nil) -> any BackgroundWorker {
    let worker = ScheduledWorker(name, scheduler)
    scheduler.add(name, process: process, isWorker: true) { worker.serve() }
    return worker
  }

  /// Adds a check that the exploring thread runs after all threads have finished. An error that it throws is
  /// a failure of the schedule.
  public func afterwards(_ check: @escaping () throws -> Void) { checks.append(check) }

  /// The checks. They are released with everything that they capture, which may refer to these threads.
  func takeChecks() -> [() throws -> Void] {
    defer { checks = [] }
    return checks
  }
}
