import Foundation
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Texts that are nested deeply or very long, for every parser: each ends in an error, and none overflows a thread's stack.
struct HostileTextTests {
  /// The texts that are repeated before and after something, in the language of conditions.
  private static let nests: [(String, String, String)] = [
    ("(", "a == 1", ")"), ("NOT ", "a == 1", ""), ("!", "a == 1", ""), ("NOT (", "a == 1", ")"),
    ("-", "a", " == 1"),
    ("{", "1", "}"), ("abs(", "a", ") == 1"), ("a[", "1", "]"), ("ANY ", "a == 1", ""),
    ("SUBQUERY(a, $x, ", "a == 1", ").@count == 1"),
    ("TERNARY(TRUE, ", "1", ", 2)"), ("CAST(", "a", ", 'NSNumber') == 1"), ("1 + (", "1", ") == 1"),
    ("2 ** ", "2", " == 1"),
    ("FUNCTION(a, 'add:to:', ", "1", ") == 1"), ("a.", "b", " == 1"), ("$x.", "b", " == 1"),
    ("@count FILTER (", "a == 1", ") == 1"),
    ("a == 1 AND (b == 1 OR ", "c == 1", ")"), ("NOT a IN {1, ", "2", "}"), ("~", "a", " == 1"),
  ]

  @Test(arguments: [300, 12_000])
  func `conditions that are nested deeply are refused, or are flat`(count: Int) throws {
    for (before, inner, after) in Self.nests {
      let text =
        String(repeating: before, count: count) + inner
        + String(repeating: after, count: after.count > 4 ? 1 : count)
      do {
        _ = try FormatPredicate(text).conditionTree(for: Self.entity)
      } catch {
        #expect(error.code == .invalidPredicate && error.message.utf8.count < 2_000, "\(before)")
      }
      #expect(throws: Never.self) { _ = try? MappingExpression(text) }
    }
  }

  private static var entity: EntityDescription {
    EntityDescription(name: "E", properties: [AttributeDescription(name: "a", type: .integer64)])
  }

  @Test func `a condition with a million parts is refused before it is parsed`() throws {
    let parts: [(String, String)] = [
      ("a == 1", " OR "), ("a == 1", " AND "), ("a", " + "), ("a == b.c.d.e", " OR "),
      ("NOT a == 'text'", " AND "),
      ("1", ", "),
    ]
    for (part, joint) in parts {
      let text = String(repeating: part + joint, count: 1_000_000) + part
      let whole = joint == ", " ? "a IN {\(text)}" : joint == " + " ? "\(text) == 1" : text
      let error = #expect(throws: HeartwoodError.self) { try FormatPredicate(whole) }
      #expect(error?.code == .invalidPredicate && (error?.message.utf8.count ?? 0) < 1_000, "\(part)")
    }
    // As many parts as a condition may have.
    let text = Array(repeating: "a == 1", count: 3_000).joined(separator: " OR ")
    #expect(throws: Never.self) { try FormatPredicate(text) }
  }

  @Test(arguments: 0..<16)
  func `random texts of signs and words end in a condition or an error`(seed: UInt64) {
    var random = SplitMix64(seed: seed + 900)
    let words =
      Self.nests.flatMap { [$0.0, $0.1, $0.2] } + [
        "%@", "%K", "'", "\"", "\\", "BETWEEN", "IN", "==[cd]", "$", "@", "🙂", "1e9",
      ]
    var text = ""
    for _ in 0..<random.below(60) {
      let word = words[random.below(words.count)]
      text += String(repeating: word, count: random.below(8) == 0 ? random.below(3_000) : 1)
    }
    _ = try? FormatPredicate(text).conditionTree(for: Self.entity)
    _ = try? RegularExpression(text)
    _ = try? WordQuery(text)
    _ = try? MappingExpression(text)
  }

  // MARK: Documents

  @Test(arguments: [600, 100_000])
  func `documents that are nested deeply are refused`(count: Int) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "hostile-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let arrays = String(repeating: "[", count: count) + String(repeating: "]", count: count)
    let objects = String(repeating: "{\"a\":", count: count) + "1" + String(repeating: "}", count: count)
    let elements = String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count)
    let lists = String(repeating: "<array>", count: count) + String(repeating: "</array>", count: count)
    for (name, text) in [
      ("a.json", "{\"heartwood\": \"JSON store 1\", \"metadata\": \(objects)}"), ("b.json", arrays),
      ("c.json", objects),
      ("a.xml", "<?xml version=\"1.0\"?><heartwood format=\"1\">\(elements)</heartwood>"),
      ("b.xml", elements),
    ] {
      let url = folder.appending(path: name)
      try Data(text.utf8).write(to: url)
      let type: PersistentStore.StoreType = name.hasSuffix("json") ? .json : .xml
      let coordinator = PersistentStoreCoordinator(
        managedObjectModel: ManagedObjectModel(entities: [Self.entity]))
      #expect(throws: HeartwoodError.self, "\(name)") {
        try coordinator.addPersistentStore(type: type, at: url)
      }
      #expect(throws: (any Error).self, "\(name)") { try ManagedObjectModel(contentsOf: url) }
    }
    let package = folder.appending(path: "m.xcdatamodel")
    try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
    try Data("<?xml version=\"1.0\"?><model>\(elements)</model>".utf8).write(
      to: package.appending(path: "contents"))
    #expect(throws: (any Error).self) { try ManagedObjectModel(contentsOf: package) }
    for text in [lists, "<plist>\(lists)</plist>"] {
      #expect(throws: (any Error).self) { try XcodeMapping(Data(text.utf8), file: "m.xcmappingmodel") }
    }
  }
}
