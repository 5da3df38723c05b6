import Foundation
import HeartwoodEncryption
import HeartwoodEngine
import HeartwoodFiles

/// The command-line tool `heartwood-encrypted`.
@main
struct Command {
  static let help = """
    heartwood-encrypted SUBCOMMAND STORE ... --key-file FILE

      encrypt STORE TARGET     Copies a plain store to a folder that is missing or empty, encrypted.
      decrypt STORE TARGET     Copies an encrypted store, plain.
      backup STORE TARGET      Copies an encrypted store, encrypted; a later backup copies what is new.
      verify STORE             Reads and checks everything in the store.
      change-key STORE         Makes --new-key-file the key of the store. Rewrites one block.
      rekey STORE              Seals everything again, with new keys for the same key file.

      --key-file FILE          The key: a file of 32 random bytes or more (head -c 32 /dev/random > FILE).
      --password-file FILE     A password instead, the first line of the file.
      --new-key-file FILE      For change-key; or --new-password-file FILE.

    A STORE is the folder of a store. Exit status: 0, 1 after findings of verify, 64 for a wrong command line, 74 for
    all other errors.

    """

  static func main() {
    do {
      exit(try run(Array(CommandLine.arguments.dropFirst())))
    } catch let error as Usage {
      write("heartwood-encrypted: \(error.text); see --help\n", to: .standardError)
      exit(64)
    } catch {
      write("heartwood-encrypted: \(error)\n", to: .standardError)
      exit(74)
    }
  }

  /// Executes a command line; returns the exit status.
  static func run(_ words: [String]) throws -> Int32 {
    guard !words.contains("--help"), !words.contains("-h") else {
      write(help, to: .standardOutput)
      return 0
    }
    let line = try Line(words)
    guard let subcommand = line.places.first else { throw Usage(text: "there is no subcommand") }
    let stores = Array(line.places.dropFirst())
    let needed = ["encrypt", "decrypt", "backup"].contains(subcommand) ? 2 : 1
    guard stores.count == needed else {
      throw Usage(text: "\(subcommand) takes \(needed == 2 ? "two folders" : "one folder")")
    }
    let files = EncryptedFileSystem(key: try line.key("--"))
    switch subcommand {
    case "encrypt": try copy(stores[0], PosixFileSystem(), to: stores[1], files)
    case "decrypt": try copy(stores[0], files, to: stores[1], PosixFileSystem())
    case "backup": try copy(stores[0], files, to: stores[1], files)
    case "verify": return try verify(stores[0], files)
    case "change-key": try files.changeKey(ofStoreAt: stores[0], to: line.key("--new-"))
    case "rekey": try files.rekeyStore(at: stores[0])
    default: throw Usage(text: "there is no subcommand \(subcommand)")
    }
    return 0
  }

  private static func copy(
    _ store: String, _ files: any FileSystem, to target: String, _ others: any FileSystem
  ) throws {
    let engine = try open(store, files)
    defer { try? engine.close() }
    let report = try engine.backup(to: target, fileSystem: others)
    write("\(report.copiedBytes) bytes were written to \(target)\n", to: .standardOutput)
  }

  private static func verify(_ store: String, _ files: any FileSystem) throws -> Int32 {
    let engine = try open(store, files)
    defer { try? engine.close() }
    let report = try engine.verify()
    for finding in report.findings { write("\(finding)\n", to: .standardOutput) }
    write("\(report.keys) keys, \(report.findings.count) findings\n", to: .standardOutput)
    return report.findings.isEmpty ? 0 : 1
  }

  private static func open(_ store: String, _ files: any FileSystem) throws -> Engine {
    try Engine(at: store, options: EngineOptions(access: .readOnly), fileSystem: files)
  }

  private static func write(_ text: String, to file: FileHandle) {
    try? file.write(contentsOf: Data(text.utf8))
  }
}

/// A command line that cannot be executed.
struct Usage: Error {
  var text: String
}

/// The words of a command line: places, and options with values.
struct Line {
  private(set) var places: [String] = []
  private var options: [String: String] = [:]

  init(_ words: [String]) throws {
    let known = ["--key-file", "--password-file", "--new-key-file", "--new-password-file"]
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else {
        places.append(word)
        continue
      }
      guard known.contains(word) else { throw Usage(text: "there is no option \(word)") }
      guard let value = rest.popFirst() else { throw Usage(text: "\(word) needs a file") }
      options[word] = value
    }
  }

  /// The key of the options with a prefix.
  func key(_ prefix: String) throws -> MasterKey {
    switch (options["\(prefix)key-file"], options["\(prefix)password-file"]) {
    case (let file?, nil): return MasterKey(bytes: try bytes(file))
    case (nil, let file?):
      let line = try bytes(file).prefix { $0 != 0x0A && $0 != 0x0D }
      guard let password = String(bytes: line, encoding: .utf8), !password.isEmpty else {
        throw Usage(text: "\(file) has no password in its first line")
      }
      return MasterKey(password: password)
    default: throw Usage(text: "give \(prefix)key-file or \(prefix)password-file")
    }
  }

  private func bytes(_ file: String) throws -> [UInt8] {
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    guard !bytes.isEmpty else { throw Usage(text: "\(file) is empty") }
    return bytes
  }
}
