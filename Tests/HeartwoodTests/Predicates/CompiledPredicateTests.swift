import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood
@testable import HeartwoodModel

@Suite struct CompiledPredicateTests {
  let world: PredicateWorld

  init() throws { world = try .sample() }

  private func conjuncts(_ format: String, _ entity: EntityDescription? = nil) throws -> [String] {
    let compiled = try CompiledPredicate(FormatPredicate(format), entity: entity ?? world.city)
    return compiled.conjuncts.map { describe($0, entity) }
  }

  /// Forms with names instead of slots, so that tests read like the predicate.
  private func describe(_ conjunct: Conjunct, _ entity: EntityDescription? = nil) -> String {
    let entity = entity ?? world.city
    let name = { (slot: Int) in entity.property(at: slot).name }
    switch conjunct {
    case .equal(let slot, let value): return "\(name(slot)) == \(value)"
    case .range(let slot, let lower, let upper):
      let low = lower.map { "\($0.value) \($0.isInclusive ? "<=" : "<") " } ?? ""
      let high = upper.map { " \($0.isInclusive ? "<=" : "<") \($0.value)" } ?? ""
      return "\(low)\(name(slot))\(high)"
    case .prefix(let slot, let text): return "\(name(slot)) begins \(text)"
    case .word(let slot, let word, let isPrefix): return "\(name(slot)) has \(word)\(isPrefix ? "*" : "")"
    case .isIn(let slot, let values): return "\(name(slot)) in \(values)"
    case .identity(let keys): return "keys \(keys)"
    case .throughToOne(let slot, let inner): return "\(name(slot)) -> \(describe(inner, world.country))"
    case .throughToMany(let slot, let inner): return "\(name(slot)) ->> \(describe(inner, world.city))"
    case .containsDestination(let slot, let key): return "\(world.country.property(at: slot).name) has \(key)"
    case .all(let parts): return "(\(parts.map { describe($0, entity) }.joined(separator: " AND ")))"
    case .any(let parts): return "(\(parts.map { describe($0, entity) }.joined(separator: " OR ")))"
    case .present(let slot): return "\(name(slot)) there"
    case .constant(let value): return "\(value)"
    case .other: return "other"
    }
  }

