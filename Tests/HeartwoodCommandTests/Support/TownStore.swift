import Foundation
import HeartwoodEngine
import TestSupport

@testable import HeartwoodCommand

/// A few keys in a store of one test, in two generations.
struct TownStore {
  let directory: TemporaryFolder
  let path: String

  init() throws {
    directory = try TemporaryFolder()
    path = directory.path("towns.store")
    let engine = try Engine(at: path)
    try engine.write { transaction in
      for (name, people) in [("city/lyon", "520774"), ("city/nice", "348085"), ("sea", ""), ("tab", "a\tb")] {
        try transaction.put(name, Array(people.utf8))
      }
    }
    try engine.write { transaction in
      try transaction.put("city/lyon", Array("522250".utf8))
      try transaction.put([0, 0xFF], Array("å\\".utf8))
    }
    try engine.close()
  }

  /// Runs `kv` with a subcommand on the store.
  func kv(_ subcommand: String, _ words: String...) -> CommandRun {
    CommandRun(["kv", subcommand, path] + words)
  }

  /// All keys and values of the newest generation.
  func contents(of path: String? = nil) throws -> [[UInt8]: [UInt8]] {
    let engine = try Engine(at: path ?? self.path, options: EngineOptions(access: .readOnly))
    var found: [[UInt8]: [UInt8]] = [:]
    try engine.snapshot().scan { key, value in
      found[Array(key)] = Array(value)
      return true
    }
    try engine.close()
    return found
  }
}
