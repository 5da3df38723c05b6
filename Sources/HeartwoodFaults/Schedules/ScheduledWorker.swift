import HeartwoodFiles

/// Executes background work on a thread of a run. Before and after the run it executes work immediately, on
/// the submitting thread, and discards delayed work.
final class ScheduledWorker: BackgroundWorker, @unchecked Sendable {
  private typealias Work = @Sendable () -> Void

  private unowned let scheduler: Scheduler
  private let name: String
  private var work: [Work] = []
  private var later: [(deadline: Int, work: Work)] = []
  private var isWorking = false

  init(_ name: String, _ scheduler: Scheduler) {
    self.name = name
    self.scheduler = scheduler
  }

  var hasWork: Bool { !work.isEmpty }
  var isDone: Bool { work.isEmpty && !isWorking }
  var nextDeadline: Int? { later.map(\.deadline).min() }

  func submit(_ work: @escaping @Sendable () -> Void) {
    guard scheduler.isUnderWay else { return work() }
    scheduler.reach("submit to", name)
    self.work.append(work)
  }

  func submit(afterSeconds seconds: Double, _ work: @escaping @Sendable () -> Void) {
    guard scheduler.isUnderWay else { return }
    later.append((scheduler.deadline(after: Int(min(seconds, 1e6) * 1e9)), work))
  }

  func drain() {
    guard scheduler.isUnderWay else { return }
    scheduler.pass(.drain(self), "drain", name)
  }

  /// The main loop of the worker's thread.
  func serve() {
    while !(scheduler.isEnding && work.isEmpty) {
      scheduler.pass(.idle(self), "look for work", name)
      guard let next = takeNext() else { continue }
      isWorking = true
      next()
      isWorking = false
    }
    // Delayed work refers to the stores of the run.
    later = []
  }

  private func takeNext() -> Work? {
    if !work.isEmpty { return work.removeFirst() }
    guard let index = later.indices.min(by: { later[$0].deadline < later[$1].deadline }),
      later[index].deadline <= scheduler.now
    else { return nil }
    return later.remove(at: index).work
  }
}
