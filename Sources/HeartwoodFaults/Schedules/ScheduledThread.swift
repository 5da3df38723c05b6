import Dispatch

/// A thread that runs only when its scheduler lets it.
final class ScheduledThread: @unchecked Sendable {
  /// What the thread does when it runs again.
  enum Pending {
    case proceed
    case acquire(UnsafeRawPointer)
    /// Waits for a broadcast, and then for the lock; or until the deadline.
    case wait(condition: UnsafeRawPointer, lock: UnsafeRawPointer, deadline: Int?)
    case sleep(deadline: Int)
    /// A worker without work; where there is a deadline, with work for later.
    case idle(ScheduledWorker)
    /// Waits until a worker has done everything.
    case drain(ScheduledWorker)
    case finished
  }

  /// A point that the thread reached.
  struct Point {
    var operation: String
    var object: String
  }

  let index: Int
  let name: String
  /// Threads of different processes share no locks; nil for a thread that may share with all.
  let process: String?
  /// Whether the run ends without waiting for this thread.
  let isWorker: Bool
  let gate = DispatchSemaphore(value: 0)
  var pending = Pending.proceed
  /// How many decisions were made at points of this thread.
  var steps = 0
  /// How many sections are open in which no other thread is to run.
  var uninterrupted = 0
  /// Whether a wait ended by its deadline.
  var hasTimedOut = false
  /// The newest points, for messages.
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

  /// Runs the body and releases what it holds.
  ///
  /// - Returns: what it threw.
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

  /// The newest points, in one line.
  var whereabouts: String {
    "\(name): " + recent.suffix(Self.recentCount).map(\.description).joined(separator: ", ")
  }
}

extension ScheduledThread.Point: CustomStringConvertible {
  var description: String { object.isEmpty ? operation : "\(operation) \(object)" }
}
