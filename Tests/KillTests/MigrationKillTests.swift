import Foundation
import Testing

@testable import FaultProgramme

/// Processes that are killed while they migrate. `HEARTWOOD_LONG=1` kills 200.
@Suite(.serialized) struct `A migration that is killed` {
  private static let isLong = ProcessInfo.processInfo.environment["HEARTWOOD_LONG"] != nil

  /// Version 2 of the model, for the command.
  private static let document = """
    {"entities": {
      "Item": {
        "attributes": {
          "title": {"renamed": "name", "type": "string", "optional": true}, "size": {"type": "integer64", "optional": true},
          "note": {"type": "string", "default": "none"}},
        "relationships": {"box": {"destination": "Box", "toMany": true, "inverse": "items"}},
        "uniquenessConstraints": [["title"]]},
      "Tool": {"superentity": "Item"},
      "Box": {
        "attributes": {"title": {"renamed": "name", "type": "string", "optional": true}},
        "relationships": {"items": {"destination": "Item", "toMany": true, "ordered": true, "inverse": "box"}}}}}
    """

  // MIG-17
  @Test(arguments: MigrationWay.allCases)
  func `a killed migration leaves the store before it or after it, and is finished later`(way: MigrationWay)
    throws
  {
    let file = FileManager.default.temporaryDirectory.appending(path: "model-\(UUID().uuidString).json")
    try Data(Self.document.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let run = MigrationKillRun(
      way, seed: 2500, program: folder.appending(path: way == .command ? "heartwood" : "FaultProgramme")
    ) { store in
      way == .command
        ? ["migrate", store.path, file.path, "--rewrite"]
        : [MigrationVictim.command, store.path, way.rawValue]
    }
    let report = try run.run(kills: Self.isLong ? 50 : 4, items: Self.isLong ? 600 : 200)
    print("killed migration: \(report)")
    #expect(report.kills == (Self.isLong ? 50 : 4))
    // Some were killed on the way, and some at the end.
    if Self.isLong { #expect((report.found.first ?? 0) > 5 && (report.found.last ?? 0) > 0) }
  }
}
