@testable import HeartwoodCommand

/// Keeps what a command writes, for tests to read.
final class RecordingConsole: Console {
  var showsProgress = false
  var cutsLongCells = false
  private(set) var output = ""
  private(set) var notes = ""

  func write(_ text: String) { output += text }
  func writeNote(_ text: String) { notes += text }
}

/// What became of one run of the command.
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
