import Foundation
import HeartwoodFaults
import HeartwoodFiles
import Synchronization

/// Assigns a moment to every event of a history.
final class Moments: Sendable {
  private let count = Atomic(0)

  func next() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }

  /// Returns when this many more transactions have begun or ended, or after a short time. Measured by the
  /// clock, not by the number of yields, because on a busy machine each yield can take milliseconds.
  func pass(_ more: Int) {
    let goal = count.load(ordering: .relaxed) + more
    let end = ContinuousClock.now + .microseconds(200)
    while count.load(ordering: .relaxed) < goal, ContinuousClock.now < end { sched_yield() }
  }

  /// A file system in memory whose syncs take time, so that other threads continue meanwhile; or that of the
  /// machine.
  func fileSystem(inMemory: Bool) -> FaultInjectingFileSystem {
    guard inMemory else { return FaultInjectingFileSystem(base: PosixFileSystem()) }
    return FaultInjectingFileSystem(base: MemoryFileSystem()) { [self] mutation in
      if mutation.operation == .sync { pass(2) }
    }
  }
}

/// One session: its random choices, its operations and their results. Used by one thread.
final class SessionRecorder: @unchecked Sendable {
  let number: Int
  var random: SplitMix64
  private(set) var transactions: [History.Transaction] = []
  private let moments: Moments
  private var nextID: Int

  init(_ number: Int, seed: UInt64, _ moments: Moments) {
    self.number = number
    self.moments = moments
    random = SplitMix64(seed: seed &* 31 &+ UInt64(number))
    nextID = number * 1_000_000
  }

  /// Starts a transaction at this moment.
  func begin() -> History.Transaction {
    nextID += 1
    return History.Transaction(id: nextID, session: number, begin: moments.next(), end: 0, snapshot: 0)
  }

  /// Records the outcome of a transaction at this moment.
  func end(_ transaction: History.Transaction, _ outcome: History.Outcome) {
    var transaction = transaction
    transaction.end = moments.next()
    transaction.outcome = outcome
    transactions.append(transaction)
  }

  /// Occasionally yields to other threads, so that many transactions overlap however few processors there
  /// are.
  func pause() {
    if random.below(3) == 0 { moments.pass(1 + random.below(6)) }
  }

  func take() -> [History.Transaction] {
    defer { transactions = [] }
    return transactions
  }
}

/// Runs `body` for each session on its own thread, and throws the first error.
func onThreads(_ sessions: [SessionRecorder], _ body: @escaping @Sendable (SessionRecorder) throws -> Void)
  throws
{
  let lock = Lock()
  nonisolated(unsafe) var failure: (any Error)?
  let group = DispatchGroup()
  for session in sessions {
    group.enter()
    let thread = Thread {
      defer { group.leave() }
      do {
        try body(session)
      } catch {
        lock.withLock { failure = failure ?? error }
      }
    }
    thread.stackSize = 4 << 20
    thread.start()
  }
  group.wait()
  if let failure { throw failure }
}

/// Conversion of elements to the bytes of a value.
enum Elements {
  static func bytes(_ elements: [Int]) -> [UInt8] {
    elements.flatMap { element in withUnsafeBytes(of: UInt32(element).littleEndian, Array.init) }
  }

  static func elements(_ bytes: some Collection<UInt8>) throws -> [Int] {
    let bytes = Array(bytes)
    try require(bytes.count.isMultiple(of: 4), "a value of \(bytes.count) bytes")
    return stride(from: 0, to: bytes.count, by: 4).map { start in
      (0..<4).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
    }
  }
}
