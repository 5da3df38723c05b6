import HeartwoodFaults
import Testing

@testable import HeartwoodEngine

/// Changes of keys that are collected and made in key order.
@Suite struct KeyChangesTests {
  private struct Made: Equatable {
    let key: [UInt8]
    let kind: KeyChanges.Kind
  }

  @Test(arguments: ScannedKeys.allCases)
  func `changes are made in key order, and those of one key in the order in which they were collected`(
    keys: ScannedKeys
  ) throws {
    let kind = StoreKind.memoryBuffered
    try kind.withPlace { fileSystem, path in
      let engine = try Engine(at: path, options: kind.options, fileSystem: fileSystem)
      var random = SplitMix64(seed: 0xC0D7)
      var model: Set<[UInt8]> = []
      for count in [1, 20, 40, 900] {
        var (changes, collected) = (KeyChanges(), [Made]())
        for _ in 0..<count {
          let isAgain = random.below(4) == 0 && !collected.isEmpty
          let key = isAgain ? collected[random.below(collected.count)].key : keys.key(&random)
          let kind: KeyChanges.Kind = random.below(3) == 0 ? .delete : random.below(2) == 0 ? .put : .notedPut
          changes.add(kind, key)
          collected.append(Made(key: key, kind: kind))
          if kind == .delete { model.remove(key) } else { model.insert(key) }
        }
        #expect(changes.count == count && changes.hasNoted == collected.contains { $0.kind == .notedPut })
        let expected = collected.enumerated().sorted { left, right in
          left.element.key == right.element.key
            ? left.offset < right.offset : left.element.key.lexicographicallyPrecedes(right.element.key)
        }.map(\.element)
        var made: [Made] = []
        try engine.write { transaction in
          let written = try changes.write(to: transaction)
          written.forEach { kind, key, _ in made.append(Made(key: Array(key), kind: kind)) }
        }
        #expect(made == expected && changes.isEmpty)
        var found: Set<[UInt8]> = []
        try engine.snapshot().scan { key, _ in found.insert(Array(key)).inserted }
        #expect(found == model)
      }
      try engine.close()
    }
  }
}
