import HeartwoodFiles

/// A reference model of a store: the rows of each generation and the guarantees given. It is independent of
/// the implementation.
final class ReferenceModel: @unchecked Sendable {
  private let lock = Lock()
  private var promise = Promise()
  /// The number of transactions so far, from which unique values are made.
  private var transactions = 0
  private var whenNarrowed: (@Sendable () -> Void)?

  init() {}

  /// Copies another reference model.
  init(_ reference: ReferenceModel) {
    (promise, transactions) = reference.lock.withLock { (reference.promise, reference.transactions) }
  }

  /// The states that may be found after a crash at some moment.
  struct Promise: Sendable, Hashable {
    /// The rows of every generation, starting with the empty generation 0. The last generations may belong to
    /// transactions that were not acknowledged.
    fileprivate(set) var generations: [Rows] = [[:]]
    /// The newest generation that must survive every crash.
    fileprivate(set) var durable = 0

    /// The backups that may be found in the backup folder; nil before the first.
    fileprivate(set) var backup: Backup?

    /// The range of generations that a backup may contain.
    struct Backup: Sendable, Hashable {
      /// The oldest one; nil if there may be no complete backup.
      var oldest: Int?
      var newest: Int
    }

    /// All states that may be found, oldest first.
    var candidates: ArraySlice<Rows> { generations[durable...] }

    /// Whether a state that was allowed at the `earlier` time is no longer allowed.
    fileprivate func isNarrower(than earlier: Promise) -> Bool {
      durable > earlier.durable || generations.count < earlier.generations.count || backup != earlier.backup
    }
  }

  /// The states that may be found after a crash at this moment.
  var now: Promise { lock.withLock { promise } }

  var candidates: ArraySlice<Rows> { now.candidates }

  var newest: Rows { lock.withLock { promise.generations[promise.generations.count - 1] } }

  /// Returns a number for the values of the next transaction.
  func begin() -> Int {
    lock.withLock {
      transactions += 1
      return transactions
    }
  }

  /// Records that a commit is about to be attempted.
  func attempt(_ rows: Rows) { change { $0.generations.append(rows) } }

  /// Records that everything up to this generation must survive.
  func acknowledge(through generation: Int) { change { $0.durable = generation } }

  /// Records that a backup is about to be attempted.
  func beginBackup() {
    change { promise in
      promise.backup = Promise.Backup(
        oldest: promise.backup?.oldest, newest: promise.generations.count - 1)
    }
  }

  /// Records that a backup of this generation is complete.
  func endBackup(of generation: Int) {
    change { $0.backup = Promise.Backup(oldest: generation, newest: generation) }
  }

  /// Records that the commits attempted after this generation did not happen.
  func settleAttempts(through generation: Int) {
    change { $0.generations.removeSubrange((generation + 1)...) }
  }

  /// Records that the store was opened at this generation with these rows: it must survive, and no newer one
  /// may be found. If opening moves values, only the rows must survive. Returns whether the state was
  /// allowed.
  func settle(on generation: Int, _ rows: Rows, opensWithMoves: Bool) -> Bool {
    change { promise in
      guard generation >= promise.durable, generation < promise.generations.count,
        promise.generations[generation] == rows
      else { return false }
      promise.generations.removeSubrange((generation + 1)...)
      let others = promise.generations[promise.durable...].lastIndex { $0 != rows }
      promise.durable = opensWithMoves ? others.map { $0 + 1 } ?? promise.durable : generation
      return true
    }
  }

  private func change<Result>(_ body: (inout Promise) -> Result) -> Result {
    let (result, whenNarrowed) = lock.withLock {
      let earlier = promise
      let result = body(&promise)
      return (result, promise.isNarrower(than: earlier) ? self.whenNarrowed : nil)
    }
    whenNarrowed?()
    return result
  }

  /// Sets an action that is called whenever the set of allowed states shrinks, because images that passed
  /// before may no longer be correct.
  func whenNarrowed(_ action: @escaping @Sendable () -> Void) { lock.withLock { whenNarrowed = action } }
}
