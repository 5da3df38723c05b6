import Heartwood
import HeartwoodFaults

/// Consumers, purges and holds.
extension ScheduleScenario {
  /// Prepares a run of a scenario with a diary.
  ///
  /// - Returns: False for another scenario.
  func prepareDiary(_ threads: ExploredThreads) throws -> Bool {
    switch self {
    case .consumers: try Self.consumers(ScheduledDiary(threads, entries: 1))
    case .sameConsumer: try Self.sameConsumer(ScheduledDiary(threads, entries: 2))
    case .purges: try Self.purges(ScheduledDiary(threads, entries: 2))
    case .holds: try Self.holds(ScheduledDiary(threads, entries: 2))
    case .history: try Self.history(ScheduledDiary(threads, entries: 2))
    case .keeperKill: try Self.keeperKill(ScheduledDiary(threads, entries: 2))
    default: return false
    }
    return true
  }

  /// Two processes, each with a writer and a consumer.
  private static func consumers(_ diary: ScheduledDiary) throws {
    for (name, place) in [("a", 0), ("b", 1)] {
      let process = try diary.process(name)
      diary.thread("\(name)1", of: process) { try diary.save(Diary.writers[place], $0) }
      diary.thread("\(name)2", of: process) { container in
        for _ in 0..<2 { try diary.consume(Diary.readers[place], container) }
      }
    }
  }

  /// Three threads of two processes do the work of one consumer: each entry is noted once.
  private static func sameConsumer(_ diary: ScheduledDiary) throws {
    let (first, second) = (try diary.process("a"), try diary.process("b"))
    for (thread, process) in [("a1", first), ("a2", first), ("b1", second)] {
      diary.thread(thread, of: process) { container in
        for _ in 0..<2 {
          do {
            try diary.consume(Diary.readers[0], container)
          } catch let error as HeartwoodError where error.code == .persistentStoreSaveConflicts {}
        }
      }
    }
  }

  /// The history is deleted up to the slower of two consumers, by requests and by the saves of a writer.
  private static func purges(_ diary: ScheduledDiary) throws {
    let (first, second) = (try diary.process("a"), try diary.process("b"))
    diary.thread("a1", of: first) { try diary.consume(Diary.readers[0], $0, limit: 3) }
    diary.thread("a2", of: first) { try diary.save(Diary.writers[0], $0) }
    diary.thread("b1", of: second) { try diary.consume(Diary.readers[1], $0, limit: 3) }
    diary.thread("b2", of: second) { container in for _ in 0..<2 { try Diary.purge(container) } }
  }

  /// A generation is held, read and released while others write and reclaim space.
  private static func holds(_ diary: ScheduledDiary) throws {
    let (first, second) = (try diary.process("a"), try diary.process("b"))
    diary.thread("a1", of: first) { try diary.save(Diary.writers[0], $0) }
    diary.thread("a2", of: first) { _ = try $0.persistentStoreCoordinator.reclaim() }
    diary.thread("b1", of: second) { container in
      try diary.hold("b1", container)
      try diary.compare("b1", container)
      try diary.release("b1", container)
    }
    diary.thread("b2", of: second) { try diary.hold("b2", $0) }
  }

  /// Two consumers, a purger and a holder.
  private static func history(_ diary: ScheduledDiary) throws {
    let (first, second) = (try diary.process("a"), try diary.process("b"))
    diary.thread("a1", of: first) { try diary.consume(Diary.readers[0], $0, limit: 3) }
    diary.thread("a2", of: first) { try diary.hold("a2", $0) }
    diary.thread("b1", of: second) { try diary.consume(Diary.readers[1], $0, limit: 3) }
    diary.thread("b2", of: second) { container in
      try Diary.purge(container)
      _ = try container.persistentStoreCoordinator.reclaim()
    }
  }

  /// A process with a consumer and a holder is killed at any point, while another one consumes and writes.
  private static func keeperKill(_ diary: ScheduledDiary) throws {
    let (victim, other) = (try diary.process("a"), try diary.process("b"))
    diary.thread("a1", of: victim) { try diary.consume(Diary.readers[0], $0) }
    diary.thread("a2", of: victim) { container in
      try diary.hold("a2", container)
      try diary.release("a2", container)
    }
    diary.thread("b1", of: other) { container in
      SchedulePoint.reach("kill")
      victim.process.kill()
      try diary.save(Diary.writers[1], container)
      try diary.consume(Diary.readers[0], container)
    }
  }
}
