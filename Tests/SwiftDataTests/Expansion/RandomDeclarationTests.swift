import Testing

@testable import SwiftDataExpansion

/// A compiler also asks for the expansion of source that is being written, so macros take anything.
struct RandomDeclarationTests {
  /// A generator of fixed seeds.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return value ^ value >> 31
    }
  }

  /// Each way in which a macro reads a declaration.
  private static let roles = [
    ("Model", "member"), ("Model", "memberAttribute"), ("PersistedProperty", "accessor"),
    ("PersistedProperty", "peer"), ("ModelActor", "member"),
  ]

  /// Every macro gives an expansion or a diagnostic whose place is inside of the source.
  private func expectAnswers(_ source: String, _ seed: String) {
    let answers =
      source.hasPrefix("#Predicate") || source.hasPrefix("#Expression")
      ? [Expanding(freestanding: "Predicate", source)]
      : Self.roles.map { Expanding($0, $1, source, missing: "PersistentModel, ModelActor") }
    for answer in answers
    where answer.source == nil && answer.diagnostics.isEmpty || !answer.hasPlacesInside {
      Issue.record("\(seed): \(answer.messages) of \(source)")
    }
  }

  private static let pieces = [
    "class", "struct", "final ", "public ", "private(set) ", "var ", "let ", "func ", "init", "deinit",
    "extension ", "enum ", "case ", "static ", "lazy ", "override ", "Trip", "name", "`default`", "_$storage",
    "$0", "$1", ".", ",", ":", ";", "=", "==", "!=", "<", ">", "->", "&&", "||", "??", "?", "!", "...", "..<",
    "+",
    "-", "*", "/", "%", "(", ")", "[", "]", "{", "}", "\"", "\"text\"", "\"\\(", "\"\"\"", "#\"", "\\",
    "\\.name", "#",
    "#if", "#if os(Linux)", "#else", "#elseif", "#endif", "#Unique<", "#Index", "#Predicate",
    "#Predicate<Trip>",
    "@", "@Attribute", "@Attribute(.unique)", "@Relationship(", "@Transient", "@available(*", "// text", "/*",
    "*/", "/x/", "#/", "0", "1.5", "0x", "nil", "true", "if ", "else ", "if let ", " in ", "return ", "as?",
    "is ",
    "contains", "filter", "evaluate", "get", "set", "didSet", "willSet", "Int", "[String]", "some ", "any ",
    "\n", "\n", " ", " ", "ä", "🌲", "\u{0}", "\r\n", "\t",
  ]

  @Test(arguments: 0..<12) func `any sequence of tokens has an expansion or a diagnostic`(seed: Int) {
    var numbers = Numbers(state: UInt64(seed))
    for round in 0..<30 {
      let count = Int.random(in: 0..<40, using: &numbers)
      let beginning = [
        "", "class Trip {", "actor Trip {", "var name", "#Predicate<Trip> { $0.", "#Predicate {",
      ]
      var source = beginning.randomElement(using: &numbers) ?? ""
      for _ in 0..<count { source += Self.pieces.randomElement(using: &numbers) ?? "" }
      expectAnswers(source, "seed \(seed), round \(round)")
    }
  }

  static let declarations = [
    """
    public final class Trip<Value: Codable>: Base, Named where Value: Hashable {
      #Unique<Trip>([\\.name], [\\.start, \\.end])
      #Index<Trip>(.binary([\\.name]), .rtree([\\.x, \\.y]))
      @Attribute(.unique, originalName: "former") var name: String
      @Relationship(deleteRule: .cascade, inverse: \\Stop.trip) var stops: [Stop] = []
      @Transient var cache: [Int: String] = [:]
      #if os(Linux)
        var text = "a\\(1 + 2)b"
      #else
        var text = 1
      #endif
      private(set) var end: Date? { didSet { print("x") } }
      var computed: Int { get { 1 } set { _ = newValue } }
      init(name: String) { self.name = name }
      func f() -> some P { /a b/ }
    }
    """,
    "#Predicate<Trip> { trip in trip.stops.contains { $0.name == other[1...2] } && (trip.end ?? now) > \"\\(x)\".date }",
    "#Expression<Trip, Int> { $0.stops.filter { stop in stop.count > 1 }.count + -(2 * $0.x % 3) }",
    "#Predicate { if let end = $0.end, end.x > 1 { $0.a?.b?[c] == nil } else if $0.x as? Int == 1 { true } else { $0.y is Int ? false : !$0.z! } }",
    "@MainActor public actor Importer<T>: P { @Attribute(.transformable(by: \"x\")) weak var x: (Int) -> Void = { _ in }\n let y = #\"raw\"# }",
  ]

  @Test(arguments: 0..<declarations.count)
  func `a declaration that ends anywhere has an expansion or a diagnostic`(
    index: Int
  ) {
    let whole = Array(Self.declarations[index].utf8)
    for length in stride(from: 0, through: whole.count, by: 2) {
      expectAnswers(
        String(decoding: whole[..<length], as: UTF8.self), "declaration \(index), \(length) bytes")
    }
  }

  @Test(arguments: 0..<declarations.count) func `a declaration with changes has an expansion or a diagnostic`(
    index: Int
  ) {
    var numbers = Numbers(state: UInt64(index) + 100)
    for round in 0..<60 {
      var source = Array(Self.declarations[index].utf8)
      for _ in 0...Int.random(in: 0..<3, using: &numbers) {
        let start = Int.random(in: 0..<source.count, using: &numbers)
        let end = min(source.count, start + Int.random(in: 0..<6, using: &numbers))
        let piece = Bool.random(using: &numbers) ? Self.pieces.randomElement(using: &numbers) ?? "" : ""
        source.replaceSubrange(start..<end, with: Array(piece.utf8))
        if source.isEmpty { break }
      }
      expectAnswers(String(decoding: source, as: UTF8.self), "declaration \(index), round \(round)")
    }
  }

  @Test func `an expression that is nested a thousand times is refused`() {
    func repeated(_ before: String, _ after: String = "") -> String {
      "#Predicate<Trip> { "
        + String(repeating: before, count: 1000) + "$0.x" + String(repeating: after, count: 1000) + " }"
    }
    for source in [
      repeated("(", ")"), repeated("!"), repeated("-"), repeated("", "?.x"), repeated("$0.x ? 1 : "),
      repeated("$0.x ?? "), repeated("if $0.x { true } else "), repeated("$0.x.filter { ", " }"),
    ] {
      #expect(Expanding(freestanding: "Predicate", source).messages.count == 1)
    }
  }
}
