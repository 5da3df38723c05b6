import Dispatch

/// A thread that runs only when its scheduler selects it.
final class ScheduledThread: @unchecked Sendable {
  /// The state of the thread at its current point.
  enum Pending {
    case proceed
    case acquire(UnsafeRawPointer)
    /// Waits for a broadcast and then for the lock, or until the deadline.
    case wait(condition: UnsafeRawPointer, lock: UnsafeRawPointer, deadline: Int?)
    case sleep(deadline: Int)
    /// A worker without work that is due. If the worker has a deadline, delayed work is pending.
    case idle(ScheduledWorker)
    /// Waits until a worker has finished all its work.
    case drain(ScheduledWorker)
    case finished
  }

  /// A point that the thread has reached.
  struct Point {
    var operation: String
    var object: String
  }

  let index: Int
  let name: String
  /// The process of the thread. Threads of different processes share no locks; nil if the thread may share
  /// locks with all others.
  let process: String?
  /// Whether the run can end without waiting for this thread.
  let isWorker: Bool
  let gate = DispatchSemaphore(value: 0)
  var pending = Pending.proceed
  /// The number of decisions made at points of this thread.
  var steps = 0
  /// The nesting depth of sections in which no other thread may run.
  var uninterrupted = 0
  /// Whether the last wait ended at its deadline.
  var hasTimedOut = false
  /// The most recent points, for messages.
  private(set) var recent: [Point] = []
  private var body: (() throws -> Void)?

  init(
    _ index: Int, _ name: String, process: String?, isWorker: Bool = false,
    _ body: @escaping () throws -> Void
  ) {
    self.index = index
    self.name = name
    self.process = process
    self.isWorker = isWorker
    self.body = body
  }

  func note(_ operation: String, _ object: String) {
    if recent.count >= 2 * Self.recentCount { recent.removeFirst(Self.recentCount) }
    recent.append(Point(operation: operation, object: object))
  }

  private static let recentCount = 6

  /// Runs the body and then releases it with everything that it captures.
  ///
  /// - Returns: The error that the body threw, or nil.
  func run() -> (any Error)? {
    guard let body else { return nil }
    self.body = nil
    do {
      try body()
      return nil
    } catch {
      return error
    }
  }

  var isFinished: Bool {
    if case .finished = pending { true } else { false }
  }

  /// The most recent points on one line.
  var whereabouts: String {
    "\(name): " + recent.suffix(Self.recentCount).map(\.description).joined(separator: ", ")
  }
}

extension ScheduledThread.Point: CustomStringConvertible {
  var description: String { object.isEmpty ? operation : "\(operation) \(object)" }
}
