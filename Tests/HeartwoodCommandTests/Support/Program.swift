import Foundation
import TestSupport

/// Runs the command in its own process, as users do.
struct Program {
  let status: Int32
  let output: String
  let notes: String

  /// Runs `heartwood` with `words` and with `input` on its standard input.
  static func run(_ words: String..., input: String = "") throws -> Program {
    try Program(executable, words, input)
  }

  /// Runs a shell command line, in which `$heartwood` is the command.
  static func shell(_ line: String) throws -> Program {
    try Program(URL(fileURLWithPath: "/bin/sh"), ["-c", line], "")
  }

  private init(_ executable: URL, _ words: [String], _ input: String) throws {
    let process = Process()
    process.executableURL = executable
    process.arguments = words
    process.environment = ["heartwood": Program.executable.path]
    let folder = try TemporaryFolder()
    // Files, as a full pipe without a reader blocks its writer.
    process.standardInput = try FileHandle(
      forReadingFrom: URL(fileURLWithPath: folder.file("input", input)))
    let outputURL = URL(fileURLWithPath: try folder.file("output", ""))
    let notesURL = URL(fileURLWithPath: try folder.file("notes", ""))
    process.standardOutput = try FileHandle(forWritingTo: outputURL)
    process.standardError = try FileHandle(forWritingTo: notesURL)
    try process.run()
    process.waitUntilExit()
    status = process.terminationStatus
    output = try String(contentsOf: outputURL, encoding: .utf8)
    notes = try String(contentsOf: notesURL, encoding: .utf8)
  }

  /// The command is built in the same folder as the tests.
  static var executable: URL {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    return (bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
      .appending(path: "heartwood")
  }
}
