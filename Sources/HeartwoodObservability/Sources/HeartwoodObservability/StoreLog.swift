import Heartwood
import HeartwoodEngine
import Logging

/// Events as messages.
struct StoreLog: Sendable {
  private let logger: Logger

  init(_ logger: Logger) { self.logger = logger }

  func write(_ event: StoreEvent) {
    switch event {
    case .saved(let save): write(save)
    case .conflicted(let met):
      logger.info(
        "conflicts of a save",
        metadata: [
          "rows": "\(met.rows)", "constraints": "\(met.constraints)",
          "entities": .array(met.entityNames.map { "\($0)" }),
        ])
    case .fetched(let fetch): write(fetch)
    case .faulted(let fault):
      logger.trace(
        "fault",
        metadata: ["entity": "\(fault.entityName)", "relationship": "\(fault.relationshipName ?? "")"])
    case .merged(let merge):
      logger.trace(
        "merged",
        metadata: [
          "inserted": "\(merge.inserted)", "updated": "\(merge.updated)", "deleted": "\(merge.deleted)",
        ])
    case .engine(let event): write(event)
    }
  }

  private func write(_ save: ExecutedSave) {
    var metadata: Logger.Metadata = ["milliseconds": "\(save.duration / .milliseconds(1))"]
    metadata["context"] = save.contextName.map { "\($0)" }
    metadata["author"] = save.author.map { "\($0)" }
    if let failure = save.failure {
      metadata["error"] = "\(failure)"
      return logger.warning("a save failed", metadata: metadata)
    }
    metadata["inserted"] = "\(save.inserted)"
    metadata["updated"] = "\(save.updated)"
    metadata["deleted"] = "\(save.deleted)"
    logger.debug("saved", metadata: metadata)
  }

  private func write(_ fetch: ExecutedFetch) {
    guard fetch.isSlow || fetch.failure != nil else { return logger.trace("\(fetch)") }
    var metadata: Logger.Metadata = ["entity": "\(fetch.entityName)", "rowsRead": "\(fetch.rowsRead)"]
    metadata["advice"] = fetch.advice.map { "\($0)" }
    logger.warning(fetch.failure == nil ? "slow \(fetch)" : "\(fetch)", metadata: metadata)
  }

  private func write(_ event: EngineEvent) {
    switch event {
    case .opened(let opened):
      logger.log(
        level: opened.isRecovered ? .notice : .info,
        opened.isRecovered ? "opened and recovered a store" : "opened a store",
        metadata: ["generation": "\(opened.generation)", "replayedBytes": "\(opened.replayedBytes)"])
    case .committed(let transaction):
      logger.trace(
        "committed",
        metadata: ["generation": "\(transaction.generation)", "logBytes": "\(transaction.logBytes)"])
    case .checkpointed(let checkpoint):
      logger.debug(
        "checkpoint",
        metadata: ["generation": "\(checkpoint.generation)", "pages": "\(checkpoint.pages)"])
    case .compacted(let compaction):
      logger.debug(
        "compaction", metadata: ["files": "\(compaction.files)", "movedBytes": "\(compaction.movedBytes)"])
    }
  }
}
