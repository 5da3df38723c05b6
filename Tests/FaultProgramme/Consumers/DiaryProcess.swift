import Foundation

/// A process of a diary, seen from the run that kills it.
final class DiaryProcess {
  let role: DiaryRole
  private let process = Process()
  private let output = Pipe()
  private var buffer = LineBuffer()

  init(_ program: URL, _ places: DiaryPlaces, _ role: DiaryRole, life: Int) throws {
    self.role = role
    process.executableURL = program
    process.arguments = [DiaryChild.command, places.folder, role.rawValue, "\(life)"]
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    process.standardOutput = output
    try KilledProcess.inheritance.withLock { try process.run() }
  }

  /// Waits until the process has printed some lines.
  ///
  /// - Returns: The lines, more than asked for if they are there.
  func lines(_ count: Int) throws -> [String] {
    var lines: [String] = []
    while lines.count < count {
      let more = output.fileHandleForReading.availableData
      try require(!more.isEmpty, "a \(role.rawValue) has ended by itself")
      lines += buffer.add(more)
    }
    return lines
  }

  /// Kills the process.
  ///
  /// - Returns: The lines that it has printed since.
  func kill() -> [String] {
    Foundation.kill(process.processIdentifier, SIGKILL)
    let lines = buffer.add(output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return lines
  }
}
