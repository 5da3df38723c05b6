import Foundation
import HeartwoodEngine
import Testing

@testable import KillVictim

@Suite struct `A process that is killed` {
  @Test func `loses nothing that it was told is durable, killed 50 times`() throws {
    let seed: UInt64 = 4711
    let folder = FileManager.default.temporaryDirectory.appending(path: "kill-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let store = folder.appending(path: "store").path
    let workload = KillWorkload(seed: seed)
    var state = seed
    var acknowledged: UInt64 = 0

    for round in 1...50 {
      let wanted = acknowledged + Self.below(40, &state)
      acknowledged = try runVictim(store, seed: seed, until: wanted, after: acknowledged)
      let found = try check(store, workload, round: round)
      #expect(found >= acknowledged, "round \(round): \(acknowledged) acknowledged, \(found) found")
      acknowledged = found
    }
  }

  private static func below(_ limit: UInt64, _ state: inout UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % limit
  }

  /// Starts a victim, reads acknowledgements up to `wanted`, kills it, and returns the last that it gave.
  private func runVictim(_ store: String, seed: UInt64, until wanted: UInt64, after: UInt64) throws -> UInt64
  {
    let process = Process()
    process.executableURL = victimURL
    process.arguments = [store, "\(seed)"]
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    var text = Data()
    var last = after
    while last < wanted {
      let more = pipe.fileHandleForReading.availableData
      try #require(!more.isEmpty, "the victim ended by itself")
      text.append(more)
      last = lastNumber(in: text) ?? last
    }
    kill(process.processIdentifier, SIGKILL)
    // What it had written before it died counts as acknowledged.
    text.append(pipe.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return lastNumber(in: text) ?? last
  }

  /// The number on the last whole line.
  private func lastNumber(in text: Data) -> UInt64? {
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.dropLast().last.flatMap { UInt64($0) }
  }

  /// Opens the store and compares all of it with what its last transaction says.
  private func check(_ store: String, _ workload: KillWorkload, round: Int) throws -> UInt64 {
    let engine = try Engine(at: store)
    defer { try? engine.close() }
    var content: [[UInt8]: [UInt8]] = [:]
    try engine.read { snapshot in
      try snapshot.scan { key, value in
        content[Array(key)] = Array(value)
        return true
      }
    }
    let last = content[KillWorkload.counterKey].flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0
    #expect(content == workload.state(after: last), "round \(round), transaction \(last)")
    let report = try engine.verify()
    #expect(report.findings.isEmpty, "round \(round)")
    return last
  }

  private var victimURL: URL {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "KillVictim")
  }
}
