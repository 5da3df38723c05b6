import Foundation
import HeartwoodArchives

/// The output of a command: results go to one stream, notes for the user to the other.
protocol Console: AnyObject {
  /// Whether notes go to a terminal, where progress is shown.
  var showsProgress: Bool { get }
  /// The columns of the terminal that results go to, to which tables are cut; nil if they go elsewhere.
  var terminalWidth: Int? { get }
  /// Whether results are shown with colours.
  var usesColors: Bool { get }
  func write(_ bytes: [UInt8]) throws(CommandFailure)
  func writeNote(_ text: String)
  /// Writes what is buffered.
  func flush() throws(CommandFailure)
}

extension Console {
  func flush() throws(CommandFailure) {}

  /// Whether very long values are cut.
  var cutsLongCells: Bool { terminalWidth != nil }

  func write(_ text: String) throws(CommandFailure) {
    try write(Array(text.utf8))
  }

  func writeLine(_ line: String = "") throws(CommandFailure) {
    try write(line + "\n")
  }

  /// Prints a note that a store was not closed, if it has transactions that are not recovered yet.
  func noteHidden(_ transactions: Int, in path: String) {
    guard transactions > 0 else { return }
    let last = transactions == 1 ? "its last transaction" : "its last \(transactions) transactions"
    writeNote(
      "heartwood: note: \(path) was not closed: \(last) will be seen when it is next opened for writing\n")
  }

  /// Prints notes of references that lead to no object of a store, and that were left out.
  ///
  /// - Parameter references: How many, by entity and relationship.
  func noteMissing(_ references: [String: Int], in path: String) {
    for (name, count) in references.sorted(by: { $0.key < $1.key }) {
      writeNote(
        "heartwood: note: \(path): \(Amount.text(count, "reference")) of \(name) to objects that are not there \(count == 1 ? "was" : "were") left out\n"
      )
    }
  }
}

/// Drops all output.
final class SilentConsole: Console {
  let showsProgress = false
  let terminalWidth: Int? = nil
  let usesColors = false

  func write(_ bytes: [UInt8]) {}
  func writeNote(_ text: String) {}
}

/// The standard output and standard error of the process.
final class StandardConsole: Console {
  let showsProgress = isatty(STDERR_FILENO) == 1
  let terminalWidth = TerminalSize.columns(of: STDOUT_FILENO)
  let usesColors =
    TerminalStyle.isWanted(by: ProcessInfo.processInfo.environment) && isatty(STDOUT_FILENO) == 1
  private var pending: [UInt8] = []

  func write(_ bytes: [UInt8]) throws(CommandFailure) {
    pending.append(contentsOf: bytes)
    if pending.count >= 1 << 16 { try flush() }
  }

  func flush() throws(CommandFailure) {
    guard !pending.isEmpty else { return }
    defer { pending.removeAll(keepingCapacity: true) }
    do {
      try FileHandle.standardOutput.write(contentsOf: pending)
    } catch {
      throw CommandFailure(.inputOutput, "can't write the result: \(DecodingText.text(of: error))")
    }
  }

  func writeNote(_ text: String) {
    // A failure to write to standard error can't be reported anywhere.
    try? FileHandle.standardError.write(contentsOf: Array(text.utf8))
  }
}

/// A progress line on the terminal that is overwritten by each update and erased at the end.
struct ProgressLine {
  private let console: any Console
  private let subcommand: String
  private let total: Int
  private let step: Int
  private var shown = ""

  init(_ subcommand: String, total: Int, unit step: Int = 500, on console: any Console) {
    self.console = console
    self.subcommand = subcommand
    self.total = total
    self.step = step
  }

  mutating func advance(to done: Int) {
    guard console.showsProgress, done % step == 0 || done == total else { return }
    show("\(subcommand) \(done) of \(total)")
  }

  mutating func show(_ text: String) {
    guard console.showsProgress, text != shown else { return }
    let padding = String(repeating: " ", count: max(0, shown.count - text.count))
    console.writeNote("\r" + text + padding)
    shown = text
  }

  mutating func finish() {
    guard console.showsProgress, !shown.isEmpty else { return }
    console.writeNote("\r" + String(repeating: " ", count: shown.count) + "\r")
    shown = ""
  }
}
