import Foundation
import HeartwoodEngine
import HeartwoodFiles
import TestSupport
import Testing

/// Runs the examples of the engine's articles.
@Suite struct `Examples of the engine's articles` {
  private func withTowns(_ body: (Engine) throws -> Void) throws {
    let store = try Engine(at: "/dev/null")
    try store.write { transaction in
      try transaction.put("city/lyon", Array("522250".utf8))
      try transaction.put("city/nice", Array("348085".utf8))
      try transaction.put("river/rhone", Array("812".utf8))
    }
    try body(store)
    try store.close()
  }

  // MARK: Key-value stores

  @Test func `a store is opened, written, read and closed`() throws {
    try TemporaryFolder.with { folder in
      let path = folder + "/towns.store"
      let store = try Engine(at: path)
      try store.write { transaction in
        try transaction.put("city/lyon", Array("522250".utf8))
        try transaction.put("city/nice", Array("348085".utf8))
        try transaction.delete("city/rome")
      }
      let people = try store.read { try $0.get("city/lyon") }
      try store.close()
      #expect(people == Array("522250".utf8))
      try opening(path)
    }
  }

  private func opening(_ path: String) throws {
    var options = EngineOptions()
    options.createsStore = false
    options.durability = .deferred
    let store = try Engine(at: path, options: options)
    try store.close()
    let reader = try Engine(at: path, options: EngineOptions(access: .readOnly))
    #expect(try reader.snapshot().count == 2)
    try reader.close()
    try compressing(path)
  }

  private func compressing(_ path: String) throws {
    var options = EngineOptions()
    options.compression = .values(ofAtLeast: 512)
    let store = try Engine(at: path, options: options)
    let text = [UInt8](repeating: 0x61, count: 1000)
    try store.write { try $0.put("text", text) }
    #expect(try store.get("text") == text)
    try store.close()
  }

  @Test func `a transaction reads what it writes, returns a value, and may be rolled back`() throws {
    struct NotEnough: Error {}
    let store = try Engine(at: "/dev/null")
    try store.write { try $0.put("counter", [41]) }

    let counter = try store.write { transaction in
      let next = (try transaction.get("counter")?.first ?? 0) + 1
      try transaction.put("counter", [next])
      return next
    }

    #expect(counter == 42)
    do {
      try store.write { transaction in
        try transaction.put("counter", [0])
        throw NotEnough()
      }
    } catch is NotEnough {
      // The counter is what it was.
    }
    #expect(try store.snapshot().get("counter") == [42])
    try store.close()
  }

