import Foundation
import HeartwoodFaults
import Testing

@testable import FaultProgramme

/// Commands that are killed while they make a store of a file. `HEARTWOOD_LONG=1` kills 200.
@Suite(.serialized) struct `An import that is killed` {
  private static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil
  private static let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "heartwood")
  private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures")

  enum Source: String, CaseIterable {
    case json, csv, sqlite

    /// The file, which is made in the folder if it is no fixture.
    func file(in folder: URL) throws -> URL {
      let rows = 0..<900
      switch self {
      case .sqlite: return fixtures.appending(path: "AppleStores/library.sqlite")
      case .json:
        let file = folder.appending(path: "people.json")
        let objects = rows.map {
          #"{"@id": "Person/\#($0)", "name": "Person \#($0)", "friend": "Person/\#($0 / 2)"}"#
        }
        try Data("[\(objects.joined(separator: ",\n"))]".utf8).write(to: file)
        return file
      case .csv:
        let file = folder.appending(path: "Person.csv")
        try Data(("name,age\n" + rows.map { "Person \($0),\($0 % 90)\n" }.joined()).utf8).write(to: file)
        return file
      }
    }

    /// Several transactions, where the command has them.
    var options: [String] { self == .sqlite ? [] : ["--batch", "100"] }
  }

  @Test(arguments: Source.allCases, ["log", "json", "binary"])
  func `a killed import leaves no store or the whole one, and works when it is repeated`(
    source: Source, type: String
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "imports-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = try source.file(in: folder)
    func arguments(_ store: URL) -> [String] {
      ["import", store.path, file.path, "--type", type] + source.options
    }
    // The first one is slow.
    var (microseconds, whole) = (0, "")
    for number in 0..<2 {
      let store = folder.appending(path: "whole-\(number)")
      let duration = try ContinuousClock().measure {
        try KilledMigration(Self.program, arguments(store), waits: false).waitUntilDone()
      }
      microseconds = Int(duration / .microseconds(1))
      whole = try #require(try Self.count(in: store))
    }
    var random = SplitMix64(seed: 4800)
    for number in 0..<(Self.isLong ? 22 : 3) {
      let home = folder.appending(path: "home-\(number)")
      try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
      let store = home.appending(path: "new")
      // A moment between the beginning and a little after the end.
      let victim = try KilledMigration(Self.program, arguments(store), waits: false)
      usleep(UInt32(random.below(microseconds * 11 / 10)))
      victim.kill()
      if let count = try Self.count(in: store) {
        #expect(count == whole, "death \(number): a part of the file is there")
        continue
      }
      try KilledMigration(Self.program, arguments(store), waits: false).waitUntilDone()
      #expect(try Self.count(in: store) == whole, "death \(number)")
      let left = try FileManager.default.contentsOfDirectory(atPath: home.path)
      #expect(left == ["new"], "death \(number): something is left over")
    }
  }

  /// How many persons a store has, as text; nil if there is no store.
  private static func count(in store: URL) throws -> String? {
    let process = Process()
    process.executableURL = program
    process.arguments = ["count", store.path, "Person"]
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try KilledProcess.inheritance.withLock { try process.run() }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return process.terminationStatus == 0 ? text : nil
  }
}
