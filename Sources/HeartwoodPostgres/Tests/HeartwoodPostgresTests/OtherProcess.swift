import Foundation

/// A program of the package in a process of its own.
struct OtherProcess {
  let process = Process()
  private let output: FileHandle
  private let buffer = Buffer()

  private final class Buffer { var text = "" }

  /// - Parameter name: The program, which is beside the tests.
  init(_ name: String, _ words: [String]) throws {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let folder = (bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
    process.executableURL = folder.appending(path: name)
    process.arguments = words
    let pipe = Pipe()
    process.standardError = pipe
    process.standardOutput = pipe
    output = pipe.fileHandleForReading
    try process.run()
  }

  /// Reads what the program says until it has said a text. Returns whether it has.
  @discardableResult
  func readUntil(_ text: String) -> Bool {
    while !buffer.text.contains(text) {
      let data = output.availableData
      guard !data.isEmpty else { return false }
      buffer.text += String(decoding: data, as: UTF8.self)
    }
    return true
  }

  /// All that it has said so far.
  var said: String { buffer.text }

  func rest() -> String {
    let data = output.readDataToEndOfFile()
    return buffer.text + String(decoding: data, as: UTF8.self)
  }
}