  @Test func `queries of words are words that the text must have, and a test unless they say all`() throws {
    #expect(try conjuncts("name MATCHESWORDS 'Heart'") == ["name has heart"])
    #expect(
      try conjuncts("name MATCHESWORDS 'a b* (c OR d)'") == [
        "name has a", "name has b*", "(name has c OR name has d)",
      ])
    #expect(
      try conjuncts("name MATCHESWORDS '\"a b\" -c'") == ["name has a", "name has b", "other", "other"])
    #expect(try conjuncts("name MATCHESWORDS 'a OR (b -c)'") == ["(name has a OR (name has b AND other))"])
    #expect(try conjuncts("name MATCHESWORDS 'a OR -b'") == ["other"])
    #expect(try conjuncts("name MATCHESWORDS '-b'") == ["other"])
    #expect(try conjuncts("name MATCHESWORDS '?'") == ["false"])
  }

  @Test func `conditions that an index may serve are named with values of the column's kind`() throws {
    #expect(
      try conjuncts("population == 5 AND (name BEGINSWITH 'P' AND area > 1) AND isOld == TRUE")
        == ["population == 5", "name begins P", "1.0 < area", "isOld == true"])
    #expect(try conjuncts("population > 1.5") == ["2 <= population"])
    #expect(
      try conjuncts("population < 2 AND population >= -1.5") == ["population <= 1", "-1 <= population"])
    #expect(try conjuncts("population BETWEEN {1, 9.5}") == ["1 <= population <= 9"])
    #expect(try conjuncts("population > 4 AND population == 4.5") == ["5 <= population", "false"])
    #expect(try conjuncts("small < 40000") == ["-32768 <= small"])
    #expect(try conjuncts("small > 40000 AND small != 40000") == ["false", "true"])
    #expect(try conjuncts("area == 5 AND budget <= 1.1") == ["area == 5.0", "budget <= 1.1"])
    #expect(try conjuncts("population IN {1, 2, 2.5, 1}") == ["population in [1, 2]"])
    #expect(
      try conjuncts("population == 1 OR population IN {2} OR population == nil") == [
        "population in [1, 2, nil]"
      ])
    #expect(try conjuncts("population == nil AND founded == CAST(5, 'NSDate')").first == "population == nil")
    #expect(try conjuncts("country.code == 'FR'") == ["country -> code == \"FR\""])
    #expect(try conjuncts("TRUEPREDICATE") == ["true"])
    #expect(try conjuncts("population != nil") == ["population there"])
    #expect(
      try conjuncts("name == 'x' OR population > 1 AND (area == 5 OR area == 6) AND name LIKE 'y'") == [
        "(name == \"x\" OR (2 <= population AND area in [5.0, 6.0] AND other))"
      ])
    #expect(try conjuncts("name == 'x' OR name LIKE 'y' OR NOT area == 5") == ["other"])
    #expect(try conjuncts("ANY cities.name == 'x'", world.country) == ["cities ->> name == \"x\""])
    #expect(try conjuncts("ANY cities.name LIKE 'x'", world.country) == ["other"])
    #expect(try conjuncts("NONE cities.name == 'x'", world.country) == ["other"])
  }

  @Test func `conditions that need a row are named other`() throws {
    for format in [
      "name ==[c] 'p'", "name BEGINSWITH[d] 'p'", "name != 'p'", "NOT population == 1",
      "population == 1 OR area + 0 == 1",
      "country.code == nil", "country.code != 'FR'", "population + 1 == 2", "name LIKE 'p*'",
      "name IN[c] {'p'}",
      "area + 0 < 18446744073709551617.5", "country.cities.@count == 1",
    ] {
      #expect(try conjuncts(format) == ["other"], "\(format)")
    }
  }

  @Test func `objects are named by key, and objects of another store never match`() throws {
    let uuid = PredicateWorld.storeUUID.uuidString
    let paris = "'x-coredata://\(uuid)/Capital/p1'"
    #expect(try conjuncts("SELF == \(paris)") == ["keys [1]"])
    #expect(try conjuncts("SELF IN {\(paris), \(paris)}") == ["keys [1]"])
    #expect(
      try conjuncts("country == 'x-coredata://\(uuid)/Country/p2'").first?.hasPrefix("country == ") == true)
    #expect(try conjuncts("ANY cities == \(paris)", world.country) == ["cities has 1"])
    #expect(try conjuncts("cities CONTAINS \(paris)", world.country) == ["cities has 1"])
    let elsewhere = StoreIdentity(uuid: UUID())
    let compiled = try CompiledPredicate(
      FormatPredicate("SELF == \(paris)"), entity: world.city, store: elsewhere)
    let row = try #require(try world.row(world.city, 1))
    #expect(try !compiled.matches(row, key: 1, in: world))
  }

  @Test func `a predicate reports whether it reads other rows`() throws {
    for (format, reads) in [
      ("population == 1", false), ("country == nil", false), ("country.code == 'x'", true),
      ("country.cities.@count == 1", true),
    ] {
      #expect(try CompiledPredicate(FormatPredicate(format), entity: world.city).readsOtherRows == reads)
    }
  }

  @Test func `a missing value equals nil only and is in no order`() throws {
    #expect(try world.keys(world.city, FormatPredicate("population != 5")).contains(4))
    for format in [
      "population == 5", "population < 5", "population > 5", "population <= nil", "population >= nil",
      "name < 'x'",
      "population BETWEEN {0, 9}", "name BEGINSWITH ''", "name CONTAINS ''", "name LIKE '*'",
      "country.code == 'FR'",
      "population IN {1, 2}", "population == area + 1 AND population != nil",
    ] {
      #expect(try !world.keys(world.city, FormatPredicate(format)).contains(4), "\(format)")
      if format.contains("AND") { continue }
      #expect(try world.keys(world.city, FormatPredicate("NOT (\(format))")).contains(4), "\(format)")
    }
    for format in [
      "population == nil", "population == area", "country.code == nil", "country == nil", "name IN {nil}",
    ] {
      #expect(try world.keys(world.city, FormatPredicate(format)).contains(4), "\(format)")
    }
  }

  @Test func `no row is read to compare destinations by identity`() throws {
    let uuid = PredicateWorld.storeUUID.uuidString
    let compiled = try CompiledPredicate(
      FormatPredicate("ANY cities == 'x-coredata://\(uuid)/City/p2'"), entity: world.country)
    let row = try #require(try world.row(world.country, 1))
    let before = world.rowReads
    #expect(try compiled.matches(row, key: 1, in: world))
    #expect(world.rowReads == before)
  }

  @Test func `properties of subentities exist in those subentities only`() throws {
    #expect(try world.keys(world.capital, FormatPredicate("since == 987 AND name == 'Paris'")) == [1])
    expectRefusal("City has no property 'since'") {
      try CompiledPredicate(FormatPredicate("since == 987"), entity: world.city)
    }
  }
}

@Suite struct WildcardTests {
  @Test(arguments: [
    ("", "", true), ("*", "", true), ("?", "", false), ("a*c", "abbbc", true), ("a*c", "abbbd", false),
    ("*b*b*", "aabab", true), ("*b*b*", "aab", false), ("\\*", "*", true), ("\\*", "a", false),
    ("\\?x", "?x", true),
    ("a\\\\b", "a\\b", true), ("?", "\u{E9}", true), ("??", "\u{E9}", false),
    ("*\u{E9}", "cafe\u{301}", true),
  ])
  func `stars and question marks stand for characters`(_ pattern: String, _ text: String, _ isMatch: Bool)
    throws
  {
    #expect(try TextPattern(.like, pattern, []).matches(text) == isMatch)
  }

  @Test func `a pattern with many stars is matched in bounded time`() throws {
    let pattern = try TextPattern(.like, String(repeating: "a*", count: 50) + "b", [])
    #expect(try !pattern.matches(String(repeating: "a", count: 500)))
  }
}
