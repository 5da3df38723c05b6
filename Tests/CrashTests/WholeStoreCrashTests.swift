import HeartwoodEngine
import HeartwoodFaults
import HeartwoodFiles
import Testing

@testable import FaultProgramme

/// Removal and replacement of whole stores, with a crash before each of their calls.
@Suite struct `Whole stores and crashes` {
  private static let (path, source, temporary) = ("/store", "/source", "/temporary")
  private static var explorer: CrashExplorer { CrashExplorer(seed: 3, limits: .prefixesOnly) }

  @Test func `after a crash in a removal the store is there, or a new one can be made`() throws {
    let report = try Self.explorer.run(acknowledging: Int.self) { fileSystem in
      try Self.make(Self.path, 1, fileSystem)
    } workload: { fileSystem, acknowledge in
      try Engine.destroy(at: Self.path, fileSystem: fileSystem)
      acknowledge(1)
    } verify: { fileSystem, acknowledged in
      let found = try Self.contents(of: Self.path, creating: true, fileSystem)
      guard found == nil || found == 1 && acknowledged.isEmpty else { throw WrongContents(found: found) }
    }
    try report.check()
    #expect(report.calls > 5)
  }

  @Test func `a removal that a crash has cut short is finished by the next`() throws {
    let report = try Self.explorer.run(acknowledging: Int.self) { fileSystem in
      try Self.make(Self.path, 1, fileSystem)
    } workload: { fileSystem, _ in
      try Engine.destroy(at: Self.path, fileSystem: fileSystem)
    } verify: { fileSystem, _ in
      try Engine.destroy(at: Self.path, fileSystem: fileSystem)
      let rest = try fileSystem.openDirectory(Self.path).entries()
      guard Set(rest).isSubset(of: ["lock", "processes"]) else { throw WrongContents(names: rest) }
    }
    try report.check()
  }

  @Test(arguments: [nil, 0, 1])
  func `after a crash in a replacement there is the former store or the whole copy`(former: UInt8?) throws {
    let report = try Self.explorer.run(acknowledging: Int.self) { fileSystem in
      try Self.make(Self.source, 2, fileSystem)
      switch former {
      case nil: break
      case 0?: try fileSystem.createDirectory(Self.path)
      case let value?: try Self.make(Self.path, value, fileSystem)
      }
    } workload: { fileSystem, acknowledge in
      let engine = try Engine(at: Self.source, options: Self.options(3), fileSystem: fileSystem)
      _ = try engine.replaceStore(at: Self.path, through: Self.temporary, fileSystem: fileSystem)
      acknowledge(1)
      try engine.close()
    } verify: { fileSystem, acknowledged in
      let found = try Self.contents(of: Self.path, creating: former != 1, fileSystem)
      let before = former == 1 ? former : nil
      guard found == 2 || found == before && acknowledged.isEmpty else { throw WrongContents(found: found) }
    }
    try report.check()
    #expect(report.calls > 20)
  }

  @Test func `a store is copied to what a crash in the making of another has left`() throws {
    let report = try Self.explorer.run(acknowledging: Int.self) { fileSystem in
      try Self.make(Self.source, 2, fileSystem)
    } workload: { fileSystem, _ in
      try Engine(at: Self.path, options: Self.options(1), fileSystem: fileSystem).close()
    } verify: { fileSystem, _ in
      let engine = try Engine(at: Self.source, options: Self.options(3), fileSystem: fileSystem)
      _ = try engine.replaceStore(at: Self.path, through: Self.temporary, fileSystem: fileSystem)
      try engine.close()
      let found = try Self.contents(of: Self.path, creating: false, fileSystem)
      guard found == 2 else { throw WrongContents(found: found) }
    }
    try report.check()
    #expect(report.calls > 5)
  }

  private static func options(_ seed: UInt8) -> EngineOptions {
    var options = Session.options
    options.entropy = SeededEntropy(seed: UInt64(seed))
    return options
  }

  private static func make(_ path: String, _ value: UInt8, _ fileSystem: any FileSystem) throws {
    let engine = try Engine(at: path, options: options(value), fileSystem: fileSystem)
    try engine.write { transaction in
      for key in 0..<200 { try transaction.put("key \(key)", [UInt8](repeating: value, count: 100)) }
    }
    try engine.checkpoint()
    try engine.close()
  }

  /// The value of all keys; nil if the store has none, as one that was just made.
  private static func contents(
    of path: String, creating: Bool, _ fileSystem: any FileSystem
  ) throws -> UInt8? {
    var options = options(4)
    options.createsStore = creating
    let engine = try Engine(at: path, options: options, fileSystem: fileSystem)
    defer { try? engine.close() }
    let snapshot = try engine.snapshot()
    guard let first = try snapshot.get("key 0")?.first else { return nil }
    for key in 0..<200 where try snapshot.get("key \(key)") != [UInt8](repeating: first, count: 100) {
      throw WrongContents(found: first)
    }
    return first
  }

  private struct WrongContents: Error {
    var found: UInt8?
    var names: [String] = []
  }
}
