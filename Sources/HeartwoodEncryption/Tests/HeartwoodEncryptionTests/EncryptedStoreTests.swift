import Foundation
import HeartwoodEncryption
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite struct EncryptedStoreTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/store" }
  private let files = EncryptedFileSystem(key: .test)

  init() throws { folder = try TemporaryFolder() }

  private func write(_ engine: Engine, _ keys: Range<Int>, _ mark: String) throws {
    for key in keys {
      try engine.write {
        try $0.put(
          Array("KEY-OF-\(key)".utf8),
          Array("VALUE-\(mark)-\(key) ".utf8) + [UInt8](repeating: 65, count: key % 900))
      }
    }
  }

  @Test(arguments: CipherAlgorithm.allCases)
  func `a store is there when it is opened again, also by the other algorithm`(algorithm: CipherAlgorithm)
    throws
  {
    var expected: [[UInt8]: [UInt8]] = [:]
    for round in 0..<4 {
      let files = EncryptedFileSystem(key: .test, algorithm: round % 2 == 0 ? algorithm : .aes256GCM)
      let engine = try Engine(at: path, options: EngineOptions(segmentBytes: 256 << 10), fileSystem: files)
      #expect(try contents(engine) == expected)
      try write(engine, round * 50..<round * 50 + 200, "\(round)")
      if round == 2 { _ = try engine.reclaim() }
      #expect(try engine.verify().findings.isEmpty)
      expected = try contents(engine)
      try engine.close()
    }
    #expect(expected.count == 350)
  }

  @Test func `no marked key, value or name is in a file, of the store or of its backup`() throws {
    let engine = try Engine(at: path, fileSystem: files)
    try write(engine, 0..<300, "MARKED")
    try engine.write {
      try $0.put(Array("KEY-OF-LARGE".utf8), Array(String(repeating: "VALUE-LARGE", count: 200_000).utf8))
    }
    try engine.checkpoint()
    let report = try engine.backup(to: folder.path + "/backup")
    #expect(report.copiedBytes > 0)
    try write(engine, 300..<400, "MARKED")
    try engine.backup(to: folder.path + "/backup")
    #expect(try folder.files().count > 8)
    for (name, bytes) in try folder.files() {
      for part in ["KEY-OF", "VALUE", "MARKED", "AAAAAAAA"] {
        #expect(!contains(bytes, Array(part.utf8)), "\(part) in \(name)")
      }
    }
    let rows = try contents(engine)
    try engine.close()
    let copy = try Engine(at: folder.path + "/backup", fileSystem: files)
    #expect(try contents(copy) == rows)
    try copy.close()
    #expect(
      code { _ = try Engine(at: folder.path + "/backup", fileSystem: EncryptedFileSystem(key: Keys.wrong)) }
        == .wrongKey)
  }

  @Test func `a wrong key is a wrong key, not damage, also while the store is open`() throws {
    let engine = try Engine(at: path, fileSystem: files)
    try write(engine, 0..<10, "x")
    for _ in 0..<2 {
      for key in [Keys.wrong, MasterKey(password: "password", cost: Keys.cheap)] {
        #expect(code { _ = try Engine(at: path, fileSystem: EncryptedFileSystem(key: key)) } == .wrongKey)
      }
      try engine.close()
    }
    let again = try Engine(at: path, fileSystem: files)
    #expect(try contents(again).count == 10)
    try again.close()
  }

  @Test func `an encrypted store is not opened as a plain one, nor a plain one as encrypted`() throws {
    let engine = try Engine(at: path, fileSystem: files)
    try write(engine, 0..<10, "x")
    try engine.close()
    let before = try folder.files()
    let error = #expect(throws: EngineError.self) { _ = try Engine(at: path) }
    #expect(error?.code == .notAStore && "\(error, default: "")".contains("encrypted"))
    #expect(
      try folder.files("/store").filter { $0.key != "processes" && $0.key != "lock" }
        == before.reduce(into: [:]) {
          let name = String($1.key.dropFirst("store/".count))
          if name != "processes", name != "lock" { $0[name] = $1.value }
        })
    let plain = folder.path + "/plain"
    try Engine(at: plain).close()
    let other = #expect(throws: EngineError.self) { _ = try Engine(at: plain, fileSystem: files) }
    #expect("\(other, default: "")".contains("not encrypted"))
  }

  @Test func `a damaged block of keys is read from its copy, and two are an error`() throws {
    let engine = try Engine(at: path, fileSystem: files)
    try write(engine, 0..<10, "x")
    try engine.close()
    let directory = try PosixFileSystem().openDirectory(path)
    let keys = try directory.bytes(of: "keys")
    for offset in stride(from: 0, to: 512, by: 13) {
      try directory.put("keys", keys)
      try directory.overwrite("keys", at: offset, [keys[offset] ^ 1])
      let engine = try Engine(at: path, fileSystem: files)
      #expect(try contents(engine).count == 10)
      try engine.close()
    }
    try directory.put("keys", [UInt8](repeating: 0, count: 1024))
    #expect(code { _ = try Engine(at: path, fileSystem: files) } == .inputOutput)
    try directory.unlink("keys")
    #expect(throws: EngineError.self) { _ = try Engine(at: path, fileSystem: files) }
    try directory.put("keys", keys)
    try Engine(at: path, fileSystem: files).close()
  }
}
