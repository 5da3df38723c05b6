import Foundation
import HeartwoodEngine
import HeartwoodFiles
import Synchronization
import TestSupport
import Testing

@Suite struct `The events of an engine` {
  private final class Told: Sendable {
    private let events = Mutex<[EngineEvent]>([])

    func add(_ event: EngineEvent) { events.withLock { $0.append(event) } }

    func take() -> [EngineEvent] {
      events.withLock { events in
        defer { events = [] }
        return events
      }
    }
  }

  private let told = Told()

  private func options(worker: any BackgroundWorker = InlineWorker()) -> EngineOptions {
    var options = EngineOptions(
      segmentBytes: 64 << 10, checkpointBytes: 64 << 20, reclamation: .onDemand, worker: worker)
    options.events = { [told] in told.add($0) }
    return options
  }

  @Test func `opening, commits, checkpoints and compactions are told with their figures`() throws {
    try TemporaryFolder.with { path in
      let engine = try Engine(at: path, options: options())
      guard case .opened(let opened)? = told.take().first else { throw Missing() }
      #expect(!opened.isRecovered && opened.replayedBytes == 0 && opened.generation.rawValue == 0)

      try fill(engine)
      guard case .committed(let transaction)? = told.take().first else { throw Missing() }
      #expect(transaction.generation == engine.newestGeneration && transaction.logBytes > 200_000)
      #expect(transaction.waited <= transaction.duration && transaction.duration > .zero)

      try engine.checkpoint()
      guard case .checkpointed(let checkpoint)? = told.take().first else { throw Missing() }
      #expect(checkpoint.generation == engine.newestGeneration && checkpoint.pages > 0)

      try fill(engine)
      _ = told.take()
      let space = try engine.reclaim()
      let compactions = told.take().compactMap { event in
        if case .compacted(let compaction) = event { compaction } else { nil }
      }
      #expect(space.bytesAfter < space.bytesBefore && compactions.contains { $0.files > 0 })
      #expect(compactions.map(\.movedValues).reduce(0, +) == space.movedValues)
      try engine.close()
    }
  }

  @Test func `transactions that change nothing or are rolled back are not told`() throws {
    let engine = try Engine(at: "/dev/null", options: options())
    _ = told.take()
    try engine.write { _ in }
    #expect(throws: Missing.self) {
      try engine.write { transaction in
        try transaction.put("a", [1])
        throw Missing()
      }
    }
    #expect(told.take() == [])
    try engine.close()
  }

  @Test func `a store that was not closed is told as recovered`() throws {
    let folder = try TemporaryFolder()
    let engine = try Engine(at: folder.path("a"))
    try engine.write { try $0.put("a", [1]) }
    try FileManager.default.copyItem(atPath: folder.path("a"), toPath: folder.path("b"))
    let copy = try Engine(at: folder.path("b"), options: options())
    guard case .opened(let opened)? = told.take().first else { throw Missing() }
    #expect(opened.isRecovered && opened.replayedBytes > 0 && opened.generation == engine.newestGeneration)
    try copy.close()
    try engine.close()
  }

  /// Another thread verifies and writes the store, which takes each of its locks, while the closure waits for it.
  @Test func `no lock of the store is held while an event is told`() throws {
    try TemporaryFolder.with { path in
      let user = OtherUser(path)
      var options = options()
      options.checkpointBytes = 64 << 10
      options.reclamation = .automatic
      options.events = { [told] event in
        guard user.isIdle else { return }
        told.add(event)
        user.use()
      }
      let engine = try Engine(at: path, options: options)
      for _ in 0..<4 { try fill(engine) }
      try engine.checkpoint()
      try engine.reclaim()
      try engine.hold("newest")
      try engine.backup(to: path + ".copy")
      try engine.close()
      let kinds = Set(told.take().map { "\($0)".prefix { $0 != "(" } })
      #expect(kinds == ["opened", "committed", "checkpointed", "compacted"])
      try FileManager.default.removeItem(atPath: path + ".copy")
    }
  }

  @Test func `an inner store of a nested write is told once the outer one is unlocked`() throws {
    let outer = try Engine(at: "/dev/null", options: options())
    let inner = try Engine(at: "/dev/null", options: options())
    _ = told.take()
    try outer.write { transaction in
      try transaction.put("a", [1])
      try inner.write { try $0.put("b", [1]) }
      #expect(told.take() == [])
    }
    #expect(told.take().count == 2)
    try outer.close()
    try inner.close()
  }

  private struct Missing: Error {}

  private func fill(_ engine: Engine) throws {
    try engine.write { transaction in
      for number in 0..<200 { try transaction.put("\(number)", [UInt8](repeating: 1, count: 1200)) }
    }
  }
}

/// Uses a store on a thread of its own while the caller waits.
private final class OtherUser: Sendable {
  private let path: String
  private let isBusy = Mutex(false)

  init(_ path: String) { self.path = path }

  var isIdle: Bool { !isBusy.withLock { $0 } }

  func use() {
    isBusy.withLock { $0 = true }
    let finished = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [path] in
      do {
        let engine = try Engine(at: path)
        #expect(try engine.verify().isSound)
        try engine.write { try $0.put("other", [1]) }
        try engine.close()
      } catch {
        Issue.record(error)
      }
      finished.signal()
    }
    #expect(finished.wait(timeout: .now() + 60) == .success, "a lock is held")
    isBusy.withLock { $0 = false }
  }
}
