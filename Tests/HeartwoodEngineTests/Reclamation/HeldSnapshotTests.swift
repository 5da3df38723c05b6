import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

@testable import HeartwoodEngine

/// The generations that held snapshots keep of a store that is overwritten.
struct HeldSnapshotTests {
  /// A store whose files are small, with the same number of keys always.
  private struct Store {
    static let keys = 120
    let path: String
    let options: EngineOptions
    let engine: Engine
    private(set) var model: Model = [:]
    private var round = 0

    init(_ kind: StoreKind, _ fileSystem: any FileSystem, _ path: String) throws {
      self.path = path
      options = kind.processOptions
      engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      try overwrite()
    }

    /// Replaces all values, and removes the files of the former ones.
    mutating func overwrite() throws {
      round += 1
      for number in 0..<Self.keys {
        model[[UInt8]("key \(number)".utf8)] = [UInt8](
          repeating: UInt8(truncatingIfNeeded: round), count: 300)
      }
      let model = model
      try engine.write(durability: .deferred) { for (key, value) in model { try $0.put(key, value) } }
      try engine.reclaim()
    }
  }

  private static let rounds = 30

  @Test(arguments: [StoreKind.posixMapped, .posixBuffered, .memoryMapped, .simulated])
  func `a snapshot keeps the files of its own time only, however often the store is overwritten`(
    kind: StoreKind
  ) throws {
    try kind.withPlace { fileSystem, path in
      var store = try Store(kind, fileSystem, path)
      let (held, model) = (try store.engine.snapshot(), store.model)
      let before = try store.engine.statistics()
      #expect(before.unlinkedFiles == 0 && before.pinnedGenerations == 1)
      for _ in 0..<3 { try store.overwrite() }
      let soon = try store.engine.statistics()
      #expect(soon.unlinkedFiles > 0 && soon.unlinkedBytes > 0)
      for _ in 0..<Self.rounds { try store.overwrite() }
      let late = try store.engine.statistics()
      #expect(late.unlinkedFiles == soon.unlinkedFiles && late.unlinkedBytes == soon.unlinkedBytes)
      #expect(late.unlinkedFiles <= before.logSegments + before.pageSegments + 2)
      try held.expect(model, "the held snapshot")
      #expect(late.oldestPinned == held.generation)
      withExtendedLifetime(held) {}
      try store.engine.close()
    }
  }

