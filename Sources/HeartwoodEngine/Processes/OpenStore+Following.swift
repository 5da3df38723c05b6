import HeartwoodFiles
import Synchronization

extension OpenStore {
  /// Takes up what other processes have published since, if there is anything.
  @inline(__always)
  func followOthers() throws(EngineError) {
    guard !leading.isOn.load(ordering: .relaxed), page != nil else { return }
    let counter =
      if let memory = leading.records {
        ProcessPage.newestCounter(in: memory)
      } else {
        try newestCounter()
      }
    if counter > leading.seen.load(ordering: .relaxed), let page { try follow(page) }
  }

  /// The counter of the newest record; 0 where nobody can tell anything.
  @inline(never)
  func newestCounter() throws(EngineError) -> UInt64 {
    do {
      return try page?.newestCounter() ?? 0
    } catch {
      throw EngineError.files(error, "what the store's processes tell could not be read")
    }
  }

  @inline(never)
  private func follow(_ page: ProcessPage) throws(EngineError) {
    guard !writer.isHeldHere else { return }
    try besideOthers { () throws(EngineError) in try followOnce(page) }
  }

  /// Runs `body`, which follows others and opens files, once more where another process has given such a file back just
  /// before.
  func besideOthers<Result>(_ body: () throws(EngineError) -> Result) throws(EngineError) -> Result {
    guard page != nil else { return try body() }
    var patience = Patience(seconds: options.busyTimeout)
    while true {
      let counter = try newestCounter()
      do throws(EngineError) {
        return try body()
      } catch {
        // Of what is given back, others are told before.
        guard error.code == .damaged, try newestCounter() != counter, patience.wait() else {
          throw error
        }
      }
    }
  }

  private func followOnce(_ page: ProcessPage) throws(EngineError) {
    let released = try checkpoints.withLock { () throws(EngineError) in
      try writer.withLock { () throws(EngineError) -> [AnyObject] in
        guard !leading.isOn.load(ordering: .relaxed), let record = try newestRecord(page),
          record.counter > leading.seen.load(ordering: .relaxed), record.identifier == log.identifier
        else { return [] }
        try CatchUp(store: self, end: record.end, durable: record.durable).run()
        leading.seen.store(record.counter, ordering: .relaxed)
        // What others have given back is not kept by those who only read.
        return reclaimer.release(self)
      }
    }
    withExtendedLifetime(released) {}
  }

  func newestRecord(_ page: ProcessPage) throws(EngineError) -> ProcessRecord? {
    do {
      return try page.newest()
    } catch {
      throw EngineError.files(error, "what the store's processes tell could not be read")
    }
  }
}
