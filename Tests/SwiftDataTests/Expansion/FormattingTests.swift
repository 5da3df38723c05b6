import Testing

@testable import SwiftDataExpansion

/// The members of a model do not depend on the format of its source.
struct FormattingTests {
  /// Members of a model. Where `~` is, there may be blanks, lines and comments; where `|` is, which is inside of a value, blanks and lines.
  private static let members = [
    "var~a~=~1", "var~b:~Int", "private(set)~var~c:~[String:|Int]~=~[:]", "var~d:~String?", "let~e~=~2",
    "@Attribute(.unique)~var~f:~UUID~=~UUID()", "@Transient~var~g~=~1", "static~let~h~=~\"h\"",
    "@Relationship(deleteRule: .cascade, inverse: \\Stop.trip)~public~var~i:~[Stop]~=~[]",
    "var~j:~Int~{~var k = 1; return k~}", "var~l:~Int~{~get~{~1~}~set~{~_ = newValue~}~}",
    "func~m()~->~Int~{~let n = 1; var o = 2; o += n; return o~}", "init()~{~}", "deinit~{~}",
    "struct~Inner:~Codable~{~var p = 1; var q: Int { 2 }~}", "enum~Kind:~Int~{~case r, s; case t~}",
    "typealias~Text~=~String", "#Index<Trip>([\\.a],|[\\.b])", "subscript(u: Int)~->~Int~{~u~}",
    "var~v:~String~=~\"\"\"\n  Hi \\(1 + 1) \\(\"}\") {\n  \\([1, 2].map { \"\\($0)\" }\n    .joined())\n  \"\"\"",
    "var~w~=~\"\\(1, two: 2)\"|+|\"; var no = 1\"", "var~x~=~Dictionary<String, Int>()",
    "var~y:~Int~=~make|{ 3 }", "var~`z`:~(Int)~=~a|??|b|?|1|:|2|as|Int",
    "@Clamped<Int>(0)~@Transient~var~aa~=~1",
  ]
  private static let blanks = [
    " ", " ", " ", "  ", "\t", " /* ; */ ", "\n", "\n\n", " // ; var no = 1\n", "\n/* var no = 1\n*/ ",
  ]
  private static let separators = [
    "\n", ";", " ; ", ";\n", "\n\n", " // ; var no = 1 }\n", "; /* var no = 1; } */ ", "\n/// {\n", ";/*\n*/",
  ]

  /// A class with the members.
  private static func model(
    _ members: [String], blank: () -> String, space: () -> String, separator: () -> String
  ) -> String {
    var source = "final class Trip {\n"
    for member in members {
      for character in member {
        switch character {
        case "~": source += blank()
        case "|": source += space()
        default: source.append(character)
        }
      }
      source += separator()
    }
    return source + "}"
  }

  private static func plain(_ members: [String]) -> String {
    model(members, blank: { " " }, space: { " " }, separator: { "\n" })
  }

  /// A generator of fixed seeds.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state ^ state >> 29) &* 0x94D0_49BB_1331_11EB
    }
  }

  private func entries(_ source: String) -> String? {
    let model = Expanding("Model", "member", source, missing: "PersistentModel")
    #expect(model.messages.isEmpty)
    // Blanks inside of values are kept as they are written.
    return model.source?.filter { !$0.isWhitespace }
  }

  @Test func `a model has all stored properties in their order`() {
    let names = (entries(Self.plain(Self.members)) ?? "").split(separator: "PropertyMetadata(name:\"")
      .dropFirst()
    #expect(
      names.map { $0.prefix { $0 != "\"" } } == [
        "a", "b", "c", "d", "f", "i", "v", "w", "x", "y", "z", "SwiftData.Schema.Index",
      ])
  }

  @Test(arguments: 0..<10) func `a model is the same in any format`(seed: Int) {
    var numbers = Numbers(state: UInt64(seed))
    for round in 0..<20 {
      let members = Self.members.shuffled(using: &numbers)
      let source = Self.model(
        members, blank: { Self.blanks.randomElement(using: &numbers) ?? " " },
        space: { ["\n", " ", "\n\n  "].randomElement(using: &numbers) ?? " " },
        separator: { Self.separators.randomElement(using: &numbers) ?? "\n" })
      #expect(entries(source) == entries(Self.plain(members)), "seed \(seed), round \(round): \(source)")
    }
  }
}
