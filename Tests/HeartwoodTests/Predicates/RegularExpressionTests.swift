import Foundation
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

/// Regular expressions of MATCHES and of rules for patterns.
struct RegularExpressionTests {
  private func matches(_ pattern: String, _ text: String, _ options: ComparisonOptions = []) throws -> Bool {
    try RegularExpression(pattern, options).matches(text)
  }

  // MARK: Syntax

  private static let table: [(pattern: String, texts: [String: Bool])] = [
    ("", ["": true, "a": false]),
    ("abc", ["abc": true, "ab": false, "abcd": false, "ABC": false]),
    ("a.c", ["abc": true, "a\nc": false, "aéc": true, "ac": false, "a\u{2028}c": false]),
    ("(?s)a.c", ["a\nc": true]), ("(?s:a.c)|x.y", ["a\nc": true, "x\ny": false]),
    ("a*b+c?", ["b": true, "aabbc": true, "aac": false, "": false]),
    ("a*?b+?c??", ["aabbc": true, "c": false]),
    ("(ab|cd)+", ["abcdab": true, "abc": false]), ("|a|", ["": true, "a": true, "b": false]),
    ("a{2}", ["aa": true, "a": false, "aaa": false]), ("a{2,}", ["aa": true, "aaaa": true, "a": false]),
    ("a{1,3}b{0}", ["a": true, "aaa": true, "aaaa": false, "ab": false]), ("(){3}a", ["a": true]),
    ("[abc]", ["b": true, "d": false]), ("[^abc]", ["b": false, "d": true, "": false]),
    ("[a-cx-z-]+", ["abxz-": true, "d": false]), ("[\\]\\\\^-]+", ["]\\^-": true]),
    ("[a-z&&[^aeiou]]+", ["xyz": true, "xa": false]), ("[a-z--[aeiou]]+", ["xyz": true, "xa": false]),
    ("[a-c[x-z]]+", ["ax": true, "m": false]), ("[[:alpha:][:digit:]]+", ["aé1": true, "-": false]),
    ("[[:^digit:]]", ["a": true, "1": false]), ("[\\d.]+", ["1.5": true, "a": false]),
    ("\\d+", ["123": true, "१२": true, "1a": false]), ("\\D\\S\\W", ["a-.": true, "1-.": false]),
    ("\\w+", ["añ_9": true, "a-b": false]), ("\\s\\h\\v", ["\u{A0}\t\n": true, " a\n": false]),
    ("\\p{Lu}\\p{Ll}+", ["Éa": true, "éa": false]), ("\\P{L}", ["1": true, "a": false]),
    ("\\pL\\p{^L}", ["a1": true]), ("\\p{Alphabetic}\\p{White_Space}", ["a ": true]),
    ("\\p{Script=Greek}+", ["αβγ": true, "abc": false]), ("[\\p{Greek}a]+", ["αa": true, "b": false]),
    ("\\x41\\x{1F600}\\u00e9\\U0001F600\\0101\\cA", ["A😀é😀A\u{1}": true]),
    ("\\t\\n\\r\\f\\a\\e", ["\t\n\r\u{C}\u{7}\u{1B}": true]),
    ("\\Q(a+b)*\\E+", ["(a+b)*": true, "(a+b)***": true, "(a+b)": false]), ("\\Q(a+\\E", ["(a+": true]),
    ("\\R", ["\r\n": true, "\n": true, "\u{2029}": true, "x": false]),
    ("^a$", ["a": true, "b": false]), ("^a$\\n", ["a\n": true]), ("\\Aa\\z", ["a": true]),
    ("a\\Z\\r\\n", ["a\r\n": true]), ("(?m)a$\\n^b", ["a\nb": true]), ("a$\\nb", ["a\nb": false]),
    ("\\bfoo\\b.*", ["foo bar": true, "foobar": false]), ("fo\\Bo", ["foo": true]),
    ("(?i)straße", ["STRAßE": true, "strasse": false]),
    ("(?i)[a-z]+K", ["ABCk": true, "\u{212A}\u{212A}": true]),
    ("(?i)a(?-i)b", ["Ab": true, "AB": false]), ("(?i:a)b", ["Ab": true, "AB": false]),
    ("((?i)a)b", ["Ab": true, "AB": false]), ("(?i)[^k]", ["K": false, "k": false, "x": true]),
    ("(?x) a b # c\n [c d]", ["abc": true, "abd": true, "ab ": false]), ("a(?#what)b", ["ab": true]),
    // Composed forms are compared.
    ("e\u{301}", ["\u{E9}": true]), ("caf.", ["cafe\u{301}": true]), ("[é]", ["e\u{301}": true]),
    // References, and looking around.
    ("(a+)\\1", ["aaaa": true, "aaa": false]), ("(?<x>[ab])\\k<x>", ["aa": true, "ab": false]),
    ("(?i)(a)\\1", ["aA": true]), ("(?:(a)|b)\\1", ["aa": true, "ba": false]),
    ("(?=a)[abc]+", ["abc": true, "bca": false]), ("(?!a)[abc]+", ["abc": false, "bca": true]),
    ("ab(?<=ab)c", ["abc": true]), ("a.(?<!ab)c", ["abc": false, "axc": true]),
    ("(?=(a+))\\1b", ["aab": true]), ("(?>a+)b", ["aab": true]), ("(?>a+)ab", ["aab": false]),
    ("a++b", ["aab": true]), ("a*+a", ["aaa": false]), ("(a*)*\\1b", ["aab": true]),
    ("(?:a|ab)(?:c|bcd)(d*)\\1", ["abcd": true]),
  ]

