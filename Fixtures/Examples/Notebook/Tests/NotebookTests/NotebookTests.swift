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

  @Test func `an unknown command prints the usage`() throws {
    #expect(try run("sing") == [Main.usage])
    #expect(try run() == [Main.usage])
  }
}
