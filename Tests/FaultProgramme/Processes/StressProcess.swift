import Foundation
import HeartwoodFiles

/// A process of a stress test as the one sees it that has started it: what it has acknowledged, and its end.
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

  /// It is not there any more, or about to go.
  var isRunning: Bool { process.isRunning }

  /// Holds it still for a moment, wherever it is.
  func stop(microseconds: UInt32) {
    Foundation.kill(process.processIdentifier, SIGSTOP)
    usleep(microseconds)
    Foundation.kill(process.processIdentifier, SIGCONT)
  }

  /// Kills it, and waits until all that it has said is known.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    end.wait()
    process.waitUntilExit()
  }

  /// Lets it finish what it does.
  ///
  /// - Throws: where it ends otherwise.
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

/// Puts lines together. One that a death has cut short is none.
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