  @Test(arguments: table.indices)
  func `a pattern matches what ICU's does`(row: Int) throws {
    let (pattern, texts) = Self.table[row]
    for (text, isMatch) in texts {
      #expect(try matches(pattern, text) == isMatch, "\(pattern) and \(text.debugDescription)")
    }
  }

  @Test func `options of the comparison ignore case and accents`() throws {
    #expect(try matches("k[öo]ln", "KÖLN", [.caseInsensitive]))
    #expect(try matches("koln", "Köln", [.caseInsensitive, .diacriticInsensitive]))
    #expect(try matches("köln", "koln", [.diacriticInsensitive]))
    #expect(try !matches("koln", "Köln", [.caseInsensitive]))
  }

  @Test(arguments: [
    "(", ")", "[", "[]", "[a", "[z-a]", "a{2", "a{3,2}", "a{x}", "*", "a**", "a|*", "\\", "(?<x>a)(?<x>b)",
    "(?<a", "(?q)", "\\p{Nothing}", "\\pQ", "\\k<x>", "(a)\\2", "\\y", "\\xZ", "\\u12", "[[:nothing:]]",
    "[:alpha",
    "(?#a", "\\x{110000}", "a{1,2}{3}",
  ])
  func `what is no pattern is refused with its place`(pattern: String) {
    let error = #expect(throws: HeartwoodError.self) { try RegularExpression(pattern) }
    #expect(error?.code == .invalidPredicate && error?.message.contains("at character") == true)
  }

  // MARK: Random patterns

