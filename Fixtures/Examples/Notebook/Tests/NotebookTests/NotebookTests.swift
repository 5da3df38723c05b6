import Foundation
import Testing

@testable import notebook

@Suite struct `A notebook` {
  private let notebook: Notebook

  init() throws { notebook = try Notebook(at: URL(fileURLWithPath: "/dev/null")) }

  private func run(_ words: String...) throws -> [String] { try Main.run(words, notebook) }

  @Test func `notes are listed, found by their words, and finished`() throws {
    #expect(try run("add", "Water the roses", "--tag", "garden") == ["1  Water the roses  #garden"])
    _ = try run("add", "Ask Ada about the seeds", "--tag", "garden", "--tag", "calls")
    #expect(try run("find", "seed*") == ["2  Ask Ada about the seeds  #calls #garden"])
    #expect(try run("list", "calls").count == 1)
    #expect(try run("done", "1") == ["1  Water the roses  #garden"])
    #expect(try run("list", "garden") == ["2  Ask Ada about the seeds  #calls #garden"])
    #expect(try run("done", "7") == ["there is no note 7"])
  }

  @Test func `the last change is taken back once`() throws {
    _ = try run("add", "Water the roses")
    _ = try run("done", "1")
    #expect(try run("list") == [])
    #expect(try run("undo") == ["took back: update of Note"])
    #expect(try run("list") == ["1  Water the roses"])
    #expect(try run("undo") == ["there is nothing to take back"])
  }

  @Test func `a change is taken back by a program that was started later`() throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "notebook-\(UUID())")
    defer { try? FileManager.default.removeItem(at: place) }
    for words in [["add", "Water the roses"], ["done", "1"], ["undo"]] {
      let notebook = try Notebook(at: place)
      _ = try Main.run(words, notebook)
      try notebook.close()
    }
    let notebook = try Notebook(at: place)
    #expect(try notebook.notes().map(\.text) == ["Water the roses"])
    try notebook.close()
  }

  @Test func `of copies that run at once each saves its note, with a number of its own`() throws {
    let place = FileManager.default.temporaryDirectory.appending(path: "notebook-\(UUID())")
    defer { try? FileManager.default.removeItem(at: place) }
    let program = try #require(Self.program)
    let copies = try (1...8).map { number in
      let copy = Process()
      copy.executableURL = program
      copy.arguments = ["add", "note \(number)", "--tag", "garden"]
      copy.environment = ["NOTEBOOK": place.path]
      copy.standardOutput = FileHandle.nullDevice
      try copy.run()
      return copy
    }
    for copy in copies { copy.waitUntilExit() }
    #expect(copies.allSatisfy { $0.terminationStatus == 0 })
    let notebook = try Notebook(at: place)
    let notes = try notebook.notes(tag: "garden")
    #expect(notes.map(\.number) == Array(1...8) && Set(notes.map(\.text)).count == 8)
    try notebook.close()
  }

  /// The program, which is built beside the tests.
  private static let program = CommandLine.arguments.lazy
    .map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
    .flatMap { sequence(first: $0) { $0.pathComponents.count > 1 ? $0.deletingLastPathComponent() : nil } }
    .map { $0.appending(path: "notebook") }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }

  @Test func `an unknown command prints the usage`() throws {
    #expect(try run("sing") == [Main.usage])
    #expect(try run() == [Main.usage])
  }
}
