import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

@Suite struct `Names and files of generated classes` {
  private let folder: TemporaryFolder
  private let model: String

  init() throws {
    folder = try TemporaryFolder()
    model = folder.path("M.xcdatamodel")
    try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
    let text = """
      <model><entity name="B" representedClassName="B"><attribute name="x" optional="YES" attributeType="String"/>
      <relationship name="f" optional="YES" destinationEntity="F" inverseName="b" inverseEntity="F"/>
      <relationship name="odd" optional="YES" destinationEntity="Odd"/></entity>
      <entity name="F" representedClassName="B"><attribute name="y" optional="YES" attributeType="String"/>
      <relationship name="b" optional="YES" destinationEntity="B" inverseName="f" inverseEntity="B"/></entity>
      <entity name="Odd" representedClassName="a b"/><entity name="Up" representedClassName="../evil"/>
      <entity name="Sign" representedClassName="Größe"/></model>
      """
    try Data(text.utf8).write(to: URL(filePath: model + "/contents"))
  }

  @Test(arguments: ["class", "category"])
  func `a class of two entities is written once, and one that Swift cannot name is left out`(mode: String)
    throws
  {
    let made = folder.path("made")
    let run = CommandRun("generate", model, "--mode", mode, "--output", made)
    #expect(run.status == .success)
    for note in [
      "F is left out: its class B is written for B",
      "Odd is left out: \"a b\" is no name of a class in Swift",
      "Up is left out: \"/evil\" is no name of a class", "B.odd is left out: its destinations have no class",
    ] {
      #expect(run.notes.contains(note), "\(run.notes)")
    }
    let end = mode == "class" ? ".swift" : "+Properties.swift"
    let names = try FileManager.default.contentsOfDirectory(atPath: made)
    #expect(names.sorted() == ["B" + end, "Größe" + end])
    let text = try String(contentsOfFile: made + "/B" + end, encoding: .utf8)
    #expect(text.contains("var x: String?") && text.contains("var f: B?") && !text.contains("var y"))
    // The closure of an inverse would name a property that is not there.
    #expect(!text.contains("inverse:"))
  }

  @Test(arguments: [("one.swift", "one.swift"), ("made", "made/B.swift")])
  func `a link in the place of a file stays, as does what it leads to`(output: String, link: String) throws {
    let target = try folder.file("target", "mine")
    try FileManager.default.createDirectory(
      atPath: folder.path("made"), withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
    let run = CommandRun("generate", model, "--output", folder.path(output))
    #expect(run.status == .cannotCreate)
    #expect(run.notes.contains("\(link) is not a regular file: remove it"), "\(run.notes)")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path(link)) == target)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
  }
}
