import Foundation
import HeartwoodEncryption
import HeartwoodFaults
import HeartwoodFiles
import Testing

@Suite struct EncryptedFileTests {
  static let names = ["0000000000000001.log", "0000000000000002.pages", "anchor", "letters.json"]

  @Test(arguments: names, 1...6)
  func `a file reads as it was written, whatever is written, cut and opened again`(
    name: String, seed: UInt64
  ) throws {
    print("seed \(seed)")
    let random = SeededEntropy(seed: seed)
    let disk = SimulatedFileSystem()
    let files = EncryptedFileSystem(
      over: disk, key: .test, algorithm: seed % 2 == 0 ? .aes256GCM : .chaCha20Poly1305)
    try files.createDirectory("/folder")
    var directory = try files.openDirectory("/folder")
    var file = try directory.open(name, .createNew)
    var model: [UInt8] = []
    for _ in 0..<300 {
      switch random.next() % 12 {
      case 0...6:
        let offset = Int(random.next() % UInt64(model.count + 2 + (name == "anchor" ? 0 : 5000)))
        let count = Int(random.next() % (random.next() % 3 == 0 ? 20_000 : 300)) + 1
        let byte = random.next() % 4 == 0 ? 0 : UInt8(random.next() % 256)
        let bytes = [UInt8](repeating: byte, count: count)
        try bytes.withUnsafeBytes { try file.writeFully($0, at: Int64(offset)) }
        if model.count < offset + count {
          model += [UInt8](repeating: 0, count: offset + count - model.count)
        }
        model.replaceSubrange(offset..<offset + count, with: bytes)
      case 7:
        let size = Int(random.next() % UInt64(model.count + 3000))
        try file.truncate(to: Int64(size))
        model =
          size <= model.count
          ? Array(model.prefix(size)) : model + [UInt8](repeating: 0, count: size - model.count)
      case 8...9: try file.sync(.data)
      case 10:
        try file.close()
        directory = try files.openDirectory("/folder")
        file = try directory.open(name, .readWrite)
      default:
        let offset = Int(random.next() % UInt64(model.count + 1))
        var bytes = [UInt8](repeating: 1, count: Int(random.next() % 9000) + 1)
        let count = try bytes.withUnsafeMutableBytes { try file.readFully(into: $0, at: Int64(offset)) }
        #expect(Array(bytes.prefix(count)) == Array(model[offset..<min(model.count, offset + bytes.count)]))
      }
      #expect(try file.size() == Int64(model.count))
      #expect(try file.status().map(\.size) ?? Int64(model.count) == Int64(model.count))
    }
    try file.close()
    if !model.isEmpty || name != "letters.json" { #expect(try directory.bytes(of: name) == model) }
  }

  @Test func `names of files of keys are not those of other files`() throws {
    let disk = SimulatedFileSystem()
    let files = EncryptedFileSystem(over: disk, key: .test)
    try files.createDirectory("/folder")
    let directory = try files.openDirectory("/folder")
    try directory.open("0000000000000001.log", .createNew).close()
    #expect(try directory.entries() == ["0000000000000001.log"])
    #expect(try disk.openDirectory("/folder").entries() == ["0000000000000001.log", "keys"])
    #expect(fileCode { _ = try directory.open("keys", .readOnly) } == .unsupported)
    #expect(fileCode { try directory.rename("0000000000000001.log", to: "keys") } == .unsupported)
  }

  @Test func `a file of the store does not become another file, nor the plain one`() throws {
    let files = EncryptedFileSystem(over: SimulatedFileSystem(), key: .test)
    try files.createDirectory("/folder")
    let directory = try files.openDirectory("/folder")
    try directory.open("letters.temporary", .createNew).close()
    #expect(fileCode { try directory.rename("letters.temporary", to: "anchor") } == .unsupported)
    #expect(fileCode { try directory.rename("letters.temporary", to: "processes") } == .unsupported)
    try directory.rename("letters.temporary", to: "letters")
    let shared = try directory.open("processes", .createNew)
    let long = [UInt8](repeating: 1, count: 4097)
    #expect(fileCode { try long.withUnsafeBytes { try shared.writeFully($0, at: 0) } } == .unsupported)
  }

  @Test func `bytes of the file are those that were sealed, and nowhere plain`() throws {
    let disk = SimulatedFileSystem()
    let files = EncryptedFileSystem(over: disk, key: .test)
    let text = Array(String(repeating: "a secret ", count: 2000).utf8)
    try files.openDirectory("/").put("letters", text)
    let sealed = try disk.openDirectory("/").bytes(of: "letters")
    #expect(sealed.count > text.count && sealed.count < text.count + 256 + 64 * 6)
    #expect(!contains(sealed, Array("secret".utf8)))
    #expect(try files.openDirectory("/").bytes(of: "letters") == text)
  }

  @Test func `each change of a file that is written once is an error`() throws {
    let disk = SimulatedFileSystem()
    let files = EncryptedFileSystem(over: disk, key: .test)
    let text = (0..<9000).map { UInt8($0 % 251) }
    try files.openDirectory("/").put("letters", text)
    let directory = try disk.openDirectory("/")
    let sealed = try directory.bytes(of: "letters")
    for offset in stride(from: 0, to: sealed.count, by: 37) {
      var changed = sealed
      changed[offset] ^= 1
      try directory.put("letters", changed)
      #expect(throws: FileSystemError.self) { _ = try files.openDirectory("/").bytes(of: "letters") }
    }
    // The first four bytes of a length are reserved bits of the header: a change of any is covered by its checksum.
    for length in stride(from: 1, to: sealed.count, by: 61) {
      try directory.put("letters", Array(sealed.prefix(length)))
      #expect(throws: FileSystemError.self) { _ = try files.openDirectory("/").bytes(of: "letters") }
    }
    try directory.put("letters", sealed + [UInt8](repeating: 0, count: 64 + 10))
    #expect(throws: FileSystemError.self) { _ = try files.openDirectory("/").bytes(of: "letters") }
    // A block without those before it, and the blocks of another file.
    try directory.put("letters", sealed)
    try files.openDirectory("/").put("others", text)
    let others = try directory.bytes(of: "others")
    let firstBlock = 256..<256 + 4160
    try directory.overwrite("letters", at: 256, Array(others[firstBlock]))
    #expect(fileCode { _ = try files.openDirectory("/").bytes(of: "letters") } == .notAuthentic)
    try directory.overwrite(
      "letters", at: 256, Array(sealed[firstBlock.upperBound..<firstBlock.upperBound + 4160]))
    #expect(fileCode { _ = try files.openDirectory("/").bytes(of: "letters") } == .notAuthentic)
  }

  @Test func `a wrong key is a wrong key`() throws {
    let disk = SimulatedFileSystem()
    try EncryptedFileSystem(over: disk, key: .test).openDirectory("/").put("letters", [1, 2, 3])
    for key in [Keys.wrong, MasterKey(password: "x", cost: Keys.cheap)] {
      let directory = try EncryptedFileSystem(over: disk, key: key).openDirectory("/")
      #expect(fileCode { _ = try directory.open("letters", .readOnly) } == .wrongKey)
    }
    try disk.openDirectory("/").put("plain", [1, 2, 3])
    #expect(
      fileCode {
        _ = try EncryptedFileSystem(over: disk, key: .test).openDirectory("/").open("plain", .readOnly)
      } == .notEncrypted)
  }

