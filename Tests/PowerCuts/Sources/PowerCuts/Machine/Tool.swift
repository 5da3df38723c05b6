import Foundation

/// Programs of the system.
enum Tool {
  /// Runs a program and returns its output.
  ///
  /// - Throws: `Failure` with its messages if its exit status is not 0.
  @discardableResult
  static func run(_ words: String...) throws -> String { try run(words) }

  /// Runs a program and returns its output.
  @discardableResult
  static func run(_ words: [String]) throws -> String {
    let result = try end(of: words)
    guard result.status == 0 else {
      throw Failure("\(words.joined(separator: " ")) ended with \(result.status): \(result.output)")
    }
    return result.output
  }

  /// Runs a program and returns its exit status; the negative signal number if a signal ended it.
  static func end(of words: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    let pipe = Pipe()
    (process.standardOutput, process.standardError) = (pipe, pipe)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let hasExited = process.terminationReason == .exit
    return (hasExited ? process.terminationStatus : -process.terminationStatus, output)
  }
}
