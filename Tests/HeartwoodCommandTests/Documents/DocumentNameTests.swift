import Foundation
import TestSupport
import Testing

@testable import HeartwoodCommand

/// Names that models may have, in documents.
@Suite struct `Names in documents` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [("a-b", "n"), ("²", "²"), ("Ärzte", "höhe"), ("_x", "_")])
  func `what a model calls entities and properties is exported and imported`(entity: String, property: String)
    throws
  {
    let url = folder.url.appending(path: "M.xcdatamodel")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let text = """
      <model><entity name="\(entity)"><attribute name="\(property)" attributeType="String" optional="YES"/>
      <relationship name="\(property)r" optional="YES" maxCount="1" destinationEntity="\(entity)"/></entity></model>
      """
    try Data(text.utf8).write(to: url.appending(path: "contents"))
    let objects = try folder.file(
      "objects.json",
      #"[{"@id": "\#(entity)/1", "\#(property)": "x", "\#(property)r": {"@ref": "\#(entity)/1"}}]"#)
    let first = folder.path("first")
    let made = CommandRun("import", first, objects, "--model", url.path)
    #expect(made.status == .success, "\(made)")
    let exported = CommandRun("export", first)
    let second = folder.path("second")
    let again = CommandRun("import", second, try folder.file("again.json", exported.output))
    #expect(again.status == .success, "\(again)")
    #expect(CommandRun("export", second).output == exported.output)
  }
}
