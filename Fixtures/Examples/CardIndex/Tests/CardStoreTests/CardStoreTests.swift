import BenchmarkHarness
import CardStore
import Foundation
import Testing

@Suite struct `A store of cards` {
  private let folder: Scratch

  init() throws { folder = try Scratch(in: FileManager.default.temporaryDirectory.path, named: "cards") }

  private func contents(_ store: CardStore) -> [[UInt8]: [UInt8]] {
    var contents: [[UInt8]: [UInt8]] = [:]
    store.table.scan(from: nil) { key, value in
      contents[Array(key)] = Array(value)
      return true
    }
    return contents
  }

  private func put(_ texts: [String], in store: CardStore, synced: Bool = true) throws {
    try store.commit(synced: synced) { changes in
      for text in texts { Array(text.utf8).withUnsafeBytes { changes.put($0, $0) } }
    }
  }

  @Test func `random commits leave what a dictionary holds, also after compacting and opening again`() throws
  {
    var random = SplitMix64(seed: 68)
    var expected: [[UInt8]: [UInt8]] = [:]
    var store = try CardStore(at: folder.path)
    for turn in 0..<300 {
      try store.commit(synced: turn % 50 == 0) { changes in
        for _ in 0..<random.next(below: 60) {
          let key = [UInt8](repeating: UInt8(random.next(below: 40)), count: random.next(below: 30))
          let value = [UInt8](repeating: UInt8(turn % 256), count: random.next(below: 9))
          let isPut = random.next(below: 3) > 0
          expected[key] = isPut ? value : nil
          key.withUnsafeBytes { key in
            if isPut { value.withUnsafeBytes { changes.put(key, $0) } } else { changes.delete(key) }
          }
        }
      }
      if turn % 40 == 39 { try store.compact() }
      if turn % 30 == 29 {
        store.close()
        store = try CardStore(at: folder.path)
      }
      #expect(contents(store) == expected, "seed 68, turn \(turn)")
    }
    let keys = expected.keys.sorted { $0.lexicographicallyPrecedes($1) }
    var scanned: [[UInt8]] = []
    let table = store.table
    table.scan(from: nil) { key, _ in
      scanned.append(Array(key))
      return true
    }
    #expect(scanned == keys && keys.count > 600)
    for (rank, key) in keys.enumerated() {
      #expect(key.withUnsafeBytes { table.rank(of: $0) } == rank)
      #expect(table.record(at: rank)?.key == key)
    }
    #expect(table.record(at: keys.count) == nil)
  }

  @Test func `a log that is cut anywhere has the commits before, and takes further ones`() throws {
    let store = try CardStore(at: folder.path)
    try put(["one"], in: store)
    try put(["two", "three"], in: store, synced: false)
    store.close()
    let log = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/log"))
    for count in 0...log.count {
      let copy = try Scratch(in: folder.path, named: "cut")
      try log.prefix(count).write(to: URL(fileURLWithPath: copy.path + "/log"))
      let cut = try CardStore(at: copy.path)
      let there = contents(cut).count
      #expect(there == (count == log.count ? 3 : count < 16 + 16 + 6 ? 0 : 1), "cut at \(count)")
      try put(["four"], in: cut)
      cut.close()
      #expect(contents(try CardStore(at: copy.path)).count == there + 1)
    }
  }

  @Test func `a crash before the log is emptied leaves what was compacted`() throws {
    let store = try CardStore(at: folder.path)
    try put(["one", "two"], in: store)
    try store.commit(synced: true) { changes in Array("one".utf8).withUnsafeBytes { changes.delete($0) } }
    let log = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/log"))
    try store.compact()
    store.close()
    try log.write(to: URL(fileURLWithPath: folder.path + "/log"))
    let opened = contents(try CardStore(at: folder.path))
    #expect(opened == [Array("two".utf8): Array("two".utf8)])
  }

  @Test func `a changed byte of what was compacted is an error, and one of the last commit drops it`() throws
  {
    let store = try CardStore(at: folder.path)
    try put(["one", "two"], in: store)
    try store.compact()
    try put(["three"], in: store)
    store.close()
    for (file, count) in [("log", 2), ("cards", nil)] {
      let url = URL(fileURLWithPath: folder.path + "/" + file)
      var bytes = try Data(contentsOf: url)
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: url)
      if let count {
        let opened = try CardStore(at: folder.path)
        #expect(contents(opened).count == count)
        opened.close()
      } else {
        #expect(throws: CardError.self) { try CardStore(at: folder.path) }
      }
    }
  }

  @Test func `a state stays as it is, and a commit that throws changes nothing`() throws {
    let store = try CardStore(at: folder.path)
    try put(["one"], in: store)
    let table = store.table
    try put(["two"], in: store)
    #expect(table.record(at: 1) == nil)
    #expect(throws: CancellationError.self) {
      try store.commit(synced: true) { changes in
        Array("three".utf8).withUnsafeBytes { changes.put($0, $0) }
        throw CancellationError()
      }
    }
    #expect(contents(store).count == 2)
  }

  @Test func `a folder in use is not opened, and a closed store takes no commit`() throws {
    let store = try CardStore(at: folder.path)
    #expect(throws: CardError.self) { try CardStore(at: folder.path) }
    store.close()
    #expect(throws: CardError.self) { try put(["one"], in: store) }
    #expect(throws: CardError.self) { try store.compact() }
    #expect(contents(try CardStore(at: folder.path)).isEmpty)
  }
}
