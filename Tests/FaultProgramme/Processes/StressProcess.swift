import Foundation
import HeartwoodFiles

/// A child process of a stress test, seen from the parent: its acknowledgements and its end.
final class StressProcess: @unchecked Sendable {
  let name: String
  let role: StressChild.Role
  private let scenario: StressScenario
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let acknowledgements: Acknowledgements
  private let end = DispatchSemaphore(value: 0)

  init(
    _ program: URL, _ path: String, _ name: String, _ role: StressChild.Role, _ scenario: StressScenario,
    _ acknowledgements: Acknowledgements
  ) throws {
    self.name = name
    self.role = role
    self.scenario = scenario
    self.acknowledgements = acknowledgements
    process.executableURL = program
    process.arguments = [StressChild.command, path, name, role.rawValue] + ["\(scenario)"]
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardInput = input
    process.standardOutput = output
    acknowledgements.begin(StressChild.threads(of: name, role, scenario))
    try KilledProcess.inheritance.withLock { try process.run() }
    Thread.detachNewThread { [self] in
      var lines = LineBuffer()
      while true {
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { break }
        for line in lines.add(data) { acknowledgements.take(line) }
      }
      acknowledgements.wake()
      end.signal()
    }
  }

  /// Whether the process still runs.
  var isRunning: Bool { process.isRunning }

  /// Suspends the process for a moment, at an arbitrary point.
  func stop(microseconds: UInt32) {
    Foundation.kill(process.processIdentifier, SIGSTOP)
    usleep(microseconds)
    Foundation.kill(process.processIdentifier, SIGCONT)
  }

  /// Kills the process and waits until all its output is read.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    end.wait()
    process.waitUntilExit()
  }

  /// Asks the process to end and waits for it.
  ///
  /// - Throws: A finding if it ends in another way.
  func finish() throws {
    try? input.fileHandleForWriting.close()
    end.wait()
    process.waitUntilExit()
    try require(
      process.terminationReason == .exit && process.terminationStatus == 0,
      "process \(name) has ended with \(process.terminationReason == .exit ? "exit" : "signal") "
        + "\(process.terminationStatus)")
  }
}

/// Splits output into lines. A line that was truncated by a kill is dropped.
struct LineBuffer {
  private var rest = Data()

  mutating func add(_ data: Data) -> [String] {
    rest += data
    var lines: [String] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(String(decoding: rest[..<end], as: UTF8.self))
      rest = Data(rest[(end + 1)...])
    }
    return lines
  }
}
