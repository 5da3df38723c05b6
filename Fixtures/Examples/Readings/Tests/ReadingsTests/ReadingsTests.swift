import Foundation
import HeartwoodEngine
import HeartwoodFiles
import ReadingStore
import Synchronization
import Testing

@testable import readings

@Suite struct `A store of readings` {
  private let store: ReadingStore

  init() throws { store = try ReadingStore(at: "/dev/null") }

  private func readings(_ times: Range<UInt64>) -> [Reading] {
    times.map { Reading(time: $0, value: Double($0) / 2) }
  }

  @Test func `readings come in the order of their times, whatever order they were added in`() throws {
    try store.add(readings(100..<300).reversed(), of: "kitchen")
    try store.add(readings(0..<10), of: "kitchen 2")
    try store.read { state in
      var times: [UInt64] = []
      try state.forEach(of: "kitchen", in: 150..<160) { reading in
        times.append(reading.time)
        return times.count < 5
      }
      #expect(times == [150, 151, 152, 153, 154])
      #expect(try state.count(of: "kitchen") == 200)
      #expect(try state.latest(of: "kitchen") == Reading(time: 299, value: 149.5))
      #expect(try state.latest(of: "cellar") == nil)
    }
  }

  @Test func `the command adds what has a sensor and a number`() throws {
    for words in [
      ["add", "21"], ["add", "kitchen", "nan"], ["add", "kitchen", "21", "22"], ["add", "kitchen", "warm"],
    ] {
      #expect(try Main.run(words, store) == Main.usage)
    }
    #expect(try Main.run(["show", "21"], store) == "no readings")
    #expect(try Main.run(["add", "kitchen", "21"], store) == nil)
    #expect(try Main.run(["show", "kitchen"], store) == "1 readings, 21.0 to 21.0, latest 21.0")
  }

  @Test func `a state stays as it was`() throws {
    try store.add(readings(0..<100), of: "kitchen")
    try store.read { state in
      let deleted = try store.forget(before: 90, of: "kitchen")
      #expect(deleted == 90)
      #expect(try state.count(of: "kitchen") == 100)
    }
    let left = try store.read { try $0.count(of: "kitchen") }
    #expect(left == 10)
  }

  @Test func `what was added is there when the store is opened again, and no other program writes to it`()
    throws
  {
    let place = FileManager.default.temporaryDirectory.appending(path: "readings-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: place) }
    let first = try ReadingStore(at: place)
    try first.add(readings(0..<3), of: "kitchen")
    try first.close()
    let second = try ReadingStore(at: place)
    let count = try second.read { try $0.count(of: "kitchen") }
    #expect(count == 3)
    try second.close()
    var other = EngineOptions()
    other.content = StoreContent("notes")
    #expect(throws: EngineError.self) { try Engine(at: place, options: other) }
  }

  @Test func `the engine says how much is written`() throws {
    let bytes = Mutex(0)
    var options = EngineOptions()
    options.events = { event in
      if case .committed(let transaction) = event { bytes.withLock { $0 += transaction.logBytes } }
    }
    let store = try ReadingStore(at: "/dev/null", options: options)
    try store.add(readings(0..<100), of: "kitchen")
    #expect(bytes.withLock { $0 } > 100 * 17)
  }
}
