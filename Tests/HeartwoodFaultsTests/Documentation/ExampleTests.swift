import Foundation
import HeartwoodFaults
import HeartwoodFiles
import TestSupport
import Testing

/// Runs the examples of the documents.
@Suite struct `Examples of the kit's documents` {
  // MARK: The landing article

  @Test func `a plan is applied to a log`() throws {
    let plan: FaultPlan = [
      .fail(.write, file: "*.log", .nth(3), with: .noSpace, effect: .half),
      .sync(.failsKeepingData, file: "*.log"),
      .shorten(.read, .every(2), to: 10),
    ]
    try plan.run(over: SimulatedFileSystem()) { fileSystem in
      try keepALog(on: fileSystem)
    }
    #expect(throws: FaultPlan.UnusedFaults.self) { try plan.run(over: SimulatedFileSystem()) { _ in } }
  }

  private func keepALog(on fileSystem: any FileSystem) throws {
    let file = try fileSystem.openDirectory("/").open("1.log", .createNew)
    for number in 0..<3 { try? file.write([1, 2, 3, 4], at: Int64(number * 4)) }
    #expect(failure { try file.sync(.data) }?.isInjected == true)
    #expect(try file.bytes(14) == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2])
  }

  @Test func `a recording is compared with a text`() throws {
    let recording = RecordingFileSystem(base: MemoryFileSystem())
    let directory = try recording.openDirectory("/")
    let file = try directory.open("notes", .createNew)
    try file.sync(.full)
    try directory.sync()
    #expect(
      recording.text == """
        open /notes createNew
        sync /notes full
        syncDirectory /
        """)
  }

  // MARK: The program with the bug

  struct ScoreBoard {
    let directory: any Directory

    func save(_ scores: String) throws {
      try? directory.unlink("scores.new")
      let file = try directory.open("scores.new", .createNew)
      try Array(scores.utf8).withUnsafeBytes { try file.writeFully($0, at: 0) }
      try file.close()
      try directory.rename("scores.new", to: "scores")
      try directory.sync()
    }

    func load() throws -> String? {
      guard try directory.entries().contains("scores") else { return nil }
      let file = try directory.open("scores", .readOnly)
      var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
      _ = try bytes.withUnsafeMutableBytes { try file.readFully(into: $0, at: 0) }
      return String(decoding: bytes, as: UTF8.self)
    }

    /// The correct version of `save`.
    func saveSafely(_ scores: String) throws {
      try? directory.unlink("scores.new")
      let file = try directory.open("scores.new", .createNew)
      try Array(scores.utf8).withUnsafeBytes { try file.writeFully($0, at: 0) }
      try file.sync(.full)
      try file.close()
      try directory.rename("scores.new", to: "scores")
      try directory.sync()
    }
  }

  struct WrongScores: Error, CustomStringConvertible {
    let found: String?

    var description: String { "found \(found.map { "'\($0)'" } ?? "nothing")" }
  }

  @Test func `the planted bug is found, and is gone when it is fixed`() throws {
    let games = ["Ada 10", "Ada 10, Bob 20", "Ada 30, Bob 20"]
    let report = try CrashExplorer(seed: 1).run(acknowledging: Int.self) { fileSystem, acknowledge in
      let board = ScoreBoard(directory: try fileSystem.openDirectory("/"))
      for (number, scores) in games.enumerated() {
        try board.save(scores)
        acknowledge(number)
      }
    } verify: { fileSystem, acknowledged in
      let found = try ScoreBoard(directory: try fileSystem.openDirectory("/")).load()
      let last = acknowledged.last.map { games[$0] }
      let next = games.dropFirst(acknowledged.count).first
      guard found == last || found == next else { throw WrongScores(found: found) }
    }
    let failure = try #require(report.failure)
    let article = try PackageFolder.text(of: "Sources/HeartwoodFaults/Documentation.docc/FindingABug.md")
    #expect(article.contains("```text\n\(failure)\n```"), "\(failure)")

    let workload: (any FileSystem, @escaping @Sendable (Int) -> Void) throws -> Void = {
      fileSystem, acknowledge in
      let board = ScoreBoard(directory: try fileSystem.openDirectory("/"))
      for (number, scores) in games.enumerated() {
        try board.saveSafely(scores)
        acknowledge(number)
      }
    }
    let verify: @Sendable (any FileSystem, [Int]) throws -> Void = { fileSystem, acknowledged in
      let found = try ScoreBoard(directory: try fileSystem.openDirectory("/")).load()
      let isRight =
        found == acknowledged.last.map { games[$0] } || found == games.dropFirst(acknowledged.count).first
      if !isRight { throw WrongScores(found: found) }
    }
    let again = try CrashExplorer().replay(
      "seed 1 disk hostile crash 5:2", acknowledging: Int.self, workload: workload, verify: verify)
    try again.check()
    try CrashExplorer(seed: 1, limits: .thorough).run(workload: workload, verify: verify).check()
  }
}
