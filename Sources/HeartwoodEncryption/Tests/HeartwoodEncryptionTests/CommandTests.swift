import Foundation
import HeartwoodEncryption
import HeartwoodEngine
import HeartwoodFiles
import Testing

/// `heartwood-encrypted` as a process.
@Suite struct CommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: path("key")))
    try Data(repeating: 8, count: 32).write(to: URL(fileURLWithPath: path("other")))
    try Data("secret\n".utf8).write(to: URL(fileURLWithPath: path("password")))
  }

  private func path(_ name: String) -> String { folder.path + "/" + name }

  private struct Outcome {
    var status: Int32
    var output: String
    var errors: String
  }

  /// Executes the command; names of stores and files are of the folder.
  @discardableResult
  private func run(_ words: String...) throws -> Outcome { try run(words) }

  private func run(_ words: [String]) throws -> Outcome {
    let process = Process()
    process.executableURL = Self.command
    process.arguments = words.map { $0.hasPrefix("/") ? path(String($0.dropFirst())) : $0 }
    let (output, errors) = (Pipe(), Pipe())
    (process.standardOutput, process.standardError) = (output, errors)
    try process.run()
    let texts = [output, errors].map {
      String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
    process.waitUntilExit()
    return Outcome(status: process.terminationStatus, output: texts[0], errors: texts[1])
  }

  /// Beside the bundle of the tests.
  private static let command = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appendingPathComponent("heartwood-encrypted")

  /// A plain store with one long value and a hundred short ones.
  private func makePlain() throws -> [[UInt8]: [UInt8]] {
    let engine = try Engine(at: path("plain"), options: smallOptions())
    try engine.write { transaction in
      try transaction.put("MARKED", [UInt8](repeating: 1, count: 50_000))
      for number in 0..<100 { try transaction.put("key \(number)", Array("MARKED \(number)".utf8)) }
    }
    let rows = try contents(engine)
    try engine.close()
    return rows
  }

  private func rows(_ name: String, _ files: any FileSystem = PosixFileSystem()) throws -> [[UInt8]: [UInt8]]
  {
    let engine = try Engine(at: path(name), options: EngineOptions(access: .readOnly), fileSystem: files)
    defer { try? engine.close() }
    return try contents(engine)
  }

  @Test func `a store is encrypted, verified, backed up and decrypted`() throws {
    let expected = try makePlain()
    #expect(try run("encrypt", "/plain", "/sealed", "--key-file", "/key").status == 0)
    for (name, bytes) in try folder.files("/sealed") {
      #expect(!contains(bytes, Array("MARKED".utf8)), "\(name)")
    }
    let verified = try run("verify", "/sealed", "--key-file", "/key")
    #expect(verified.status == 0 && verified.output == "101 keys, 0 findings\n", "\(verified)")
    #expect(try run("backup", "/sealed", "/copy", "--key-file", "/key").status == 0)
    #expect(try rows("copy", EncryptedFileSystem(key: .test)) == expected)
    #expect(try run("decrypt", "/copy", "/opened", "--key-file", "/key").status == 0)
    #expect(try rows("opened") == expected)
  }

  @Test func `the key is changed, and everything sealed again`() throws {
    let expected = try makePlain()
    try run("encrypt", "/plain", "/sealed", "--key-file", "/key")
    #expect(
      try run("change-key", "/sealed", "--key-file", "/key", "--new-key-file", "/other").status == 0)
    let refused = try run("verify", "/sealed", "--key-file", "/key")
    #expect(refused.status == 74 && refused.errors.contains("key"), "\(refused)")
    let before = try folder.files("/sealed")
    #expect(try run("rekey", "/sealed", "--key-file", "/other").status == 0)
    let after = try folder.files("/sealed")
    for (name, bytes) in before where name.hasSuffix(".log") { #expect(after[name] != bytes, "\(name)") }
    #expect(try run("verify", "/sealed", "--key-file", "/other").status == 0)
    #expect(try rows("sealed", EncryptedFileSystem(key: Keys.wrong)) == expected)
  }

  @Test func `a password is the first line of a file`() throws {
    let expected = try makePlain()
    #expect(try run("encrypt", "/plain", "/sealed", "--password-file", "/password").status == 0)
    #expect(try run("decrypt", "/sealed", "/opened", "--password-file", "/password").status == 0)
    #expect(try rows("opened") == expected)
    #expect(try run("verify", "/sealed", "--key-file", "/key").status == 74)
  }

  @Test func `a changed block is reported`() throws {
    _ = try makePlain()
    try run("encrypt", "/plain", "/sealed", "--key-file", "/key")
    let log = try #require(try folder.files("/sealed").first { $0.key.hasSuffix(".log") })
    var bytes = log.value
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path("sealed/" + log.key)))
    let outcome = try run("verify", "/sealed", "--key-file", "/key")
    #expect(outcome.status == 1 || outcome.status == 74, "\(outcome)")
    #expect((outcome.output + outcome.errors).contains(log.key), "\(outcome)")
  }

  @Test(arguments: [
    [], ["encrypt", "/plain", "--key-file", "/key"], ["verify", "/plain"],
    ["wipe", "/plain", "--key-file", "/key"],
    ["verify", "/plain", "--key-file"], ["verify", "/plain", "--colour"],
    ["verify", "/plain", "--key-file", "/key", "--password-file", "/password"],
  ])
  func `a wrong command line is status 64, and says where the help is`(words: [String]) throws {
    let outcome = try run(words)
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("see --help"), "\(outcome)")
  }

  @Test func `the help names every subcommand`() throws {
    let outcome = try run("--help")
    #expect(outcome.status == 0)
    for subcommand in ["encrypt", "decrypt", "backup", "verify", "change-key", "rekey"] {
      #expect(outcome.output.contains("\n  \(subcommand) "))
    }
  }

  @Test func `a file that is missing is status 74`() throws {
    #expect(try run("verify", "/none", "--key-file", "/key").status == 74)
    #expect(try run("verify", "/none", "--key-file", "/missing").status == 74)
  }
}
