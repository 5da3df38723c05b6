import CoreMetrics
import Heartwood
import HeartwoodEngine

/// Events as counters and timers, which are made once.
struct StoreMetrics: Sendable {
  private let saves, failedSaves, writtenObjects, conflicts: Counter
  private let fetches, slowFetches, rowsRead, rowsReturned, faults, merges: Counter
  private let transactions, logBytes: Counter
  private let checkpoints, checkpointPages, compactions, movedBytes: Counter
  private let saveDuration, fetchDuration, faultDuration: CoreMetrics.Timer
  private let transactionDuration, transactionWait, checkpointDuration, compactionDuration: CoreMetrics.Timer

  init(_ factory: any MetricsFactory) {
    func counter(_ name: String) -> Counter { Counter(label: "heartwood.\(name)", factory: factory) }
    func timer(_ name: String) -> CoreMetrics.Timer {
      CoreMetrics.Timer(label: "heartwood.\(name)", factory: factory)
    }
    (saves, failedSaves) = (counter("saves"), counter("saves.failed"))
    (writtenObjects, conflicts) = (counter("objects.written"), counter("conflicts"))
    (fetches, slowFetches) = (counter("fetches"), counter("fetches.slow"))
    (rowsRead, rowsReturned) = (counter("rows.read"), counter("rows.returned"))
    (faults, merges) = (counter("faults"), counter("merges"))
    (transactions, logBytes) = (counter("transactions"), counter("log.bytes"))
    (checkpoints, checkpointPages) = (counter("checkpoints"), counter("checkpoint.pages"))
    (compactions, movedBytes) = (counter("compactions"), counter("compaction.bytes"))
    (saveDuration, fetchDuration) = (timer("save.duration"), timer("fetch.duration"))
    faultDuration = timer("fault.duration")
    (transactionDuration, transactionWait) = (timer("transaction.duration"), timer("transaction.wait"))
    (checkpointDuration, compactionDuration) = (timer("checkpoint.duration"), timer("compaction.duration"))
  }

  func count(_ event: StoreEvent) {
    switch event {
    case .saved(let save):
      (save.failure == nil ? saves : failedSaves).increment()
      writtenObjects.increment(by: save.inserted + save.updated + save.deleted)
      saveDuration.record(save.duration)
    case .conflicted(let met): conflicts.increment(by: met.rows + met.constraints)
    case .fetched(let fetch):
      fetches.increment()
      if fetch.isSlow { slowFetches.increment() }
      rowsRead.increment(by: fetch.rowsRead)
      rowsReturned.increment(by: fetch.rowsReturned)
      fetchDuration.record(fetch.duration)
    case .faulted(let fault):
      faults.increment()
      faultDuration.record(fault.duration)
    case .merged: merges.increment()
    case .engine(let event): count(event)
    }
  }

  private func count(_ event: EngineEvent) {
    switch event {
    case .committed(let transaction):
      transactions.increment()
      logBytes.increment(by: transaction.logBytes)
      transactionDuration.record(transaction.duration)
      transactionWait.record(transaction.waited)
    case .checkpointed(let checkpoint):
      checkpoints.increment()
      checkpointPages.increment(by: checkpoint.pages)
      checkpointDuration.record(checkpoint.duration)
    case .compacted(let compaction):
      compactions.increment()
      movedBytes.increment(by: compaction.movedBytes)
      compactionDuration.record(compaction.duration)
    default: break
    }
  }
}

extension CoreMetrics.Timer {
  fileprivate func record(_ duration: Duration) {
    recordNanoseconds(Int64(clamping: Int((duration / .nanoseconds(1)).rounded())))
  }
}
