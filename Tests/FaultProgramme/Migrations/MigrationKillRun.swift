import Foundation
import HeartwoodFaults

/// Processes that are killed while they migrate a store on the real file system.
struct MigrationKillRun {
  private let way: MigrationWay
  private let seed: UInt64
  private let program: URL
  private let arguments: (URL) -> [String]

  /// A report on the work of the killed processes.
  struct Report: CustomStringConvertible {
    let way: MigrationWay
    let seed: UInt64
    var kills = 0
    /// How often the store was found in each state, from as it was to migrated.
    var found: [Int]
    /// How long a migration takes that is not killed.
    var microseconds = 0

    var description: String {
      "\(way.rawValue), seed \(seed): \(kills) kills in \(microseconds) µs each; found, from as it was to migrated: \(found)"
    }
  }

  /// - Parameters:
  ///   - program: The program that is run: of `command` the command, and otherwise this programme.
  ///   - arguments: The arguments for a store at a path.
  init(_ way: MigrationWay, seed: UInt64, program: URL, arguments: @escaping (URL) -> [String]) {
    self.way = way
    self.seed = seed
    self.program = program
    self.arguments = arguments
  }

  /// Kills this many processes, checks the store after each, and finishes the migration then, in one or several attempts.
  func run(kills: Int, items: Int) throws -> Report {
    let folder = FileManager.default.temporaryDirectory.appending(path: "migrations-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let template = folder.appending(path: "template")
    let states = try KilledProcess.inheritance.withLock {
      try MigratedBoxes.make(template, items: items)
      return try way.states(in: folder) { try FileManager.default.copyItem(at: template, to: $0) }
    }
    try require(Set(states).count == states.count, "the states do not differ")
    var report = Report(way: way, seed: seed, found: states.map { _ in 0 })
    // The first one is slow.
    for number in 0..<3 {
      let whole = folder.appending(path: "whole-\(number)")
      try FileManager.default.copyItem(at: template, to: whole)
      report.microseconds = number == 0 ? try measure(whole) : min(report.microseconds, try measure(whole))
    }
    var random = SplitMix64(seed: seed)
    while report.kills < kills {
      let home = folder.appending(path: "\(report.kills)")
      try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
      let url = home.appending(path: "store")
      try FileManager.default.copyItem(at: template, to: url)
      try killAndFinish(url, states, kills, &random, &report)
      try FileManager.default.removeItem(at: home)
    }
    return report
  }

  private func measure(_ url: URL) throws -> Int {
    let victim = try KilledMigration(program, arguments(url), waits: way != .command)
    let duration = try ContinuousClock().measure { try victim.waitUntilDone() }
    victim.kill()
    return Int(duration / .microseconds(1))
  }

  private func killAndFinish(
    _ url: URL, _ states: [[String]], _ kills: Int, _ random: inout SplitMix64, _ report: inout Report
  ) throws {
    var least = 0
    repeat {
      // A moment between the beginning and a little after the end.
      let victim = try KilledMigration(program, arguments(url), waits: way != .command)
      usleep(UInt32(random.below(report.microseconds * 11 / 10)))
      victim.kill()
      report.kills += 1
      // The version that the files state before they are recovered, and the facts and the version after.
      let (said, facts, has) = try KilledProcess.inheritance.withLock {
        (try MigratedBoxes.version(url), try MigratedBoxes.facts(url), try MigratedBoxes.version(url))
      }
      let death = "\(way.rawValue), seed \(seed), death \(report.kills)"
      try require(said == has, "\(death): the model of the store was said to be \(said), and is \(has)")
      guard let state = states.lastIndex(of: facts) else {
        let nearest = states.map { Set($0).symmetricDifference(facts) }.min { $0.count < $1.count } ?? []
        throw Finding("\(death): neither as before nor migrated: \(nearest.sorted().prefix(6))")
      }
      try require(state >= least, "\(death): state \(state) after state \(least)")
      least = state
      report.found[state] += 1
    } while random.below(3) == 0 && report.kills < kills
    try finish(url, states)
  }

  private func finish(_ url: URL, _ states: [[String]]) throws {
    let facts = try KilledProcess.inheritance.withLock {
      try way.migrate(url)
      return try MigratedBoxes.facts(url)
    }
    try require(
      facts == states.last, "death \(way.rawValue), seed \(seed): migrated again it has other objects")
    let left = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
    try require(left == ["store"], "seed \(seed): there is something left over, \(left)")
  }
}

/// One process that migrates, and is killed.
final class KilledMigration {
  private let process = Process()
  private let output = Pipe()
  private let waits: Bool

  /// Starts it, and returns when it begins to migrate, if it says so.
  init(_ program: URL, _ arguments: [String], waits: Bool) throws {
    self.waits = waits
    process.executableURL = program
    process.arguments = arguments
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    process.standardOutput = output
    try KilledProcess.inheritance.withLock { try process.run() }
    if waits { try read(until: "begins\n") }
  }

  private func read(until line: String) throws {
    var text = ""
    while !text.hasSuffix(line) {
      let more = output.fileHandleForReading.availableData
      try require(!more.isEmpty, "a migrating process ended by itself, after \"\(text)\"")
      text += String(decoding: more, as: UTF8.self)
    }
  }

  func waitUntilDone() throws {
    if waits { return try read(until: "done\n") }
    process.waitUntilExit()
    try require(process.terminationStatus == 0, "the command ended with \(process.terminationStatus)")
  }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
