import HeartwoodFaults
import TestSupport
import Testing

@testable import HeartwoodEngine

@Suite struct `What differs between two generations` {
  private typealias Contents = [[UInt8]: [UInt8]]

  /// The differences of two snapshots, which the contents say.
  private func expectDifference(
    _ former: Snapshot, _ contents: Contents, _ present: Snapshot, _ later: Contents, _ comment: String
  ) throws {
    var found: [[UInt8]] = []
    try present.differences(from: former) { key, before, after in
      let key = Array(key)
      #expect(contents[key] == before.map { Array($0) }, "\(comment)")
      #expect(later[key] == after.map { Array($0) }, "\(comment)")
      found.append(key)
      return true
    }
    let wanted = Set(contents.keys).union(later.keys).filter { contents[$0] != later[$0] }
    #expect(found == wanted.sorted { $0.lexicographicallyPrecedes($1) }, "\(comment)")
  }

  private func randomBytes(_ random: inout SplitMix64, _ most: UInt64) -> [UInt8] {
    (0..<random.next() % most).map { _ in UInt8(truncatingIfNeeded: random.next() % 7) }
  }

  @Test(arguments: Array((0..<8 as Range<UInt64>).sampled(every: 2)))
  func `it is what two dictionaries differ in, after any changes`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    try TemporaryFolder.with { folder in
      let path = folder + "/store"
      var store = try Engine(at: path)
      var contents: Contents = [:]
      var kept: [(Snapshot, Contents)] = []
      var generations: [(Generation, Contents)] = []
      for round in 0..<40 {
        // Sometimes many keys in order, sometimes few anywhere, sometimes a range goes.
        try store.write { transaction in
          switch random.next() % 4 {
          case 0:
            let first = random.next() % 1_000
            for number in first..<first + 300 {
              let key = Array("key \(number)".utf8)
              let value = randomBytes(&random, 40)
              try transaction.put(key, value)
              contents[key] = value
            }
          case 1:
            let gone = contents.keys.sorted { $0.lexicographicallyPrecedes($1) }.prefix(
              Int(random.next() % 200))
            for key in gone {
              try transaction.delete(key)
              contents[key] = nil
            }
          default:
            for _ in 0..<random.next() % 30 {
              let key = randomBytes(&random, 6) + [1]
              let value = randomBytes(&random, 30)
              try transaction.put(key, value)
              contents[key] = value
            }
          }
        }
        let newest = try store.snapshot()
        for (snapshot, former) in kept {
          try expectDifference(snapshot, former, newest, contents, "seed \(seed), round \(round)")
          try expectDifference(newest, contents, snapshot, former, "seed \(seed), round \(round), back")
        }
        generations.append((newest.generation, contents))
        if random.next() % 4 == 0 { kept.append((newest, contents)) }
        if kept.count > 3 { kept.removeFirst() }
        if random.next() % 8 == 0 {
          kept = []
          try store.close()
          store = try Engine(at: path)
        }
      }
      var held: [(Snapshot, Contents)] = []
      for _ in 0..<12 {
        let (first, second) = (generations[Int(random.next() % 40)], generations[Int(random.next() % 40)])
        try expectDifference(
          try store.snapshot(at: first.0), first.1, try store.snapshot(at: second.0), second.1, "seed \(seed)"
        )
        let pair = try store.snapshots(at: first.0, and: second.0)
        #expect(pair.former.generation == first.0 && pair.present.generation == second.0)
        try expectDifference(pair.former, first.1, pair.present, second.1, "seed \(seed), a pair")
        let now = try store.snapshots(at: first.0, and: nil)
        #expect(now.former.generation == first.0 && now.present.generation == store.newestGeneration)
        try now.present.expect(generations[generations.count - 1].1, "seed \(seed), newest")
        held.append((pair.former, first.1))
        if held.count > 3 { held.removeFirst() }
        for (snapshot, contents) in held { try snapshot.expect(contents, "seed \(seed), held") }
      }
      try store.close()
    }
  }

  @Test func `pages that did not change are not read`() throws {
    let store = try Engine(at: "/dev/null")
    func key(_ number: Int) -> [UInt8] { Array("record \(100_000 + number)".utf8) }
    try store.write { transaction in
      for number in 0..<50_000 { try transaction.put(key(number), Array("value \(number)".utf8)) }
    }
    let former = try store.snapshot()
    try store.write { transaction in
      for number in stride(from: 0, to: 50_000, by: 1_000) { try transaction.put(key(number), [1]) }
      try transaction.put(key(60_000), [2])
    }
    let present = try store.snapshot()
    var count = 0
    let pages = try present.differences(from: former) { _, _, _ in
      count += 1
      return true
    }
    #expect(count == 51)
    // Each changed leaf in both trees, and the branches above.
    #expect(pages <= 2 * (51 + 20))
    #expect(try present.differences(from: present) { _, _, _ in true } == 0)
    try store.close()
  }

  @Test func `of past generations since one checkpoint, pages that did not change are not read`() throws {
    try TemporaryFolder.with { folder in
      let store = try Engine(at: folder + "/store")
      try store.write { transaction in
        for number in 0..<50_000 { try transaction.put(Array("record \(100_000 + number)".utf8), [0]) }
      }
      let former = try store.snapshot().generation
      try store.write { try $0.put(Array("record \(120_000)".utf8), [1]) }
      let present = try store.snapshot().generation
      try store.write { try $0.put(Array("record \(140_000)".utf8), [1]) }
      // The later one is the newest, then it is not; the same again, and backwards.
      let newest = try store.snapshot().generation
      for (first, second, changes) in [
        (former, newest, 2), (former, present, 1), (present, former, 1), (present, newest, 1),
      ] {
        let pair = try store.snapshots(at: first, and: second)
        var count = 0
        let pages = try pair.present.differences(from: pair.former) { _, _, _ in
          count += 1
          return true
        }
        #expect(count == changes && pages <= 6 * changes + 2)
      }
      try store.close()
    }
  }

  @Test func `pages that the store has verified are not verified again for a past generation`() throws {
    try TemporaryFolder.with { folder in
      func key(_ number: Int) -> [UInt8] { Array("record \(100_000 + number)".utf8) }
      var store = try Engine(at: folder + "/store")
      try store.write { for number in 0..<20_000 { try $0.put(key(number), [0]) } }
      try store.close()
      store = try Engine(at: folder + "/store")
      for round in UInt8(1)...2 {
        try store.write {
          for number in stride(from: 0, to: 20_000, by: 500) { try $0.put(key(number), [round]) }
        }
      }
      let newest = try store.snapshot()
      let verified = store.handle.store.space.verifiedPages
      #expect(verified >= 40)
      let past = try store.snapshot(at: Generation(rawValue: 2))
      let space = past.tree.space
      #expect(space !== store.handle.store.space && space.verifiedPages == 0)
      // A page that was not read before is verified once, by the space that reads it first.
      var count = 0
      try past.scan(.all, reversed: false) { _, value in
        count += 1
        #expect(value.first == (count % 500 == 1 ? 1 : 0))
        return true
      }
      try newest.scan(.all, reversed: false) { _, _ in true }
      #expect(count == 20_000 && space.verifiedPages > 0)
      #expect(store.handle.store.space.verifiedPages == verified)
      try store.close()
    }
  }

  @Test func `a past generation that was just read, until its space is reclaimed`() throws {
    try StoreKind.memoryMapped.withPlace { fileSystem, path in
      let engine = try Engine(at: path, options: StoreKind.memoryMapped.options, fileSystem: fileSystem)
      for round in UInt8(0)..<20 {
        try engine.write {
          for key in UInt8(0)..<60 { try $0.put([key], [UInt8](repeating: round, count: 400)) }
        }
      }
      for _ in 0..<2 { #expect(try engine.snapshot(at: Generation(rawValue: 7)).get([3])?.first == 6) }
      try engine.checkpoint()
      try engine.reclaim()
      #expect(throws: EngineError.self) { try engine.snapshot(at: Generation(rawValue: 7)) }
      #expect(try engine.statistics().unlinkedFiles == 0)
      try engine.close()
    }
  }

  @Test func `a walk ends when its body wants no more, and an empty store differs in everything`() throws {
    let store = try Engine(at: "/dev/null")
    let empty = try store.snapshot()
    try store.write { transaction in for byte in UInt8(1)...9 { try transaction.put([byte], [byte]) } }
    let full = try store.snapshot()
    var keys: [UInt8] = []
    try full.differences(from: empty) { key, former, value in
      #expect(former == nil && value?.first == key[0])
      keys.append(key[0])
      return keys.count < 3
    }
    #expect(keys == [1, 2, 3])
    var gone = 0
    try empty.differences(from: full) { _, former, value in
      #expect(former != nil && value == nil)
      gone += 1
      return true
    }
    #expect(gone == 9)
    try store.close()
  }
}