  @Test func `a file that was sealed for a password opens with the password`() throws {
    let disk = SimulatedFileSystem()
    func files(_ password: String, _ cost: MasterKey.PasswordCost = Keys.cheap) -> EncryptedFileSystem {
      EncryptedFileSystem(over: disk, key: MasterKey(password: password, cost: cost))
    }
    try files("open sesame").openDirectory("/").put("letters", [1, 2, 3])
    // The cost of a derivation is written in the file.
    let other = MasterKey.PasswordCost(rounds: 5, blockSize: 2)
    #expect(try files("open sesame", other).openDirectory("/").bytes(of: "letters") == [1, 2, 3])
    #expect(fileCode { _ = try files("open barley").openDirectory("/").bytes(of: "letters") } == .wrongKey)
    #expect(fileCode { _ = try files("").openDirectory("/").bytes(of: "letters") } == .wrongKey)
  }

  @Test func `a key that a function does not return is an error of the opening`() throws {
    struct Refused: Error {}
    let key = MasterKey(provider: { throw Refused() })
    let files = EncryptedFileSystem(over: SimulatedFileSystem(), key: key)
    let directory = try files.openDirectory("/")
    let error = #expect(throws: FileSystemError.self) { try directory.put("letters", [1]) }
    #expect(error?.code.rawValue.contains("Refused") == true)
    let short = EncryptedFileSystem(over: SimulatedFileSystem(), key: MasterKey(bytes: [1, 2, 3]))
    #expect(throws: FileSystemError.self) { try short.openDirectory("/").put("letters", [1]) }
  }
}

func contains(_ bytes: some Collection<UInt8>, _ part: [UInt8]) -> Bool {
  Data(bytes).range(of: Data(part)) != nil
}