  @Test func `keys are put together from parts`() throws {
    func key(_ table: String, _ number: UInt64) -> [UInt8] {
      Array(table.utf8) + [0] + withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
    let store = try Engine(at: "/dev/null")
    try store.write { transaction in
      for number in [300, 2, 70_000] as [UInt64] { try transaction.put(key("order", number), []) }
      try transaction.put(key("orderly", 1), [])
    }
    let orders = KeyRange.prefix(Array("order".utf8) + [0])
    #expect(try store.snapshot().count(in: orders) == 3)
    #expect(try store.snapshot().entry(at: 2)?.key == key("order", 70_000))
    try store.close()
  }

  @Test func `a snapshot shows one generation while later commits are written`() throws {
    try withTowns { store in
      let before = try store.snapshot()
      try store.write { _ = try $0.deleteRange(.prefix(Array("city/".utf8))) }
      #expect(before.count == 3)
      #expect(try store.snapshot().count == 1)

      let key = Array("city/lyon".utf8)
      let length = try key.withUnsafeBytes { try before.withValue(of: $0) { $0.count } }
      #expect(length == 6)
    }
  }

  @Test func `the engine reads the newest value of a key`() throws {
    try withTowns { store in
      let key = Array("city/lyon".utf8)
      let name = try store.get("city/lyon")
      let length = try key.withUnsafeBytes { try store.withValue(of: $0) { $0.count } }
      #expect(name?.count == 6)
      #expect(length == 6)
    }
  }

  @Test func `scans and cursors go through ranges`() throws {
    try withTowns { store in
      let snapshot = try store.snapshot()
      var names: [String] = []
      try snapshot.scan(.prefix(Array("city/".utf8))) { key, value in
        names.append(String(decoding: key, as: UTF8.self))
        return names.count < 10
      }
      #expect(names == ["city/lyon", "city/nice"])

      var last: [UInt8]?
      try snapshot.scan(KeyRange(from: nil, to: Array("river".utf8)), reversed: true) { key, value in
        last = Array(key)
        return false
      }
      #expect(last == Array("city/nice".utf8))

      let cursor = try snapshot.cursor()
      var stands = try cursor.seek(Array("city/m".utf8))
      while stands {
        print(String(decoding: cursor.key, as: UTF8.self), try cursor.value().count)
        stands = try cursor.next()
      }
      _ = try cursor.seekBefore(Array("city/m".utf8))
      #expect(cursor.key.elementsEqual("city/lyon".utf8))
    }
  }

  @Test func `counts and ranks need no scan`() throws {
    try withTowns { store in
      let snapshot = try store.snapshot()
      let cities = try snapshot.count(in: .prefix(Array("city/".utf8)))
      let place = try snapshot.rank(of: Array("city/nice".utf8))
      let middle = try snapshot.entry(at: snapshot.count / 2)
      #expect(cities == 2 && place == 1 && middle?.key == Array("city/nice".utf8))
    }
  }

  @Test func `durability is chosen for a store and for a transaction`() throws {
    try TemporaryFolder.with { folder in
      let path = folder + "/events.store"
      let store = try Engine(at: path, options: EngineOptions(durability: .deferred))
      try store.write { try $0.put("seen", [1]) }
      try store.write(durability: .full) { try $0.put("paid", [1]) }
      try store.close()
    }
  }

  @Test func `history is read, and space is reclaimed`() throws {
    try TemporaryFolder.with { folder in
      let store = try Engine(at: folder + "/towns.store")
      for value in 1...3 as ClosedRange<UInt8> { try store.write { try $0.put("a", [value]) } }

      let second = try store.snapshot(at: Generation(rawValue: 2))
      #expect(try second.get("a") == [2])
      for record in try store.generations() {
        print(record.generation, record.time, record.puts, record.deletes, record.bytes)
      }

      try store.checkpoint()
      let space = try store.reclaim()
      print(space.bytesBefore, space.bytesAfter, space.movedValues)

      let report = try store.verify()
      #expect(report.isSound, "\(report.findings)")
      let statistics = try store.statistics()
      print(statistics.keys, statistics.fileBytes, statistics.oldestPinned ?? store.newestGeneration)
      try store.close()
    }
  }

  @Test func `errors say what happened and where`() throws {
    try TemporaryFolder.with { folder in
      let path = folder + "/towns.store"
      var options = EngineOptions()
      options.sharing = .exclusive
      options.busyTimeout = 0.5
      let first = try Engine(at: path, options: options)
      var message = ""
      do {
        let store = try Engine(at: path, options: options)
        try store.close()
      } catch let error as EngineError where error.code == .locked {
        message = "\(error)"
      }
      #expect(message.hasPrefix("the store is open elsewhere"))
      try first.close()
    }
  }

  @Test func `a store can be kept in memory`() throws {
    let scratch = try Engine(at: "/dev/null")
    let fileSystem = MemoryFileSystem()
    let store = try Engine(at: "/test.store", fileSystem: fileSystem)
    try store.write { try $0.put("a", [1]) }
    try store.close()
    let again = try Engine(at: "/test.store", fileSystem: fileSystem)
    #expect(try again.snapshot().get("a") == [1])
    try again.close()
    try scratch.close()
  }

  @Test func `a program waits for commits`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "heartwood-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try Engine(at: folder.path)
    let reader = try Engine(at: folder.path, options: EngineOptions(access: .readOnly))
    let commits = reader.commits
    let (notices, told) = AsyncStream.makeStream(of: Generation.self)
    let observation = reader.observeCommits { generation in
      told.yield(generation)
    }
    for name in ["lyon", "nice"] { try store.write { try $0.put(name, [1]) } }
    let last = store.newestGeneration
    for await generation in commits {
      print(generation, try reader.snapshot().count)
      if generation == last { break }
    }
    for await generation in notices where generation == last { break }
    #expect(try reader.snapshot().count == 2)
    observation.cancel()
    try reader.close()
    try store.close()
  }

  @Test func `a large value is read from a file and written to a file`() throws {
    try TemporaryFolder.with { folder in
      let photograph = URL(fileURLWithPath: folder + "/photograph")
      let copy = URL(fileURLWithPath: folder + "/copy")
      let bytes = 3 << 20
      try Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }).write(to: photograph)
      try Data().write(to: copy)
      let store = try Engine(at: folder + "/store")
      let target = try FileHandle(forWritingTo: copy)

      let source = try FileHandle(forReadingFrom: photograph)
      try store.write { transaction in
        try transaction.put(Array("photograph".utf8), count: bytes) { buffer in
          guard let data = try source.read(upToCount: buffer.count) else { return 0 }
          return data.copyBytes(to: buffer)
        }
      }
      try store.snapshot().readValue(of: Array("photograph".utf8)) { piece in
        target.write(Data(piece))
        return true
      }

      try target.close()
      #expect(try Data(contentsOf: copy) == Data(contentsOf: photograph))
      try store.close()
    }
  }

  // MARK: Coming from LMDB and RocksDB

  @Test func `idioms of LMDB and RocksDB have equivalents`() throws {
    try withTowns { store in
      // MDB_NOOVERWRITE
      try store.write { transaction in
        guard try !transaction.contains(Array("city/lyon".utf8)) else { return }
        try transaction.put("city/lyon", Array("0".utf8))
      }
      #expect(try store.snapshot().get("city/lyon") == Array("522250".utf8))

      // MDB_DUPSORT: the value is the end of the key
      try store.write { transaction in
        for tag in ["old", "large", "old"] { try transaction.put("tag/lyon/" + tag, []) }
      }
      #expect(try store.snapshot().count(in: .prefix(Array("tag/lyon/".utf8))) == 2)

      // mdb_drop, DropColumnFamily
      let dropped = try store.write { try $0.deleteRange(.prefix(Array("tag/".utf8))) }
      #expect(dropped == 2)

      // SeekForPrev: at the key, or before it
      let cursor = try store.snapshot().cursor()
      let key = Array("city/nice".utf8)
      var stands = try cursor.seek(key)
      if !stands || !cursor.key.elementsEqual(key) { stands = try cursor.seekBefore(key) }
      #expect(stands && cursor.key.elementsEqual(key))
    }
  }
}
