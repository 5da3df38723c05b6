import Foundation
import Heartwood
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

/// Entries that no save wrote, in a store that the engine finds valid. They may cause errors or wrong objects, but never a
/// trap.
@Suite struct `A graph with foreign entries` {
  @Test func `a graph with foreign entries is read, verified and changed without a trap`() throws {
    let image = try Self.image()
    var random = SplitMix64(seed: 31)
    let rounds = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] == nil ? 150 : 20_000
    var findings = 0
    for round in 0..<rounds {
      let disk = image.mounted()
      let change = try Self.change(disk, &random)
      do {
        let container = try GraphSession.open(disk)
        if try !use(container) { findings += 1 }
        try container.close()
      } catch {
        #expect(error is HeartwoodError, "seed 31, round \(round), \(change): \(error)")
        findings += 1
      }
    }
    #expect(findings > rounds / 2, "most changes are found")
  }

  /// A store after the first seven steps of the workload.
  private static func image() throws -> CrashImage {
    let disk = SimulatedFileSystem()
    let container = try GraphSession.open(disk)
    for step in GraphWorkload.steps.prefix(7) { try GraphSession.run(step, on: container) }
    try container.close()
    return try #require(disk.crashImages().first { _ in true })
  }

  /// Reads and changes as much as possible; returns whether verification found nothing.
  private func use(_ container: PersistentContainer) throws -> Bool {
    try attempt { _ = try GraphFacts(of: container) }
    var isSound = false
    try attempt { isSound = try container.persistentStoreCoordinator.verify().isSound }
    for step in GraphWorkload.steps.suffix(9) {
      try attempt { try GraphSession.run(step, on: container) }
    }
    try attempt { try deleteAll(container) }
    try attempt { _ = try container.persistentStoreCoordinator.verify() }
    return isSound
  }

  private func deleteAll(_ container: PersistentContainer) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      for book in try context.fetch(Book.self) { book.citations = book.citations.reversed() }
      for shelf in try context.fetch(Shelf.self) { context.delete(shelf) }
      for subject in try context.fetch(Subject.self) { context.delete(subject) }
      try context.save()
    }
  }

  /// Ignores errors of the graph, which are expected here. Throws others.
  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch is HeartwoodError {
    } catch is NothingFound {
    }
  }

  /// Changes one entry; returns a description of the change.
  private static func change(_ disk: SimulatedFileSystem, _ random: inout SplitMix64) throws -> String {
    var options = Session.options
    options.acceptsOtherContent = true
    let engine = try Engine(at: Session.path, options: options, fileSystem: disk)
    var entries: [(key: [UInt8], value: [UInt8])] = []
    try engine.snapshot().scan { key, value in
      entries.append((Array(key), Array(value)))
      return true
    }
    let (key, value) = entries[random.below(entries.count)]
    var (newKey, newValue) = (key, value)
    switch random.below(6) {
    case 0: damage(&newKey, &random)
    case 1: newValue = entries[random.below(entries.count)].value
    case 2: newValue.removeLast(random.below(value.count + 1))
    case 3: newValue += (0...random.below(9)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    default: for _ in 0...random.below(3) { damage(&newValue, &random) }
    }
    try engine.write { transaction in
      if random.below(8) == 0 {
        try transaction.delete(key)
      } else {
        try transaction.put(newKey, newValue)
      }
    }
    try engine.close()
    return "\(key): \(value) became \(newKey): \(newValue)"
  }

  private static func damage(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
    guard !bytes.isEmpty else { return }
    let offset = random.below(bytes.count)
    switch random.below(3) {
    case 0: bytes[offset] ^= 1 << UInt8(random.below(8))
    case 1: bytes[offset] = [0, 0x7F, 0x80, 0xFF][random.below(4)]
    default: bytes[offset] = UInt8(truncatingIfNeeded: random.next())
    }
  }
}
