import Foundation
import TestSupport
import Testing

@Suite struct `The table of Core Data's names` {
  static let package = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
  static let page = package.appending(path: "Sources/Heartwood/Documentation.docc/CoreDataNames.md")

  static let head = """
    # Names of Core Data

    What of Core Data's public interface the module `CoreData` of this package has, name by name.

    ## Overview

    The names are those of Apple's SDK of version 26, without CloudKit, Spotlight, SwiftUI and ubiquity. A name that is *unavailable* is declared,
    and using it is an error that says what to use instead. A name that is *absent* is an error of the compiler. The table is made by
    a test from the declarations of the module and of Heartwood; `HEARTWOOD_WRITE_NAMES=1 swift test --filter NamesTable` writes it.

    | type | names here | unavailable | absent |
    |---|---|---|---|

    """

  static func makePage() throws -> String {
    let names = try DeclaredNames(
      folders: ["Sources/CoreData", "Sources/Heartwood", "Sources/HeartwoodModel"], package: package)
    var text = head
    var (here, all) = (0, 0)
    for (type, list) in AppleNames.types {
      let members = list.split(whereSeparator: \.isWhitespace).map(String.init)
      guard names.hasType(type) else {
        all += members.count + 1
        text += "| `\(type)` | none | | the type |\n"
        continue
      }
      guard !names.unavailableTypes.contains(type) else {
        all += members.count + 1
        text += "| `\(type)` | none | the type | |\n"
        continue
      }
      var (unavailable, absent): ([String], [String]) = ([], [])
      for member in members {
        switch names.has(member, of: type) {
        case nil: unavailable.append("`\(member)`")
        case false?: absent.append("`\(member)`")
        case true?: here += 1
        }
      }
      all += members.count + 1
      here += 1
      let count = members.count - unavailable.count - absent.count
      text +=
        "| `\(type)` | \(count == members.count ? "all" : "\(count) of \(members.count)") | \(unavailable.joined(separator: " ")) | \(absent.joined(separator: " ")) |\n"
    }
    let globals = AppleNames.globals.split(whereSeparator: \.isWhitespace).map(String.init)
    func state(_ name: String) -> Bool? {
      names.has(name, of: "NSNotification.Name") == true ? true : names.has(name, of: "")
    }
    let missing = globals.filter { state($0) == false }.map { "`\($0)`" }
    let unavailable = globals.filter { state($0) == nil }.map { "`\($0)`" }
    let count = globals.count - missing.count - unavailable.count
    all += globals.count
    here += count
    text +=
      "| constants and functions | \(count) of \(globals.count) | \(unavailable.joined(separator: " ")) | \(missing.joined(separator: " ")) |\n\n"
    return text + "\(here) of \(all) names are here.\n"
  }

  @Test func `the table is that of the module's declarations`() throws {
    let made = try Self.makePage()
    if ProcessInfo.processInfo.environment["HEARTWOOD_WRITE_NAMES"] != nil {
      try made.write(to: Self.page, atomically: true, encoding: .utf8)
    }
    #expect(
      try String(contentsOf: Self.page, encoding: .utf8) == made, "write it anew with HEARTWOOD_WRITE_NAMES=1"
    )
  }
}
