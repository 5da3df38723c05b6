import Foundation

/// Programs of the system.
enum Tool {
  /// Runs one and returns what it printed.
  ///
  /// - Throws: `Failure` with its messages where it ends with anything but 0.
  @discardableResult
  static func run(_ words: String...) throws -> String { try run(words) }

  /// Runs one and returns what it printed.
  @discardableResult
  static func run(_ words: [String]) throws -> String {
    let result = try end(of: words)
    guard result.status == 0 else {
      throw Failure("\(words.joined(separator: " ")) ended with \(result.status): \(result.output)")
    }
    return result.output
  }

  /// Runs one to its end, whatever that is; a signal counts as the negative of its number.
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
