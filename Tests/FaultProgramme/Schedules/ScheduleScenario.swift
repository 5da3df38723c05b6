import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles

/// The threads of an exploration. Scenarios are small, so that many of their schedules can be run.
enum ScheduleScenario: String, CaseIterable, Sendable {
  case handover, groupCommit, checkpoint, checkpointElsewhere, readers, reclaim, opening, idle, follower,
    kill, settling,
    closing, consumers, sameConsumer, purges, holds, history, keeperKill

  /// Prepares a run.
  func prepare(_ threads: ExploredThreads) throws {
    if try prepareDiary(threads) { return }
    let store = try ScheduledStore(threads)
    switch self {
    case .handover: try Self.handover(store)
    case .groupCommit: try Self.groupCommit(store)
    case .checkpoint: try Self.checkpoint(store)
    case .checkpointElsewhere: try Self.checkpointElsewhere(store)
    case .readers: try Self.readers(store)
    case .reclaim: try Self.reclaim(store)
    case .opening: try Self.opening(store)
    case .idle: try Self.idle(store)
    case .follower: try Self.follower(store)
    case .kill: try Self.kill(store)
    case .settling: try Self.settling(store)
    case .closing: try Self.closing(store)
    case .consumers, .sameConsumer, .purges, .holds, .history, .keeperKill: break
    }
  }

  /// Writers of two processes, two threads each, take the lease in turn.
  private static func handover(_ store: ScheduledStore) throws {
    for name in ["a", "b"] {
      let process = store.process(name)
      let engine = try process.open()
      for number in 1...2 { write("\(name)\(number)", 2, process, engine, store) }
    }
  }

  /// Three threads of one process share the syncs of their commits, while another process writes.
  private static func groupCommit(_ store: ScheduledStore) throws {
    let (process, other) = (store.process("a"), store.process("b"))
    let (engine, elsewhere) = (try process.open(), try other.open())
    for number in 1...3 { write("a\(number)", 2, process, engine, store) }
    write("b1", 1, other, elsewhere, store)
  }

  /// A thread takes checkpoints while other threads of its process and another process write.
  private static func checkpoint(_ store: ScheduledStore) throws {
    let (process, other) = (store.process("a"), store.process("b"))
    let (engine, elsewhere) = (try process.open(), try other.open())
    write("a1", 2, process, engine, store)
    write("b1", 2, other, elsewhere, store)
    store.thread("a2", of: process) { for _ in 0..<2 { try engine.checkpoint() } }
  }

  /// Background checkpoints become due in both processes, and the log continues in new segments.
  private static func checkpointElsewhere(_ store: ScheduledStore) throws {
    for name in ["a", "b"] {
      let process = store.process(name) { $0.checkpointBytes = 64 << 10 }
      let engine = try process.open()
      write("\(name)1", 3, process, engine, store, filling: 40_000)
    }
  }

  /// Snapshots stay unchanged while another process overwrites values and reclaims space.
  private static func readers(_ store: ScheduledStore) throws {
    let (process, other) = (store.process("a"), store.process("b"))
    let (engine, elsewhere) = (try process.open(), try other.open())
    store.thread("a1", of: process) {
      for _ in 0..<3 { try store.commit("a1", engine, filling: 40_000) }
      try engine.reclaim()
    }
    store.thread("b1", of: other) {
      for _ in 0..<2 { try read(elsewhere, store) }
    }
    store.thread("b2", of: other) {
      try store.commit("b2", elsewhere)
      try read(elsewhere, store)
    }
  }

  /// Both processes reclaim space while both write.
  private static func reclaim(_ store: ScheduledStore) throws {
    for name in ["a", "b"] {
      let process = store.process(name)
      let engine = try process.open()
      write("\(name)1", 2, process, engine, store, filling: 40_000)
      store.thread("\(name)2", of: process) { try engine.reclaim() }
    }
  }

  /// A process opens the store while two others write it, one of which closes it.
  private static func opening(_ store: ScheduledStore) throws {
    let (first, second, third) = (store.process("a"), store.process("b"), store.process("c"))
    let (engine, closing) = (try first.open(), try second.open())
    write("a1", 2, first, engine, store)
    store.thread("b1", of: second) {
      try store.commit("b1", closing)
      try closing.close()
    }
    store.thread("c1", of: third) {
      let opened = try third.open()
      try store.commit("c1", opened)
      try opened.close()
    }
  }

