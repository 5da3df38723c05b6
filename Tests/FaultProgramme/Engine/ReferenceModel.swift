import HeartwoodFiles

/// What a store was asked to hold, and what it has promised to keep. It knows nothing of how a store works.
final class ReferenceModel: @unchecked Sendable {
  private let lock = Lock()
  private var promise = Promise()
  /// How many transactions were tried, for values that are like no other.
  private var transactions = 0
  private var whenNarrowed: (@Sendable () -> Void)?

  init() {}

  /// Another witness of the same past.
  init(_ reference: ReferenceModel) {
    (promise, transactions) = reference.lock.withLock { (reference.promise, reference.transactions) }
  }

  /// What may be found after a crash at some moment.
  struct Promise: Sendable, Hashable {
    /// The rows of every generation, from 0 on, which has none. The last may be of a transaction that
    /// was not acknowledged.
    fileprivate(set) var generations: [Rows] = [[:]]
    /// The newest that has to survive everything.
    fileprivate(set) var durable = 0

    /// What may be found in the folder of the backups; nil before the first.
    fileprivate(set) var backup: Backup?

    /// The generations that a backup may be of.
    struct Backup: Sendable, Hashable {
      /// Nil where there may be no backup at all.
      var oldest: Int?
      var newest: Int
    }

    /// All states that may be found, the oldest first.
    var candidates: ArraySlice<Rows> { generations[durable...] }

    /// Whether something may not be found that might have been at an `earlier` time.
    fileprivate func isNarrower(than earlier: Promise) -> Bool {
      durable > earlier.durable || generations.count < earlier.generations.count || backup != earlier.backup
    }
  }

  /// What may be found after a crash now.
  var now: Promise { lock.withLock { promise } }

  var candidates: ArraySlice<Rows> { now.candidates }

  var newest: Rows { lock.withLock { promise.generations[promise.generations.count - 1] } }

  /// A number for the values of the next transaction.
  func begin() -> Int {
    lock.withLock {
      transactions += 1
      return transactions
    }
  }

  /// A commit is about to be tried.
  func attempt(_ rows: Rows) { change { $0.generations.append(rows) } }

  /// Everything up to this generation has to survive.
  func acknowledge(through generation: Int) { change { $0.durable = generation } }

  /// A backup is about to be tried.
  func beginBackup() {
    change { promise in
      promise.backup = Promise.Backup(
        oldest: promise.backup?.oldest, newest: promise.generations.count - 1)
    }
  }

  /// A backup of this generation is done.
  func endBackup(of generation: Int) {
    change { $0.backup = Promise.Backup(oldest: generation, newest: generation) }
  }

  /// What was attempted behind this generation did not happen.
  func settleAttempts(through generation: Int) {
    change { $0.generations.removeSubrange((generation + 1)...) }
  }

  /// The store was opened and is at this generation, with these rows: nothing newer will ever be found, and
  /// this has to survive; where opening moves values, only the rows have to. Returns whether that was possible.
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

  /// Lets `action` be called whenever less may be found than before: what was in order need not be so any more.
  func whenNarrowed(_ action: @escaping @Sendable () -> Void) { lock.withLock { whenNarrowed = action } }
}
