import Dispatch
import HeartwoodBytes
import HeartwoodFiles

/// Executes the threads of one run, one at a time, and decides at each point which thread continues.
///
/// Invariant: Only the running thread accesses the state here, or the thread that starts the run while none
/// runs. The gate of the next thread transfers the state to it.
final class Scheduler: @unchecked Sendable {
  /// How a run ended.
  enum RunEnd {
    case finished
    case deadlock
    /// The run exceeded the maximum number of points.
    case tooLong
  }

  /// A thread that can run next, and the number of preemptions that it costs. The first option is the
  /// default.
  struct Option {
    var thread: Int
    var cost: Int
    /// Whether the thread pauses or waits with a deadline: to select it advances the virtual time.
    var isAsleep = false
  }

  private(set) var threads: [ScheduledThread] = []
  private(set) var running: ScheduledThread?
  /// Whether the run is in progress. Before and after it, workers execute their work immediately.
  private(set) var isUnderWay = false
  /// Whether only delayed work of workers is left.
  private(set) var isEnding = false
  private(set) var points = 0
  private(set) var ending = RunEnd.finished
  /// The errors that threads threw, with the names of the threads.
  private(set) var errors: [String] = []
  /// The decisions that differ from the default.
  private(set) var switches: [Schedule.Switch] = []
  private(set) var cost = 0
  private(set) var turns: [ScheduleTurn] = []

  var now = 0
  var owners: [UnsafeRawPointer: Int] = [:]
  private let strategy: any ScheduleStrategy
  private let limit: Int
  private let tracesTurns: Bool
  private let done = DispatchSemaphore(value: 0)
  /// Locks and conditions, numbered in the order of their first use.
  private var numbers: [UnsafeRawPointer: Int] = [:]
  private var options: [Option] = []
  private var asleep: [(thread: Int, deadline: Int)] = []

  init(_ strategy: any ScheduleStrategy, limit: Int, tracesTurns: Bool) {
    self.strategy = strategy
    self.limit = limit
    self.tracesTurns = tracesTurns
  }

  func add(
    _ name: String, process: String?, isWorker: Bool = false, _ body: @escaping () throws -> Void
  ) {
    require(!isUnderWay, "Threads are added before the run begins.")
    threads.append(ScheduledThread(threads.count, name, process: process, isWorker: isWorker, body))
  }

  // MARK: A run

  /// Runs all threads until each has finished or none can continue.
  func run() {
    guard !threads.isEmpty else { return }
    isUnderWay = true
    for thread in threads { start(thread) }
    guard let first = next(after: nil) else { return }
    hand(to: first)
    done.wait()
    isUnderWay = false
    running = nil
  }

  private func start(_ thread: ScheduledThread) {
    SystemThread.start { [self] in
      thread.gate.wait()
      Scheduling.run(under: self) {
        if let error = thread.run() { errors.append("\(thread.name) threw: \(error)") }
      }
      finish(thread)
    }
  }

  private func finish(_ thread: ScheduledThread) {
    thread.pending = .finished
    thread.note("end", "")
    if let next = next(after: thread) { hand(to: next) } else { done.signal() }
  }

  private func hand(to thread: ScheduledThread) {
    running = thread
    thread.gate.signal()
  }

  /// Records that the running thread has reached a point. Returns when the thread is ready and selected to
  /// continue.
  func pass(_ pending: ScheduledThread.Pending, _ operation: String, _ object: String = "") {
    guard let me = running else { programError("A scheduled thread runs only when it is selected.") }
    me.note(operation, object)
    me.pending = pending
    if me.uninterrupted > 0, isReady(me) { return }
    guard let next = next(after: me) else {
      // The run is over. The thread blocks for ever, because it can't be removed from its stack.
      done.signal()
      while true { me.gate.wait() }
    }
    guard next !== me else { return }
    hand(to: next)
    me.gate.wait()
  }

  /// The name of a lock or condition in messages, the same in each run under the same schedule.
  func name(of address: UnsafeRawPointer) -> String {
    guard tracesTurns else { return "" }
    let number = numbers[address] ?? numbers.count + 1
    numbers[address] = number
    return "\(number)"
  }

  // MARK: Decisions

  /// Selects the thread that continues; nil if the run is over.
  private func next(after current: ScheduledThread?) -> ScheduledThread? {
    points += 1
    now += Self.nanosecondsPerPoint
    guard points <= limit else { return end(.tooLong) }
    findOptions(current)
    if options.isEmpty {
      isEnding = true
      findOptions(current)
    }
    guard !options.isEmpty else { return end(threads.allSatisfy(\.isFinished) ? .finished : .deadlock) }
    let chosen = options.count == 1 ? 0 : choose(at: place(of: current), current)
    current?.steps += 1
    let next = threads[options[chosen].thread]
    if tracesTurns { note(next) }
    wake(next)
    return next
  }

