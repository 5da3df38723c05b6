import Dispatch
import Foundation
import HeartwoodEngine
import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `The heartwood program` {
  @Test func `the program reads a file or standard input, and separates results from notes`() throws {
    let directory = try TemporaryFolder()
    let path = directory.path("small.heartwood")
    let imported = try Program.run("import", path, "-", input: SmallWorld.document)
    #expect(imported.status == 0)
    #expect(imported.output.hasPrefix("imported 9 objects and 15 links into \(path) in "))
    #expect(imported.notes == "")
    let wrong = try Program.run("fetch", path, "Country", "--where", "populatoin > 3")
    #expect(wrong.status == 64)
    #expect(wrong.output == "")
    #expect(wrong.notes.hasPrefix("heartwood: "))
    #expect(try Program.run("verify", path).status == 0)
  }

  @Test func `the program writes a store beside other programs that write it or have it open`() throws {
    let world = try SmallWorld()
    var options = EngineOptions()
    options.acceptsOtherContent = true
    let open = try Engine(at: world.path, options: options)
    let before = open.newestGeneration
    for name in 0..<4 {
      let objects = (0..<50).map { ##"{"@id": "Continent/\##(name)-\##($0)", "name": "\##(name)-\##($0)"}"## }
      let document = ##"{"model": \##(SmallWorld.model), "objects": [\##(objects.joined(separator: ","))]}"##
      _ = try world.directory.file("\(name).json", document)
    }
    let (path, files) = (world.path, world.directory.url)
    DispatchQueue.concurrentPerform(iterations: 4) { name in
      let run = Result { try Program.run("import", path, files.appending(path: "\(name).json").path) }
      #expect((try? run.get().status) == 0, "\(run)")
    }
    #expect(world.run("count", "Continent").output == "202\n")
    #expect(try open.snapshot().generation > before)
    #expect(try open.verify().isSound)
    try open.close()
    #expect(world.run("verify").status == .success)
  }

  @Test func `the program stops without a message when its output is closed`() throws {
    let directory = try TemporaryFolder()
    let path = directory.path("world.heartwood")
    #expect(CommandRun("import", path, Fixture.path("World/world.json")).status == .success)
    let head = try Program.shell("\"$heartwood\" fetch '\(path)' City --format json | head -n 1")
    #expect(head.output == "[\n")
    #expect(head.notes == "")
    #expect(try Program.run("count", path, "City").output == "412\n")
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func `the program reports that its result cannot be written`() throws {
    let directory = try TemporaryFolder()
    let path = directory.path("small.heartwood")
    #expect(CommandRun("import", path, try directory.file("a.json", SmallWorld.document)).status == .success)
    let run = try Program.shell("\"$heartwood\" fetch '\(path)' City > /dev/full")
    #expect(run.status == 74)
    #expect(run.notes.hasPrefix("heartwood: can't write the result: "))
  }
}
