import HeartwoodEngine
import HeartwoodFiles
import TestSupport
import Testing

@Suite struct `Examples of the article on embedding the engine` {
  struct People {
    let store: Engine

    private func row(_ number: UInt64) -> [UInt8] {
      Array("people/".utf8) + withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
    private func names(_ name: String) -> [UInt8] { Array("name/\(name)".utf8) + [0] }

    func set(_ number: UInt64, name: String) throws {
      try store.write { transaction in
        if let former = try transaction.get(row(number)) {
          try transaction.delete(names(String(decoding: former, as: UTF8.self)) + row(number))
        }
        try transaction.put(row(number), Array(name.utf8))
        try transaction.put(names(name) + row(number), [])
      }
    }

    func numbers(named name: String) throws -> [UInt64] {
      var found: [UInt64] = []
      try store.snapshot().scan(.prefix(names(name))) { key, _ in
        found.append(key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
        return true
      }
      return found
    }

    func count() throws -> UInt64 { try store.snapshot().count(in: .prefix(Array("people/".utf8))) }
  }

  @Test func `a table and its index agree`() throws {
    let fileSystem = MemoryFileSystem()
    let people = People(store: try Engine(at: "/test.store", fileSystem: fileSystem))
    try people.set(7, name: "Ada")
    try people.set(7, name: "Grace")
    #expect(try people.numbers(named: "Grace") == [7])
    #expect(try people.numbers(named: "Ada").isEmpty)
    try people.set(300, name: "Grace")
    #expect(try people.numbers(named: "Grace") == [7, 300])
    #expect(try people.count() == 2)
    try people.store.close()
  }

  @Test func `a store has a mark and a version, and others are refused`() throws {
    try TemporaryFolder.with { folder in
      let path = folder + "/people.store"
      for _ in 1...2 {
        var options = EngineOptions()
        options.content = StoreContent("people")
        let store = try Engine(at: path, options: options)
        try store.write { transaction in
          let version = try transaction.get("version")?.first ?? 0
          guard version < 2 else { return }
          _ = try transaction.deleteRange(.prefix(Array("name/".utf8)))
          try transaction.put("version", [2])
        }
        #expect(store.newestGeneration.rawValue == 1)
        try store.close()
      }
      var others = EngineOptions()
      others.content = StoreContent("towns")
      let error = #expect(throws: EngineError.self) { try Engine(at: path, options: others) }
      #expect(error?.code == .otherContent)
    }
  }
}
