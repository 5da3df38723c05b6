/// Writes the anchor of an open store. Any thread of the process that holds the lease.
struct AnchorWriter: Sendable {
  let file: AnchorFile
  let status: StoreStatus
  let records: RecordPublisher

  /// Announces this process as the writer, then writes the anchor. A failed sync of it stops the store.
  ///
  /// - Parameter held: Nil if the thread does not hold the writer lock.
  func update(_ held: WriterHeld? = nil, _ change: (inout AnchorSlot) -> Void) throws(EngineError) {
    try records.announceLease(held)
    switch file.update(change) {
    case .written: return
    case .failed(let error): throw error
    case .unsynced(let error):
      status.stop(error)
      throw error
    }
  }
}
