import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct LogStoreRandomTests {
  @Test(arguments: zip(StoreKind.allCases, [1, 2, 3, 1] as [UInt64]))
  func `a store on disk equals a plain model, however often it is reopened`(kind: StoreKind, seed: UInt64)
    throws
  {
    print("seed \(seed)")
    try StorePlace.disk.use { url in
      let world = StoreWorld()
      var script = StoreWorkload(world, seed: seed)
      for _ in 0..<4 {
        let store = try LogStore.open(at: url, model: world.model, options: kind.quick)
        for _ in 0..<15 { try script.save(to: store) }
        try script.mirror.check(try store.view(), world, store.identity)
        #expect(try store.verify().findings == [])
        try store.close()
      }
      let store = try LogStore.open(at: url, model: world.model, options: kind.quick)
      try script.mirror.check(try store.view(), world, store.identity)
      try store.close()
    }
  }

  @Test func `a store in memory equals a plain model`() throws {
    let world = StoreWorld()
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    var script = StoreWorkload(world, seed: 77)
    for _ in 0..<60 { try script.save(to: store) }
    try script.mirror.check(try store.view(), world, store.identity)
    #expect(try store.verify().findings == [])
  }

  @Test func `a view never changes, and a past generation can be read again`() throws {
    let world = StoreWorld()
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    var script = StoreWorkload(world, seed: 5)
    var past: [(UInt64, any StoreView, StoreModel)] = []
    for _ in 0..<8 {
      for _ in 0..<4 { try script.save(to: store) }
      past.append((store.newestGeneration, try store.view(), script.mirror))
    }
    for (generation, view, mirror) in past {
      #expect(view.generation == generation)
      try mirror.check(view, world, store.identity)
      try mirror.check(try store.view(at: generation), world, store.identity)
    }
  }

  @Test func `a save whose body throws leaves no data`() throws {
    struct Refused: Error {}
    let world = StoreWorld()
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    var script = StoreWorkload(world, seed: 6)
    for _ in 0..<5 { try script.save(to: store) }
    let generation = store.newestGeneration
    #expect(throws: Refused.self) {
      try store.save { transaction in
        let key = try transaction.newKeys(world.village, 1)
        try transaction.insert(world.village, key, row: world.village.row(version: 1, [:]))
        throw Refused()
      }
    }
    #expect(store.newestGeneration == generation)
    try script.mirror.check(try store.view(), world, store.identity)
  }

  @Test func `a save that writes nothing creates no generation`() throws {
    let world = StoreWorld()
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    let before = store.newestGeneration
    let (_, generation) = try store.save(TransactionInfo(date: Date())) { _ in }
    #expect(generation == before)
    #expect(store.newestGeneration == before)
  }

  @Test func `keys are never assigned twice, neither by saves nor by reservations`() throws {
    try StorePlace.disk.use { url in
      let world = StoreWorld()
      var seen: Set<UInt64> = []
      for round in 0..<4 {
        let store = try LogStore.open(at: url, model: world.model, options: .quick)
        let reserved = try store.reserveKeys(world.place, 3)
        let saved = try store.save { try $0.newKeys(world.place, 2 + round) }
        for key in [reserved, reserved + 1, reserved + 2] + (saved..<saved + 2 + UInt64(round)) {
          #expect(seen.insert(key).inserted)
        }
        try store.close()
      }
    }
  }

  @Test func `a change of a row that was changed since is a conflict that reports the stored row`() throws {
    let world = StoreWorld()
    let store = try LogStore.open(at: URL(filePath: "/dev/null"), model: world.model)
    let country = world.country
    let key = try store.save { transaction in
      let key = try transaction.newKeys(country, 1)
      try transaction.insert(country, key, row: country.row(version: 1, ["name": .string("A")]))
      return key
    }
    let second = country.row(version: 2, ["name": .string("B")])
    try store.save { transaction in
      let conflict = try transaction.update(
        country, key, expectedVersion: 1, row: second, changedSlots: [], changedToMany: [])
      #expect(conflict == nil)
    }
    try store.save { transaction in
      let update = try transaction.update(
        country, key, expectedVersion: 1, row: second, changedSlots: [], changedToMany: [])
      #expect(update?.newestVersion == 2)
      #expect(update?.newestRow == second)
      #expect(try transaction.delete(country, key, expectedVersion: 1)?.newestVersion == 2)
      #expect(try transaction.delete(country, key, expectedVersion: 2) == nil)
      // Both saves delete the row, so no change is lost.
      #expect(try transaction.delete(country, key, expectedVersion: 2) == nil)
      let late = try transaction.update(
        country, key, expectedVersion: 2, row: second, changedSlots: [], changedToMany: [])
      #expect(late?.newestVersion == 0)
      #expect(late?.newestRow == nil)
    }
  }
}