  @Test(arguments: 0..<8)
  func `random patterns match what the standard library's do`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed + 70)
    for _ in 0..<120 {
      let pattern = Self.pattern(&random, depth: 3)
      // Whether an empty pass of a lazy repetition sets a group differs between engines.
      if pattern.contains("*?"), pattern.contains("\\1") { continue }
      // As ICU does: a boundary is between a word character and another one.
      guard let judge = try? Regex(pattern).wordBoundaryKind(.simple) else { continue }
      let own = try RegularExpression(pattern)
      for _ in 0..<12 {
        let text = Self.text(&random)
        let expected = try judge.wholeMatch(in: text) != nil
        #expect(try own.matches(text) == expected, "seed \(seed): \(pattern) and \(text.debugDescription)")
      }
    }
  }

  private static func text(_ random: inout SplitMix64) -> String {
    String((0..<random.below(7)).map { _ in "aabb c".randomElement(&random) })
  }

  private static func pattern(_ random: inout SplitMix64, depth: Int) -> String {
    guard depth > 0 else {
      return ["a", "b", "c", ".", "[ab]", "[^a]", "\\w", "\\s", "\\b", "", "[a-c&&[^b]]"].randomElement(
        &random)
    }
    let inner = { (random: inout SplitMix64) in pattern(&random, depth: depth - 1) }
    switch random.below(9) {
    case 0: return "(?:" + inner(&random) + "|" + inner(&random) + ")"
    case 1: return "(" + inner(&random) + ")"
    case 2:
      return "(?:" + inner(&random) + ")"
        + ["*", "+", "?", "{2}", "{0,2}", "*?", "+?", "{1,}"].randomElement(&random)
    case 3: return "(?=" + inner(&random) + ")" + inner(&random)
    case 4: return "(?!" + inner(&random) + ")" + inner(&random)
    case 5: return "(" + inner(&random) + ")x*\\1"
    default: return inner(&random) + inner(&random)
    }
  }

  // MARK: Limits

  /// Nested or long patterns of every form, by their number of parts.
  private static let forms: [(name: String, make: @Sendable (Int) -> String)] = [
    ("class", { String(repeating: "[", count: $0) + "a" + String(repeating: "]", count: $0) }),
    ("intersection", { String(repeating: "[a-z&&", count: $0) + "[b]" + String(repeating: "]", count: $0) }),
    ("difference", { String(repeating: "[a-z--", count: $0) + "[b]" + String(repeating: "]", count: $0) }),
    ("group", { String(repeating: "(", count: $0) + "a" + String(repeating: ")", count: $0) }),
    ("named", { n in (0..<n).map { "(?<n\($0)>" }.joined() + "a" + String(repeating: ")", count: n) }),
    ("repeated", { String(repeating: "(?:", count: $0) + "a" + String(repeating: ")*", count: $0) }),
    ("counted", { String(repeating: "(?:", count: $0) + "a" + String(repeating: "){2}", count: $0) }),
    ("ahead", { String(repeating: "(?=", count: $0) + "a" + String(repeating: ")", count: $0) }),
    ("behind", { String(repeating: "(?<!", count: $0) + "a" + String(repeating: ")", count: $0) }),
    ("atomic", { String(repeating: "(?>", count: $0) + "a" + String(repeating: ")", count: $0) }),
    ("flags", { String(repeating: "(?i:", count: $0) + "a" + String(repeating: ")", count: $0) }),
    ("open", { String(repeating: "[", count: $0) }), ("opened", { String(repeating: "(", count: $0) }),
  ]
  private static let flat: [(name: String, make: @Sendable (Int) -> String)] = [
    ("choice", { String(repeating: "a|", count: $0) + "a" }),
    ("sequence", { String(repeating: "a", count: $0) }),
    ("optional", { String(repeating: "a?", count: $0) }),
    ("switches", { String(repeating: "(?i)", count: $0) + "a" }),
    ("members", { "[" + String(repeating: "a-c", count: $0) + "]" }),
    ("groups", { String(repeating: "(a)?", count: $0) }),
    ("quoted", { "\\Q" + String(repeating: "(", count: $0) + "\\E" }),
  ]

  @Test(arguments: [101, 2_000, 90_000])
  func `patterns that are nested too deeply are refused`(count: Int) {
    for form in Self.forms {
      let error = #expect(throws: HeartwoodError.self, "\(form.name)") {
        try RegularExpression(form.make(count))
      }
      #expect(error?.code == .invalidPredicate, "\(form.name)")
      #expect((error?.message.utf8.count ?? 0) < 1_000, "\(form.name)")
    }
  }

  @Test func `long patterns match, or are refused`() throws {
    for form in Self.flat {
      #expect(
        try matches(form.make(3_000), "a") == !["sequence", "quoted"].contains(form.name), "\(form.name)")
      #expect(throws: HeartwoodError.self, "\(form.name)") { try RegularExpression(form.make(200_000)) }
    }
    #expect(throws: HeartwoodError.self) { try RegularExpression("(((a{100}){100}){100}){100}") }
    #expect(throws: HeartwoodError.self) { try RegularExpression("(?:a|b){1000000000}") }
    #expect(try matches("(){1000000000}a{0}b?{0,1}".replacing("b?{0,1}", with: "b?"), "b"))
  }

  @Test(arguments: [
    "(a+)+$", "(a|a)*", "(a|aa)+", "(x+x+)+y", "(.*)*b", "([a-z]+)*\\d", "(a*)*(a*)*(a*)*c", "^(\\w+\\s?)*!$",
  ])
  func `repetitions in repetitions take a time that is linear in the text`(pattern: String) throws {
    // Trying all ways one after the other would not end.
    #expect(try !matches(pattern, String(repeating: "a", count: 20_000) + "-"))
  }

  @Test(arguments: ["(a+)+\\1b", "(?=(a+)+$)b|(a*)*\\2-", "(?:a++a*)*c|(a*)*\\1b"])
  func `a pattern that is followed step by step is refused after a number of steps`(pattern: String) throws {
    #expect(try matches(pattern, "aab") == RegularExpression(pattern).matches("aab"))
    let error = #expect(throws: HeartwoodError.self) {
      try matches("(a+)+\\1b", String(repeating: "a", count: 2_000))
    }
    #expect(error?.message.contains("steps") == true)
  }

  @Test func `a cancelled scan ends within the text of one row`() throws {
    let pattern = try RegularExpression("(a|b|ab)*c")
    let text = String(repeating: "ab", count: 200_000)
    let control = ScanControl()
    control.cancel()
    #expect(throws: CancellationError.self) { try control.during { try pattern.matches(text) } }
    #expect(throws: CancellationError.self) {
      try control.during { try RegularExpression("(a+)+\\1b").matches(String(repeating: "a", count: 2_000)) }
    }
    // A check of a save is not a part of a fetch.
    #expect(try !control.during { try pattern.matches(text, isCancellable: false) })
  }

  @Test func `a cancelled task ends the fetches of its blocks`() async throws {
    let (container, context) = try Self.world()
    _ = container
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await context.perform {
        try context.fetch(FetchRequest<ManagedObject>(entityName: "Line")).count
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(
      try await context.perform { try context.fetch(FetchRequest<ManagedObject>(entityName: "Line")).count }
        == 2)
  }

  // MARK: In fetches and rules

  private static func world() throws -> (PersistentStoreCoordinator, ManagedObjectContext) {
    let text = AttributeDescription(name: "text", type: .string)
    let line = EntityDescription(name: "Line", properties: [text])
    let coordinator = PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel(entities: [line]))
    try coordinator.addPersistentStore(with: PersistentStoreDescription())
    let context = ManagedObjectContext(.privateQueue, coordinator: coordinator)
    try context.performAndWait {
      for text in ["short", String(repeating: "a", count: 3_000)] {
        ManagedObject(entity: line, insertInto: context).setValue(text, forKey: "text")
      }
      try context.save()
    }
    return (coordinator, context)
  }

  @Test func `a fetch with a pattern of any form ends with a result or an error`() throws {
    let (coordinator, context) = try Self.world()
    _ = coordinator
    func count(_ pattern: String) throws -> Int {
      let request = FetchRequest<ManagedObject>(entityName: "Line")
      request.predicate = try FormatPredicate("text MATCHES %@", pattern)
      return try context.performAndWait { try context.count(for: request) }
    }
    #expect(try count("(a+)+") == 1)
    #expect(try count("(\\w)\\w*") == 2)
    for form in Self.forms { #expect(throws: HeartwoodError.self) { try count(form.make(2_000)) } }
    let error = #expect(throws: HeartwoodError.self) { try count("(a+)+\\1b") }
    #expect(error?.message.contains("steps") == true)
  }

  @Test func `a rule with such a pattern is a mistake of the model, or is not fulfilled`() throws {
    for form in Self.forms {
      let attribute = AttributeDescription(name: "text", type: .string)
      attribute.validationRules = [.pattern(form.make(2_000))]
      let model = ManagedObjectModel(entities: [EntityDescription(name: "Line", properties: [attribute])])
      #expect(throws: (any Error).self, "\(form.name)") { try PersistentStoreCoordinator(checking: model) }
    }
    let rule = ValidationRule.pattern("(a+)+\\1b")
    #expect(rule.failure(of: .string("aab"), .string) == nil)
    let long = Value.string(String(repeating: "a", count: 3_000))
    #expect(rule.failure(of: long, .string) == .validationStringPatternMatching)
  }
}

extension Collection {
  fileprivate func randomElement(_ random: inout SplitMix64) -> Element {
    self[index(startIndex, offsetBy: random.below(count))]
  }
}
