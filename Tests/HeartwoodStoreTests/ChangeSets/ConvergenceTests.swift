import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import Heartwood

/// A program of several copies that change objects, take changes back, and exchange change sets in any order, with losses and repetitions.
///
/// Nothing in it depends on the machine: it ends alike each time, also with steps left out.
struct ReplicaProgram {
  struct Step {
    enum Kind: String { case change, undo, send, deliver, lose, repeated, sync, forget }
    let kind: Kind
    let copy: Int
    let other: Int
    let seed: UInt64
    /// In nanoseconds, the same for several steps.
    let time: Int64
  }

  let seed: UInt64
  let copies: Int
  let mostObjects: Int
  /// Whether the copies only delete the same two objects, take that back, and change one kind of link between them.
  var isNarrow: Bool { mostObjects < 2 }
  var steps: [Step] = []

  init(seed: UInt64, copies: Int, steps count: Int, mostObjects: Int) {
    (self.seed, self.copies, self.mostObjects) = (seed, copies, mostObjects)
    var random = SplitMix64(seed: seed)
    var time: Int64 = 1_000_000_000
    for _ in 0..<count {
      if random.below(3) == 0 { time += 1_000_000_000 }
      var kinds: [Step.Kind] = [
        .change, .change, .change, .change, .undo, .send, .send, .deliver, .deliver, .lose, .repeated, .sync,
        .sync, .forget,
      ]
      if isNarrow { kinds += [.undo, .undo, .sync, .sync, .sync, .sync, .sync] }
      let copy = random.below(copies)
      let step = Step(
        kind: random.pick(kinds), copy: copy, other: (copy + 1 + random.below(copies - 1)) % copies,
        seed: random.next(), time: time)
      steps.append(step)
    }
  }

  /// The differences at the end; empty if the copies are equal, and nothing is left to exchange.
  func run() throws -> [String] {
    var random = SplitMix64(seed: seed &+ 77)
    func lineage() -> UUID {
      UUID(uuid: random.bytes(16).withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }
    let fileSystem = MemoryFileSystem()
    // Clocks of some copies are fast or slow.
    let skews = (0..<copies).map { _ in [0, 0, 0, 2_500_000_000, -3_000_000_000][random.below(5)] as Int64 }
    let first = try KnotCopy("0", in: fileSystem, clock: ReplicaClock(), seed: random.next())
    if isNarrow { try first.fill() } else { try first.change(&random, most: mostObjects) }
    let all = try [first] + (1..<copies).map { try first.copy("\($0)", lineage(), seed: random.next()) }
    var sent: [(to: Int, set: ChangeSet)] = []
    for step in steps {
      for (copy, skew) in zip(all, skews) { copy.clock.time.withLock { $0 = step.time + skew } }
      var random = SplitMix64(seed: step.seed)
      switch step.kind {
      case .change where isNarrow: try all[step.copy].touch(Int(seed % 9), &random)
      case .change: try all[step.copy].change(&random, most: mostObjects)
      case .undo: try all[step.copy].undo(&random, ofDelete: isNarrow)
      case .forget: try all[step.copy].forget()
      case .send: sent.append((step.other, try all[step.copy].set(for: all[step.other])))
      case .sync: try all[step.other].apply(all[step.copy].set(for: all[step.other]))
      case .deliver, .lose, .repeated:
        guard !sent.isEmpty else { continue }
        let place = random.below(sent.count)
        if step.kind != .lose { try all[sent[place].to].apply(sent[place].set) }
        if step.kind != .repeated { sent.remove(at: place) }
      }
    }
    var wrong: [String] = []
    var rounds = 0
    while try exchange(all) {
      rounds += 1
      if rounds == 12 {
        wrong.append("the exchange does not end")
        break
      }
    }
    let states = try all.map { try Registers($0).lines() }
    for name in Set(states.flatMap(\.keys)).sorted() {
      let lines = states.map { $0[name].map { "\($0.value) \($0.stamp)" } ?? "none" }
      if Set(lines).count > 1 { wrong.append("\(name): \(lines.joined(separator: " | "))") }
    }
    return wrong
  }

  /// Exchanges everything once, and returns whether anything was new.
  private func exchange(_ all: [KnotCopy]) throws -> Bool {
    var isNew = false
    for from in all {
      for to in all where from !== to {
        let set = try from.set(for: to)
        guard let report = try to.apply(set) else { throw HeartwoodError(.persistentStoreOperation, "a gap") }
        if !set.isEmpty || !report.wasKnown { isNew = true }
      }
    }
    return isNew
  }

  /// The program with the steps left out without which it ends as wrongly.
  func minimised() -> ReplicaProgram {
    var program = self
    var size = max(1, steps.count / 2)
    while true {
      var (place, isShorter) = (0, false)
      while place < program.steps.count {
        var shorter = program
        shorter.steps.removeSubrange(place..<min(place + size, program.steps.count))
        if (try? shorter.run().isEmpty) == false {
          (program, isShorter) = (shorter, true)
        } else {
          place += size
        }
      }
      if size == 1, !isShorter { return program }
      size = max(1, isShorter ? size : size / 2)
    }
  }
}

@Suite struct `Convergence of copies` {
  /// Copies, steps, objects of each kind, and how many programs are tried, also in a long run.
  struct Shape {
    let copies, steps, mostObjects: Int
    let programs, mostPrograms: UInt64
  }

  @Test(
    arguments: [
      Shape(copies: 3, steps: 20, mostObjects: 1, programs: 20, mostPrograms: 9000),
      Shape(copies: 3, steps: 60, mostObjects: 3, programs: 6, mostPrograms: 1000),
      Shape(copies: 5, steps: 300, mostObjects: 10, programs: 0, mostPrograms: 1000),
    ])
  func `copies that have exchanged everything are equal, and have nothing to exchange`(shape: Shape) throws {
    for seed in 0..<(LongRun.isWanted ? shape.mostPrograms : shape.programs) {
      let program = ReplicaProgram(
        seed: seed, copies: shape.copies, steps: shape.steps, mostObjects: shape.mostObjects)
      let wrong = try program.run()
      guard !wrong.isEmpty else { continue }
      let short = program.minimised()
      Issue.record("\(shape), seed \(seed): \(wrong.prefix(9)); as short as possible: \(short.steps)")
    }
  }
}