  private static let nanosecondsPerPoint = 1000

  /// The virtual time at which a pause that starts now ends. Clamped so that virtual time can't overflow,
  /// however often the longest pause is skipped.
  func deadline(after nanoseconds: Int) -> Int {
    let (sum, isOver) = now.addingReportingOverflow(max(nanoseconds, 0))
    return isOver ? .max - longestRunNanoseconds : min(sum, .max - longestRunNanoseconds)
  }

  private var longestRunNanoseconds: Int { limit * Self.nanosecondsPerPoint }

  private func end(_ ending: RunEnd) -> ScheduledThread? {
    self.ending = ending
    return nil
  }

  private func place(of current: ScheduledThread?) -> Schedule.Place {
    current.map { Schedule.Place(thread: $0.index, step: $0.steps) } ?? .start
  }

  private func choose(at place: Schedule.Place, _ current: ScheduledThread?) -> Int {
    let chosen = strategy.choose(at: place, among: options)
    if chosen > 0 {
      switches.append(Schedule.Switch(place: place, next: options[chosen].thread))
      cost += options[chosen].cost
    }
    return chosen
  }

  private func note(_ next: ScheduledThread) {
    if turns.last?.thread != next.index { turns.append(ScheduleTurn(thread: next.index, name: next.name)) }
    turns[turns.count - 1].pass(next.recent.last)
  }

  /// Advances the virtual time to the deadline of a thread whose pause or wait ends there.
  private func wake(_ thread: ScheduledThread) {
    guard !isReady(thread), let deadline = deadline(of: thread) else { return }
    now = max(now, deadline)
    thread.hasTimedOut = true
  }

  // MARK: Options

  /// Lists the threads that can continue:
  /// - The current thread, if it is ready, at no cost. To interrupt it costs one preemption.
  /// - If the current thread can't continue, each ready thread, at no cost.
  /// - Sleeping threads. The one with the earliest deadline is free if no other thread can continue.
  private func findOptions(_ current: ScheduledThread?) {
    options.removeAll(keepingCapacity: true)
    let canGoOn = current.map(isReady) ?? false
    let first = current?.index ?? 0
    for step in 0..<threads.count {
      let thread = threads[(first + step) % threads.count]
      guard isReady(thread), thread === current || !canGoOn || mayInterrupt(thread, current) else { continue }
      options.append(Option(thread: thread.index, cost: canGoOn && thread !== current ? 1 : 0))
    }
    addAsleep(current, canGoOn: canGoOn)
  }

  private func addAsleep(_ current: ScheduledThread?, canGoOn: Bool) {
    guard !isEnding else { return }
    asleep.removeAll(keepingCapacity: true)
    for thread in threads where !isReady(thread) {
      guard let deadline = deadline(of: thread) else { continue }
      // A thread that has just paused runs after the others, or polling loops would run without end.
      if thread === current, !options.isEmpty { continue }
      if canGoOn, !mayInterrupt(thread, current) { continue }
      asleep.append((thread.index, deadline))
    }
    // Only workers with delayed work are left.
    if options.isEmpty, threads.allSatisfy({ $0.isFinished || $0.isWorker }) { return }
    asleep.sort { ($0.deadline, $0.thread) < ($1.deadline, $1.thread) }
    for sleeper in asleep {
      options.append(Option(thread: sleeper.thread, cost: options.isEmpty ? 0 : 1, isAsleep: true))
    }
  }

  /// Whether a switch from `current` to `thread` can make a difference. At a lock, only threads that can use
  /// the same lock do.
  private func mayInterrupt(_ thread: ScheduledThread, _ current: ScheduledThread?) -> Bool {
    guard let current, case .acquire = current.pending, let process = current.process else { return true }
    return thread.process == nil || thread.process == process
  }

  private func isReady(_ thread: ScheduledThread) -> Bool {
    switch thread.pending {
    case .proceed: true
    case .acquire(let lock): owners[lock] == nil
    case .wait, .sleep, .finished: false
    case .idle(let worker): worker.hasWork || isEnding
    case .drain(let worker): worker.isDone
    }
  }

  /// The virtual time at which a waiting thread continues by itself; nil if it does not, or can't at present.
  private func deadline(of thread: ScheduledThread) -> Int? {
    switch thread.pending {
    case .sleep(let deadline): deadline
    case .wait(_, let lock, let deadline): owners[lock] == nil ? deadline : nil
    case .idle(let worker): worker.nextDeadline
    default: nil
    }
  }
}
