import Foundation
import HeartwoodEncryption
import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite struct KeyChangeTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/store" }
  private let files = EncryptedFileSystem(key: .test)

  init() throws { folder = try TemporaryFolder() }

  private func fill(_ files: EncryptedFileSystem) throws -> [[UInt8]: [UInt8]] {
    let engine = try Engine(at: path, fileSystem: files)
    for number in 0..<200 {
      try engine.write(durability: .deferred) { try $0.put("key \(number)", Array("value \(number)".utf8)) }
    }
    defer { try? engine.close() }
    return try contents(engine)
  }

  private func read(_ files: EncryptedFileSystem) throws -> [[UInt8]: [UInt8]] {
    let engine = try Engine(at: path, fileSystem: files)
    defer { try? engine.close() }
    guard try engine.verify().findings.isEmpty else { return [:] }
    return try contents(engine)
  }

  @Test func `another master key rewrites one file, also while the store is open`() throws {
    let rows = try fill(files)
    let engine = try Engine(at: path, fileSystem: files)
    let before = try folder.files("/store")
    let password = MasterKey(password: "open sesame", cost: Keys.cheap)
    try files.changeKey(ofStoreAt: path, to: password)
    let after = try folder.files("/store")
    #expect(after.keys.sorted() == before.keys.sorted())
    #expect(after.filter { before[$0.key] != $0.value }.keys.sorted() == ["keys"])
    try engine.write { try $0.put("after", [1]) }
    try engine.close()
    #expect(code { _ = try read(files) } == .wrongKey)
    let others = EncryptedFileSystem(key: password)
    #expect(try read(others).count == rows.count + 1)
    #expect(throws: FileSystemError.self) { try files.changeKey(ofStoreAt: path, to: .test) }
    try others.changeKey(ofStoreAt: path, to: .test)
    #expect(try read(files).count == rows.count + 1)
  }

  @Test
  func `a store that is sealed again has no block in common with the former, and is read with the same key`()
    throws
  {
    let rows = try fill(files)
    let before = try folder.files("/store")
    let engine = try Engine(at: path, fileSystem: files)
    #expect(fileCode { try files.rekeyStore(at: path) } == .inUse)
    try engine.close()
    try files.rekeyStore(at: path)
    let after = try folder.files("/store")
    for (name, bytes) in after where before[name] == bytes { #expect(bytes.isEmpty, "\(name)") }
    #expect(try read(files) == rows)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
    // The former block of the key opens nothing.
    try before["keys"]?.write(to: URL(fileURLWithPath: path + "/keys"))
    #expect(throws: EngineError.self) { _ = try read(files) }
  }

  @Test func `a file has another key, or is sealed again`() throws {
    let text = (0..<50_000).map { UInt8($0 % 253) }
    let directory = try files.openDirectory(folder.path)
    try directory.put("letters", text)
    let before = try folder.files()
    try files.rekeyFile(at: folder.path + "/letters")
    #expect(try directory.bytes(of: "letters") == text)
    #expect(try folder.files()["letters"] != before["letters"])
    try files.changeKey(ofFileAt: folder.path + "/letters", to: Keys.wrong)
    #expect(fileCode { _ = try directory.bytes(of: "letters") } == .wrongKey)
    let others = EncryptedFileSystem(key: Keys.wrong)
    #expect(try others.openDirectory(folder.path).bytes(of: "letters") == text)
    #expect(fileCode { try files.changeKey(ofFileAt: folder.path + "/letters", to: .test) } == .wrongKey)
    #expect(try others.openDirectory(folder.path).bytes(of: "letters") == text)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["letters"])
  }
}