  #if os(Linux)
    @Test func `the process has no more descriptors of deleted files than the statistics say`() throws {
      try StoreKind.posixMapped.withPlace { fileSystem, path in
        var store = try Store(.posixMapped, fileSystem, path)
        let held = try store.engine.snapshot()
        for _ in 0..<Self.rounds { try store.overwrite() }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
          let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
          return target.map { $0.hasPrefix(path) && $0.hasSuffix("(deleted)") } ?? false
        }
        #expect(open.count == (try store.engine.statistics().unlinkedFiles))
        try withExtendedLifetime(held) { try store.engine.close() }
      }
    }
  #endif

  @Test func `a released snapshot gives the space of its files back at the next checkpoint`() throws {
    try StoreKind.posixMapped.withPlace { fileSystem, path in
      var store = try Store(.posixMapped, fileSystem, path)
      var held: Snapshot? = try store.engine.snapshot()
      for _ in 0..<3 { try store.overwrite() }
      #expect(try held != nil && store.engine.statistics().unlinkedFiles > 0)
      held = nil
      try store.engine.checkpoint()
      try store.overwrite()
      let after = try store.engine.statistics()
      #expect(after.unlinkedFiles == 0 && after.unlinkedBytes == 0 && after.pinnedGenerations == 0)
      try store.engine.close()
    }
  }

  @Test func `unlinked files are released in the background when nothing is written any more`() throws {
    try StoreKind.memoryMapped.withPlace { fileSystem, path in
      var store = try Store(.memoryMapped, fileSystem, path)
      var held: Snapshot? = try store.engine.snapshot()
      for _ in 0..<3 { try store.overwrite() }
      #expect(try held != nil && store.engine.statistics().unlinkedFiles > 0)
      held = nil
      UnlinkedRelease(store.engine.handle.store).releaseNow()
      #expect(try store.engine.statistics().unlinkedFiles == 0)
      try store.engine.close()
    }
  }

  @Test(arguments: [EngineOptions.Access.readWrite, .readOnly])
  func `a snapshot that another process holds keeps the files of its time only`(
    access: EngineOptions.Access
  ) throws {
    try StoreKind.posixMapped.withPlace { fileSystem, path in
      var store = try Store(.posixMapped, fileSystem, path)
      var options = store.options
      options.access = access
      let reader = try Engine(at: path, options: options, fileSystem: fileSystem)
      let (held, model) = (try reader.snapshot(), store.model)
      var most = 0
      for round in 0..<Self.rounds {
        try store.overwrite()
        // Refreshes the reader.
        try reader.snapshot().expect(store.model, "round \(round)")
        if round == 3 { most = try reader.statistics().unlinkedFiles }
      }
      #expect(try reader.statistics().unlinkedFiles <= most + 1)
      try held.expect(model, "the held snapshot")
      try reader.close()
      try store.engine.close()
    }
  }

  @Test func `a past generation keeps no file that was begun after it`() throws {
    try StoreKind.memoryMapped.withPlace { fileSystem, path in
      let options = StoreKind.memoryMapped.options
      let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
      for round in 0..<12 {
        try engine.write {
          for key in 0..<60 { try $0.put("\(key)", [UInt8](repeating: UInt8(round), count: 400)) }
        }
      }
      let store = engine.handle.store
      let past = try PastGenerations(store).find(3)
      let kept = store.logSegments.segments.filter { past.keeps($0.number) }.map(\.number)
      #expect(!kept.isEmpty && kept.count < store.logSegments.segments.count)
      let snapshot = Snapshot(past, of: 3)
      #expect(try snapshot.get([UInt8]("7".utf8))?.first == 2)
      try engine.close()
    }
  }

  @Test(arguments: 0..<6)
  func `held snapshots read their own values while files come and go`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed + 40)
    try StoreKind.memoryMapped.withPlace { fileSystem, path in
      let engine = try Engine(
        at: path, options: StoreKind.memoryMapped.processOptions, fileSystem: fileSystem)
      let other = try Engine(at: path, options: StoreKind.memoryMapped.processOptions, fileSystem: fileSystem)
      var model: Model = [:]
      var held: [(snapshot: Snapshot, model: Model)] = []
      for _ in 0..<220 {
        let writer = random.below(4) == 0 ? other : engine
        switch random.below(10) {
        case 0...4:
          var next = model
          try writer.write(durability: .deferred) { transaction in
            for _ in 0..<30 {
              let key = [UInt8]("key \(random.below(90))".utf8)
              next[key] = [UInt8](repeating: UInt8(truncatingIfNeeded: random.next()), count: 400)
              try transaction.put(key, next[key] ?? [])
            }
          }
          model = next
        case 5: try writer.checkpoint()
        case 6: try writer.reclaim()
        case 7: held.append((try writer.snapshot(), model))
        case 8: if !held.isEmpty { held.remove(at: random.below(held.count)) }
        default:
          for (snapshot, model) in held { try snapshot.expect(model, "seed \(seed), \(snapshot.generation)") }
        }
        try held.first?.snapshot.expect(held[0].model, "seed \(seed), the oldest")
      }
      held = []
      for engine in [engine, other] {
        try engine.snapshot().expect(model, "seed \(seed), the newest")
        try engine.checkpoint()
        try engine.reclaim()
        #expect(try engine.statistics().unlinkedFiles == 0)
        #expect(try engine.verify().findings == [])
      }
      try other.close()
      try engine.close()
    }
  }
}

extension PastGeneration {
  fileprivate func keeps(_ segment: UInt32) -> Bool { view.view.space.values.slot(segment) != nil }
}
