@testable import HeartwoodCommand

/// Keeps the output of a command for tests.
final class RecordingConsole: Console {
  var showsProgress = false
  var terminalWidth: Int?
  var usesColors = false
  private(set) var bytes: [UInt8] = []
  private(set) var notes = ""

  /// The output as text.
  var output: String { String(decoding: bytes, as: UTF8.self) }

  func write(_ bytes: [UInt8]) { self.bytes += bytes }
  func writeNote(_ text: String) { notes += text }
}

/// The outcome of one run of the command.
struct CommandRun: Equatable {
  let status: ExitCode
  let output: String
  let notes: String

  init(_ words: String...) {
    self.init(words)
  }

  init(_ words: [String]) {
    let console = RecordingConsole()
    status = Command.run(words, console: console)
    output = console.output
    notes = console.notes
  }
}
