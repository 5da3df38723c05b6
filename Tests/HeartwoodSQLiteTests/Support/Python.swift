import Foundation
import TestSupport
import Testing

/// Runs Python, whose module `sqlite3` is SQLite itself: what this module's results are compared with.
enum Python {
  /// Whether `python3` is here, with `sqlite3`.
  static let isAvailable: Bool = {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", "import sqlite3"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  /// A process that runs a script after the functions of `PythonScripts.common`, in a folder.
  static func process(_ script: String, _ words: [String], in folder: URL) throws -> Process {
    let file = folder.appending(path: "script-\(UUID().uuidString).py")
    try Data((PythonScripts.common + "\n" + script).utf8).write(to: file)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", file.path] + words
    process.currentDirectoryURL = folder
    return process
  }

  /// Runs a script to its end.
  static func run(_ script: String, _ words: String..., in folder: URL) throws {
    let process = try process(script, words, in: folder)
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "python3 ended with \(process.terminationStatus): \(words)")
    }
  }

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }
}

extension Trait where Self == ConditionTrait {
  /// The test compares with SQLite; it is passed over where that is not installed.
  static var comparesWithSQLite: Self {
    .enabled(if: Python.isAvailable, "python3 with its module sqlite3 is needed to compare with")
  }
}
