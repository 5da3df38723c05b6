import Foundation
import Testing

@testable import HeartwoodCommand

/// The things that are at a place.
enum UnsuitablePlace: String, CaseIterable {
  case folder, missing, empty, picture, unreadable, hidden

  /// One of these is in the message.
  var reasons: [String] {
    switch self {
    case .folder: ["directory", "folder", "nothing was shipped"]
    case .missing: ["there is no", "no such"]
    case .empty: ["empty", "end of the text", "no change set", "no output of changes positions", "is a file"]
    case .picture:
      [
        "not JSON", "no change set", "no output of changes positions", "not UTF-8", "no mapping model",
        "0 tabs",
        "this file is no store", "is a file", "no Swift source",
      ]
    case .unreadable, .hidden: ["permission", "is a file", "no Swift source"]
    }
  }
}

/// Every command that reads a file or a store, with a place that has none.
@Suite struct `A command that cannot read what it is given` {
  private static let words = [
    "changes show PLACE", "changes invert PLACE --output NEW", "changes apply STORE PLACE",
    "changes export STORE --after PLACE --output NEW", "import NEW PLACE", "import NEW JSON --model PLACE",
    "import STORE PLACE --format csv --entity City", "model PLACE", "model diff JSON PLACE", "generate PLACE",
    "migrate STORE PLACE --dry-run", "migrate STORE JSON --mapping PLACE", "migrate STORE PLACE --back",
    "kv load NEW PLACE",
    "port PLACE", "fetch PLACE City", "count PLACE City", "show PLACE City/p1", "schema PLACE",
    "verify PLACE",
    "statistics PLACE", "history PLACE", "generations PLACE", "diff PLACE 1", "backup PLACE NEW",
    "copy PLACE NEW",
    "salvage PLACE NEW", "ship PLACE NEW --once", "restore PLACE NEW", "follow PLACE NEW --once",
    "reclaim PLACE",
    "export PLACE", "consumers PLACE", "hold PLACE name", "changes positions PLACE", "kv list PLACE",
    "kv dump PLACE",
    "kv verify PLACE", "undo PLACE 1", "delete PLACE City/p1",
    "update PLACE City --set name='x' --where name=='y'",
  ]
  /// Commands that are right: for a dump without keys, a folder without sources, a source without text.
  private static let accepted: [UnsuitablePlace: [String]] = [
    .folder: ["port PLACE"], .empty: ["kv load NEW PLACE"],
  ]

  @Test(arguments: words) func `an error is one line that names the place and the reason`(words: String)
    throws
  {
    let world = try SmallWorld()
    for place in UnsuitablePlace.allCases where Self.accepted[place]?.contains(words) != true {
      let isOfPermissions = place == .unreadable || place == .hidden
      if isOfPermissions, geteuid() == 0 { continue }
      let path = try world.make(place)
      defer { world.open(place) }
      let run = CommandRun(
        words.split(separator: " ").map { word in
          switch word {
          case "PLACE": path
          case "STORE": world.path
          case "JSON": world.directory.path("world.json")
          case "NEW": world.directory.path("new-\(place)")
          default: String(word)
          }
        })
      #expect(run.status != .success && run.status != .verificationFailed, "\(place): \(run.output)")
      #expect(
        run.notes.hasPrefix("heartwood: ") && run.notes.split(separator: "\n").count == 1, "\(run.notes)")
      #expect(run.notes.contains(place.rawValue), "\(run.notes)")
      #expect(place.reasons.contains(where: run.notes.contains), "\(place): \(run.notes)")
      for word in ["Error Domain", "NSCocoa", "The operation could", "errno"] {
        #expect(!run.notes.contains(word), "\(run.notes)")
      }
    }
  }
}

extension SmallWorld {
  /// - Returns: The path.
  fileprivate func make(_ place: UnsuitablePlace) throws -> String {
    let files = FileManager.default
    let path = directory.path(place.rawValue)
    try Data(#"{"model": \#(Self.model), "objects": []}"#.utf8).write(
      to: URL(fileURLWithPath: directory.path("world.json")))
    switch place {
    case .folder: try files.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .missing: break
    case .empty: try Data().write(to: URL(fileURLWithPath: path))
    case .picture:
      try Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0xFF]).write(
        to: URL(fileURLWithPath: path))
    case .unreadable:
      try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
      try files.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    case .hidden:
      try files.createDirectory(atPath: path, withIntermediateDirectories: false)
      try files.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
      return path + "/file"
    }
    return path
  }

  /// Lets the place be removed.
  fileprivate func open(_ place: UnsuitablePlace) {
    try? FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: directory.path(place.rawValue))
  }
}
