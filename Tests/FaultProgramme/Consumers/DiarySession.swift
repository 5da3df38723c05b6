import Foundation
import Heartwood
import HeartwoodFaults
import HeartwoodFiles

/// The steps of work with a diary: each is in the store as a whole or not at all.
enum DiaryStep: Sendable, Hashable {
  case save(writer: String, seed: UInt64)
  case consume(String, limit: Int)
  case consumeSlowly
  /// Nil for the newest generation, or how many generations before it.
  case hold(String, past: UInt64?)
  case release(String)
  case purge
  /// The number of the change set of the copy.
  case apply(Int)
  case reclaim
  case reopen
}

/// A diary that is open, and the program's own steps.
final class DiarySession {
  private let fileSystem: any FileSystem
  private let sets: [ChangeSet]
  private let clock = SimulatedClock()
  private(set) var container: PersistentContainer

  /// - Parameter sets: The change sets of the copy, in order.
  init(_ fileSystem: any FileSystem, sets: [ChangeSet] = [], isReadOnly: Bool = false) throws {
    (self.fileSystem, self.sets) = (fileSystem, sets)
    container = try Self.open(fileSystem, clock, isReadOnly: isReadOnly)
  }

  private static func open(
    _ fileSystem: any FileSystem, _ clock: SimulatedClock, isReadOnly: Bool = false
  ) throws -> PersistentContainer {
    var options = GraphSession.options
    options.clock = clock
    return try Diary.open(fileSystem, options: options) { $0.isReadOnly = isReadOnly }
  }

  var coordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }

  func facts() throws -> DiaryFacts { try DiaryFacts(of: container) }

  /// Moves the clock by a second: the newer of two changes of a scrap stays.
  func run(_ step: DiaryStep) throws {
    clock.jump(by: 1_000_000_000)
    switch step {
    case .save(let writer, let seed):
      var random = SplitMix64(seed: seed)
      try Diary.save(writer, in: container, &random)
    case .consume(let reader, let limit): try Diary.consume(reader, in: container, limit: limit)
    case .consumeSlowly: try Diary.consumeSlowly(in: container, limit: 3)
    case .hold(let name, let past): try hold(name, past)
    case .release(let name): try coordinator.releaseHold(name)
    case .purge: try Diary.purge(container)
    case .apply(let number): try coordinator.apply(sets[number], policy: .newest, author: "copy")
    case .reclaim: _ = try coordinator.reclaim()
    case .reopen:
      try container.close()
      container = try Self.open(fileSystem, clock)
    }
  }

  /// A past generation may be gone.
  private func hold(_ name: String, _ past: UInt64?) throws {
    guard let past else {
      try coordinator.hold(name, forSeconds: nil)
      return
    }
    let newest = coordinator.currentPersistentHistoryToken()?.transactionNumber ?? 0
    do {
      try coordinator.hold(name, generation: newest - min(newest, past), forSeconds: nil)
    } catch let error as HeartwoodError where error.code == .persistentStoreOperation {}
  }

  func close() throws { try container.close() }
}

/// The random steps of a seed, with their results in a run without faults.
struct DiaryRehearsal: Sendable {
  /// The steps that are done before the first one that may be interrupted.
  let preparation: [DiaryStep]
  let steps: [DiaryStep]
  /// The change sets of the copy; one more than the steps apply.
  let sets: [ChangeSet]
  /// The states of the store before the first step and after each.
  let states: [[String]]

  /// - Parameters:
  ///   - count: The number of steps.
  ///   - prepared: How many others are done before them.
  init(seed: UInt64, count: Int, prepared: Int = 0) throws {
    let all = Self.steps(seed, prepared + count)
    (preparation, steps) = (Array(all.prefix(prepared)), Array(all.dropFirst(prepared)))
    let applied = all.compactMap { if case .apply(let number) = $0 { number } else { nil } }
    sets = try Self.sets((applied.max() ?? -1) + 2, seed)
    let disk = SimulatedFileSystem()
    try Self.prepare(disk, preparation, sets)
    let session = try DiarySession(disk, sets: sets)
    var states = [try session.facts().lines]
    for step in steps {
      try session.run(step)
      let facts = try session.facts()
      do { try facts.check() } catch { throw Finding("seed \(seed), after \(step): \(error)") }
      states.append(facts.lines)
    }
    let report = try session.coordinator.verify()
    try require(report.isSound, "not sound: \(report.findings)")
    try session.close()
    self.states = states
  }

  /// Runs all steps on a disk with a prepared store.
  func live(on fileSystem: any FileSystem, _ reference: StateWitness<[String]>) throws {
    let session = try DiarySession(fileSystem, sets: sets)
    for step in steps {
      reference.begin()
      try session.run(step)
      reference.acknowledge()
    }
    try session.close()
  }

  /// Makes the store on a disk, and does what is done before the steps.
  func prepare(_ fileSystem: any FileSystem) throws { try Self.prepare(fileSystem, preparation, sets) }

  private static func prepare(
    _ fileSystem: any FileSystem, _ steps: [DiaryStep] = [], _ sets: [ChangeSet] = []
  ) throws {
    let session = try DiarySession(fileSystem, sets: sets)
    try Diary.prepare(session.container)
    for step in steps { try session.run(step) }
    try session.close()
  }

  private static func steps(_ seed: UInt64, _ count: Int) -> [DiaryStep] {
    var random = SplitMix64(seed: seed)
    var (held, sets): ([String], Int) = ([], 0)
    return (0..<count).map { number in
      switch random.below(20) {
      case 0..<7: return .save(writer: random.pick(Diary.writers), seed: random.next())
      case 7..<11: return .consume(random.pick(Diary.readers), limit: 1 + random.below(4))
      case 11: return .consumeSlowly
      case 12, 13:
        held.append("hold \(number)")
        return .hold("hold \(number)", past: random.below(3) == 0 ? UInt64(random.below(8)) : nil)
      case 14 where !held.isEmpty: return .release(held.remove(at: random.below(held.count)))
      case 15: return .purge
      case 16, 17:
        if sets > 0, random.below(3) == 0 { return .apply(random.below(sets)) }
        sets += 1
        return .apply(sets - 1)
      case 18: return .reopen
      default: return .reclaim
      }
    }
  }

  private static func sets(_ count: Int, _ seed: UInt64) throws -> [ChangeSet] {
    let disk = MemoryFileSystem()
    try prepare(disk)
    let session = try DiarySession(disk)
    let copy = session.coordinator
    try copy.beginLineage()
    var random = SplitMix64(seed: ~seed)
    return try (0..<count).map { number in
      let before = try copy.changeSetPositions()
      // Each is between two steps of the store, or long after them.
      if random.below(2) == 0 { try session.run(.reclaim) }
      try session.run(.save(writer: "copy", seed: random.next()))
      return try copy.changeSet(after: before)
    }
  }
}