  /// The lease is kept between commits, and released by a timer or for other processes.
  private static func idle(_ store: ScheduledStore) throws {
    for name in ["a", "b"] {
      let process = store.process(name) { $0.idleSeconds = 0.001 }
      let engine = try process.open()
      for number in 1...2 { write("\(name)\(number)", 2, process, engine, store) }
    }
  }

  /// A process opens the store read-only while others write.
  private static func follower(_ store: ScheduledStore) throws {
    let (process, other) = (store.process("a"), store.process("b") { $0.busyTimeout = 1 })
    let engine = try process.open()
    write("a1", 4, process, engine, store, filling: 40_000)
    store.thread("b1", of: other) {
      let before = store.acknowledgedCount
      let reader = try other.open(.readOnly)
      try read(reader, store, atLeast: before)
      try read(reader, store)
      try reader.close()
    }
  }

  /// A process is killed at any point, while another one waits for it and continues.
  private static func kill(_ store: ScheduledStore) throws {
    let (victim, other) = (store.process("a"), store.process("b"))
    let (engine, elsewhere) = (try victim.open(), try other.open())
    for number in 1...2 { write("a\(number)", 2, victim, engine, store) }
    write("b1", 2, other, elsewhere, store)
    store.thread("b2", of: other) {
      SchedulePoint.reach("kill")
      victim.kill()
      try store.commit("b2", elsewhere)
    }
  }

  /// A process is killed at any point, while another one writes, and a third one opens the store after it. What that one sees at first of the
  /// killed one's commits, for reading only and for writing, is what stays.
  private static func settling(_ store: ScheduledStore) throws {
    let (victim, other, third) = (store.process("a"), store.process("b"), store.process("c"))
    let (engine, elsewhere) = (try victim.open(), try other.open())
    write("a1", 2, victim, engine, store)
    write("b1", 1, other, elsewhere, store)
    store.thread("c1", of: third) {
      SchedulePoint.reach("kill")
      victim.kill()
      let reader = try third.open(.readOnly)
      let shown = ScheduledStore.number(try reader.get("a1"))
      let opened = try third.open()
      let first = ScheduledStore.number(try opened.get("a1"))
      var inside = 0
      try opened.write { transaction in
        inside = ScheduledStore.number(try transaction.get("a1"))
        try transaction.put("x", [1])
      }
      try require(
        shown == first && first == inside,
        "of a killed process \(shown) commits are shown, then \(first), and \(inside) in a transaction")
      try reader.close()
      try opened.close()
    }
  }

  /// Processes close the store while their threads write; any of them can be the last.
  private static func closing(_ store: ScheduledStore) throws {
    for name in ["a", "b"] {
      let process = store.process(name)
      let engine = try process.open()
      store.thread("\(name)1", of: process) {
        try store.commit("\(name)1", engine)
        try engine.close()
      }
      store.thread("\(name)2", of: process) {
        do {
          try store.commit("\(name)2", engine)
        } catch let error as EngineError where error.code == .closed {}
      }
    }
  }

  // MARK: Threads

  private static func write(
    _ thread: String, _ count: Int, _ process: ScheduledProcess, _ engine: Engine, _ store: ScheduledStore,
    filling: Int = 0
  ) {
    store.thread(thread, of: process) {
      for _ in 0..<count { try store.commit(thread, engine, filling: filling) }
    }
  }

  /// Checks that a snapshot contains every commit acknowledged before, does not change, and has consistent
  /// counters.
  private static func read(_ engine: Engine, _ store: ScheduledStore, atLeast least: Int? = nil) throws {
    let least = least ?? store.acknowledgedCount
    let snapshot = try engine.snapshot()
    let count = ScheduledStore.number(try snapshot.get("counter"))
    try require(count >= least, "a snapshot has \(count) commits, after one of \(least)")
    var sum = 0
    for (thread, _) in store.acknowledged { sum += ScheduledStore.number(try snapshot.get(thread)) }
    try require(sum <= count, "a snapshot counts \(count), and its threads \(sum)")
    let again = ScheduledStore.number(try snapshot.get("counter"))
    try require(again == count, "a snapshot of \(count) commits has \(again) later")
    if let filling = try snapshot.get("filling") {
      try require(filling.allSatisfy { $0 == 7 }, "a snapshot has a value that no transaction wrote")
    }
  }
}
