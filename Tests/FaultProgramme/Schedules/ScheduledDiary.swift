import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// A diary on a simulated disk for the threads of an exploration, and what was acknowledged to them.
///
/// Only one thread of a run is active at a time, so no lock is needed.
final class ScheduledDiary: @unchecked Sendable {
  private let store: ScheduledStore
  /// By writer, the entries that were begun and those that were saved.
  private var begun: [String: Int] = [:]
  private var saved: [String: Int] = [:]
  /// By consumer, the last position that was saved.
  private var positions: [String: UInt64] = [:]
  /// The digests of what was held, by name.
  private var held: [String: UInt64] = [:]
  /// The holds whose release was begun.
  private var ending: Set<String> = []

  /// - Parameter entries: How many entries each writer has at first.
  init(_ threads: ExploredThreads, entries: Int = 0) throws {
    try Self.warmUp.get()
    store = try ScheduledStore(threads) { try Self.make($0, entries: entries) }
    for writer in Diary.writers { saved[writer] = entries }
    threads.afterwards { [self] in try check() }
  }

  /// Makes what a process makes once only: a thread that is interrupted while it does would block the others for ever.
  private static let warmUp = Result {
    _ = try DiaryRehearsal(seed: 1, count: 60)
  }

  private static func make(_ disk: SimulatedFileSystem, entries: Int) throws {
    let container = try Diary.open(disk, options: ScheduledStore.options)
    try Diary.prepare(container)
    for writer in Diary.writers {
      for number in 0..<entries { try save(writer, container, seed: number) }
    }
    try container.close()
  }

  private static func save(_ writer: String, _ container: PersistentContainer, seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    try Diary.save(writer, in: container, &random, touchesCommon: false)
  }

  /// Adds a process that has the store open.
  func process(_ name: String) throws -> ScheduledDiaryProcess {
    let process = store.process(name)
    let container = try Diary.open(
      ScheduledFileSystem(base: process.system), options: process.options)
    return ScheduledDiaryProcess(process: process, container: container)
  }

  /// Adds a thread of a process.
  func thread(
    _ name: String, of process: ScheduledDiaryProcess,
    _ body: @escaping @Sendable (PersistentContainer) throws -> Void
  ) {
    store.thread(name, of: process.process) {
      do {
        try body(process.container)
      } catch let error as HeartwoodError {
        guard !process.process.isKilled else { return }
        // That of the engine says whether a lock was waited for too long.
        throw error.underlying as? EngineError ?? error
      }
    }
  }

  // MARK: Work of the threads

  func save(_ writer: String, _ container: PersistentContainer) throws {
    begun[writer, default: saved[writer] ?? 0] += 1
    try Self.save(writer, container, seed: begun[writer] ?? 0)
    saved[writer] = begun[writer]
  }

  func consume(_ reader: String, _ container: PersistentContainer, limit: Int = 2) throws {
    guard let position = try Diary.consume(reader, in: container, limit: limit) else { return }
    positions[reader] = max(positions[reader] ?? 0, position)
  }

  func hold(_ name: String, _ container: PersistentContainer) throws {
    try container.persistentStoreCoordinator.hold(name, forSeconds: nil)
    held[name] = try digest(name, container)
  }

  /// Compares what a hold shows with what it has shown first.
  func compare(_ name: String, _ container: PersistentContainer) throws {
    let digest = try digest(name, container)
    try require(digest == held[name], "the hold \(name) shows other objects than before")
  }

  func release(_ name: String, _ container: PersistentContainer) throws {
    ending.insert(name)
    let wasThere = try container.persistentStoreCoordinator.releaseHold(name)
    try require(wasThere, "there was no hold \(name) to release")
    held[name] = nil
  }

  private func digest(_ hold: String, _ container: PersistentContainer) throws -> UInt64 {
    let token = try container.persistentStoreCoordinator.queryGenerationToken(ofHold: hold)
    let objects = try DiaryObjects(of: container, at: token)
    try objects.check()
    return objects.digest
  }

  // MARK: Final checks

  private func check() throws {
    let container = try Diary.open(
      store.disk.process(named: "reader"), options: ScheduledStore.options)
    let facts = try DiaryFacts(of: container)
    try facts.check()
    for (writer, least) in saved {
      let (most, found) = (begun[writer] ?? least, facts.objects.counts[writer] ?? 0)
      try require((least...most).contains(found), "\(writer) has saved \(least), and there are \(found)")
    }
    for consumer in facts.consumers {
      let (found, least) = (consumer.position.transactionNumber, positions[consumer.name] ?? 0)
      try require(found >= least, "\(consumer.name) is at \(found), and \(least) was acknowledged")
    }
    for (name, digest) in held where !ending.contains(name) {
      try require(facts.holds[name]?.digest == digest, "the hold \(name) is gone, or shows other objects")
    }
    let findings = try container.persistentStoreCoordinator.verify().findings
    try require(findings.isEmpty, "verification finds \(findings)")
    try container.close()
  }
}

/// A process of an exploration that has a diary open.
final class ScheduledDiaryProcess: @unchecked Sendable {
  let process: ScheduledProcess
  let container: PersistentContainer

  init(process: ScheduledProcess, container: PersistentContainer) {
    (self.process, self.container) = (process, container)
  }
}
