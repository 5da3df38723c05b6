import Foundation
import GraphTestSupport
import Testing

@testable import Heartwood

@Suite struct FormatPredicateTests {
  let world: PredicateWorld

  init() throws { world = try .sample() }

  @Test(arguments: [
    ("population > 1000000", [1, 3]), ("population >= 116269 AND population < 2102650", [2, 3]),
    ("population = 116269", [2]), ("population <> 116269", [1, 3, 4]), ("population =< 116269", [2]),
    ("population => 2102650", [1]), ("116269 < population", [1, 3]), ("population == nil", [4]),
    ("population != NULL", [1, 2, 3]), ("NOT population > 1000000", [2, 4]),
    ("!(population > 1000000)", [2, 4]),
    ("population BETWEEN {100000, 1100000}", [2, 3]), ("population IN {116269, 1073096, 1.5}", [2, 3]),
    ("population NOT IN {116269}", [1, 3, 4]), ("population IN {nil, 116269}", [2, 4]),
    ("population > 116268.5 && population < 1e6", [2]), ("population + 1 == 116270", [2]),
    ("-population < -2000000", [1]), ("population / 2 * 2 == population", [1, 3, 4]),
    ("small == 75", [1]), ("small < 40000", [1]), ("small > 40000", []), ("medium == -1", [1]),
    ("area > 105", [1]), ("area == 105.4", [1]), ("height == 35.1", [1]), ("budget == 12.34", [1]),
    ("budget > 12 AND budget < 13", [1]), ("isOld == TRUE", [1]), ("isOld == NO", [2]), ("isOld == 1", [1]),
    ("isOld != YES", [2, 3, 4]), ("founded < \"2001-01-01\"", [1]),
    ("founded == CAST(-1000, \"NSDate\")", [1]),
    ("tag == \"7d3b8e0a-1111-4222-8333-944455556666\"", [2]), ("arms == CAST(\"AQID\", \"NSData\")", [2]),
    ("page BEGINSWITH 'https'", [1]), ("page == 'https://www.paris.fr/'", [1]),
    ("name BEGINSWITH 'P'", [1]), ("name BEGINSWITH[c] 'p'", [1]), ("name ENDSWITH \"ns\"", [2]),
    ("name CONTAINS 'l'", [2, 3]), ("name CONTAINS[cd] 'LEA'", [2]), ("name LIKE '*ar?s'", [1]),
    ("name LIKE[c] 'k\u{F6}L?'", [3]), ("name LIKE[cd] 'kol?'", [3]), ("name MATCHES 'P.*s'", [1]),
    ("name MATCHES[c] 'p....'", [1]), ("name ==[c] 'PARIS'", [1]), ("name ==[d] 'Koln'", [3]),
    ("name !=[cd] 'koln'", [1, 2, 4]), ("name IN[c] {'paris', 'rome'}", [1]), ("'ari' IN name", [1]),
    ("name > 'L' AND name < 'Q'", [1, 2]), ("name == 'Orle\u{301}ans'", [2]),
    ("country.code == 'FR'", [1, 2]), ("country.code != 'FR'", [3, 4]), ("country == nil", [4]),
    ("country.area == nil", [4]), ("country.code IN {'DE', 'IT'}", [3]),
    ("SELF == 'x-coredata://7D3B8E0A-1111-4222-8333-944455556666/City/p2'", [2]),
    ("TRUEPREDICATE", [1, 2, 3, 4]), ("FALSEPREDICATE OR population == 116269", [2]),
    ("isOld == TRUE OR population == 1073096 AND country.code == 'FR'", [1]),
    ("country.cities.@count == 2", [1, 2]), ("country.seat.name == 'Paris'", []),
  ])
  func `a predicate finds the cities that it describes`(_ format: String, _ keys: [UInt64]) throws {
    let predicate = try FormatPredicate(format)
    #expect(try world.keys(world.city, predicate) == keys)
    let text = predicate.description
    let again = try FormatPredicate(text)
    #expect(again.description == text)
    #expect(try world.keys(world.city, again) == keys)
  }

  @Test(arguments: [
    ("ANY cities.name == 'Paris'", [1]), ("SOME cities.population > 1000000", [1, 2]),
    ("ALL cities.population > 1000000", [2, 3]), ("NONE cities.population > 2000000", [2, 3]),
    ("ANY cities.name BEGINSWITH[cd] 'K'", [2]), ("ANY cities.population IN {116269}", [1]),
    ("ANY cities.population ==[cd] 116269", [1]), ("cities.@count >=[c] 2", [1]),
    ("cities.@count == 0", [3]), ("cities.@count > 1", [1]), ("cities.@sum.population > 2000000", [1]),
    ("cities.@sum.population == 0", [3]), ("cities.@min.population < 1000000", [1]),
    ("cities.@max.population == 1073096", [2]), ("cities.@avg.population > 1100000", [1]),
    ("cities.@avg.population == nil", [3]), ("cities.@median.population == 1109459.5", [1]),
    ("cities.@mode.population == 116269", [1]), ("cities.@stddev.population == 993190.5", [1]),
    ("cities.@stddev.population == 0", [2]), ("cities.@median.population == nil", [3]),
    ("ANY neighbours.code == 'DE'", [1, 3]),
    ("ANY cities == 'x-coredata://7D3B8E0A-1111-4222-8333-944455556666/City/p3'", [2]),
    ("cities CONTAINS 'x-coredata://7D3B8E0A-1111-4222-8333-944455556666/City/p3'", [2]),
    ("SUBQUERY(cities, $c, $c.population > 1000000 AND $c.name == 'Paris').@count > 0", [1]),
    ("SUBQUERY(cities, $c, $c.population > 1000000).@count == 0", [3]),
    ("SUBQUERY(cities, $c, $c.population > 0).@count >= 2", [1]),
    ("SUBQUERY(neighbours, $n, $n.area > area).@count != 0", [2]),
    (
      "SUBQUERY(neighbours, $n, SUBQUERY($n.cities, $c, $c.name == 'Paris' AND #any == nil).@count > 0).@count > 0",
      [2]
    ),
    ("#any == 7", [1]), ("SELF.any == 7", [1]),
  ])
  func `a predicate finds the countries that it describes`(_ format: String, _ keys: [UInt64]) throws {
    let predicate = try FormatPredicate(format)
    #expect(try world.keys(world.country, predicate) == keys)
    let text = predicate.description
    let again = try FormatPredicate(text)
    #expect(again.description == text)
    #expect(try world.keys(world.country, again) == keys)
  }

  @Test func `arguments replace placeholders in their order`() throws {
    let france = world.identifier(world.country, 1)
    let cases: [(FormatPredicate, [UInt64])] = [
      (try FormatPredicate("%K > %@ AND name BEGINSWITH %@", "population", 100, "P"), [1]),
      (try FormatPredicate("%K == %@", "country.code", "DE"), [3]),
      (try FormatPredicate("population IN %@", [116_269, 1_073_096]), [2, 3]),
      (try FormatPredicate("population BETWEEN %@", [0, 200_000]), [2]),
      (try FormatPredicate("population > %d AND area < %f", 5, 1e9), [1]),
      (try FormatPredicate("country == %@", france), [1, 2]),
      (try FormatPredicate("country IN %@", [france]), [1, 2]),
      (try FormatPredicate("population == %@", nil), [4]),
      (try FormatPredicate("name == %@", Optional<String>.none), [4]),
      (try FormatPredicate("%@ == name", "Paris"), [1]),
      (try FormatPredicate("founded <= %@", Date(timeIntervalSinceReferenceDate: -1000)), [1]),
      (try FormatPredicate("arms == %@", Data([1, 2, 3])), [2]),
      (try FormatPredicate("tag == %@", PredicateWorld.storeUUID), [2]),
      (try FormatPredicate("page == %@", URL(string: "https://www.paris.fr/")), [1]),
      (try FormatPredicate("budget == %@", Decimal(string: "12.34")), [1]),
      (try FormatPredicate("isOld == %@", true), [1]),
      (try FormatPredicate("%K.@count == 2", "country.cities"), [1, 2]),
      (try FormatPredicate("%K == 2", "country.cities.@count"), [1, 2]),
      (try FormatPredicate("name == '%@'"), []),
    ]
    for (predicate, keys) in cases {
      #expect(try world.keys(world.city, predicate) == keys, "\(predicate)")
    }
  }

  @Test(arguments: [
    ("", 1, "it is empty"), ("population + 1", 1, "must be compared"), ("population >", 13, "the end"),
    ("population > 5 AND", 19, "the end"), ("population > 5)", 15, "')'"),
    ("(population > 5", 16, "column 1"),
    ("name == 'x", 9, "not closed"), ("name == 5x", 9, "neither a number"), ("population ~ 5", 12, "'~'"),
    ("name ==[x] 'x'", 9, "'x'"), ("name ==[c 'x'", 11, "']'"), ("a == %@", 6, "no argument"),
    ("a == %q", 6, "placeholder"), ("a == $x.", 9, "property's name"), ("a.@foo == 1", 3, "@count"),
    ("@sum == 1", 1, "@sum.population"), ("a.@sum == 1", 3, "@sum.population"),
    ("a.@count.b == 1", 3, "@count"),
    ("a == 1 == 2", 8, "join it"), ("a + 1 OR b == 1", 1, "must be compared"), ("IN {1}", 1, "#IN"),
    ("a IN {1, 2", 11, "'}'"),
    ("no == 5", 1, "written #no"), ("no > 3", 1, "the constant false, which"),
    ("nil == 5", 1, "written #nil"),
    ("Yes == 'x'", 1, "written #Yes"), ("5 == no", 6, "written #no"), ("no IN {5}", 1, "written #no"),
    ("no BETWEEN {2, 9}", 1, "written #no"), ("no + 1 == 6", 1, "written #no"),
    ("no.a == 1", 1, "written #no"),
    ("no[0] == 1", 1, "written #no"), ("not == 5", 1, "written #not"), ("not IN {1}", 1, "written #not"),
    ("any == 5", 1, "written #any"), ("any.x > 1", 1, "written #any"), ("b == 1 AND all", 12, "written #all"),
    ("NOT in == 2", 5, "written #in"), ("a == 1 AND NOT between > 2", 16, "written #between"),
    ("In == 1", 1, "written #In"), ("and == 1", 1, "written #and"), ("like LIKE 'x'", 1, "written #like"),
    ("a == 1 b == 2", 8, "AND, OR"), ("a. == 1", 4, "property's name"), ("ANY a", 6, "comparison after ANY"),
    ("CAST('x', 'NSDate') == 1", 1, "NSDate"), ("a == 'x\\u12'", 8, "hexadecimal"),
    ("a + b", 1, "must be compared"), ("a[x] == nil", 3, "FIRST, LAST or SIZE"),
    ("lowercas(x) == 'y'", 1, "no function 'lowercas'"), ("a < now(1)", 5, "takes 0 argument"),
    ("FUNCTION(a, 'b:') == 1", 13, "no function \"b:\""), ("TERNARY(a, 1) == 1", 1, "two values"),
    ("sqrt(a, 1) == 1", 1, "takes 1 argument"), ("a == 0xG", 6, "neither a number"),
    ("a == 0b12", 6, "base of 2"),
    ("a % 2 == 0", 3, "modulus"), ("CAST(1, 'X') == 1", 1, "NSDate, NSNumber"),
    ("a: == 1", 1, "arguments in parentheses"),
    ("SUBQUERY(a, b, c == 1).@count == 0", 13, "variable"), ("\u{E9}\u{E9} == ,", 7, "','"),
  ])
  func `an invalid text is refused with its column`(_ format: String, _ column: Int, _ part: String) {
    let error = #expect(throws: HeartwoodError.self) { try FormatPredicate(format) }
    let message = error?.message ?? ""
    #expect(message.contains("at column \(column):"), "\(message)")
    #expect(message.contains(part), "\(message)")
  }

  @Test(arguments: [
    "NO == 0", "YES == 1", "NO != nil", "'a' != nil", "NO == FALSE", "isOld == NO", "NOT NO == YES", "no",
    "NO == %@",
  ])
  func `constants are compared with what they can be`(format: String) throws {
    _ = try format.contains("%") ? FormatPredicate(format, 7) : FormatPredicate(format)
  }

  @Test func `a word of the language is a property's name wherever it is escaped`() throws {
    for word in [
      "no", "in", "Any", "not", "NIL", "self", "between", "subquery", "cast", "union", "anykey", "true",
    ] {
      for format in [
        "#W == 5", "#W.#W == 5", "a.#W == 5", "5 == #W", "#W + #W == 5", "ANY #W.#W == 5", "NOT #W == 5",
        "#W BETWEEN {1, #W}", "#W IN {1}", "lowercase(#W) == 'x'", "CAST(#W, 'NSString') == 'x'",
        "SUBQUERY(#W, $x, $x.#W == 5).@count > 0", "#W.@sum.#W > 5", "#W[0].#W == 5", "$x.#W == 5",
        "TERNARY(#W == 1, #W, 2) == #W", "FUNCTION(#W, 'uppercase:') == 'x'", "(#W) == 5", "-#W == 5", "#W",
      ] {
        let text = format.replacing("#W", with: "#\(word)")
        let predicate = try FormatPredicate(text)
        #expect(try FormatPredicate(predicate.description).description == predicate.description, "\(text)")
      }
    }
  }

  @Test func `arguments that do not fit are refused by number`() {
    expectRefusal("argument 1 is a string; %d takes an integer") { try FormatPredicate("a == %d", "x") }
    expectRefusal("%K takes the name") { try FormatPredicate("%K == 1", 5) }
    expectRefusal("2 arguments are given") { try FormatPredicate("a == %@", 1, 2) }
    expectRefusal("only 1 is given") { try FormatPredicate("a == %@ OR b == %@", 1) }
  }

  @Test(arguments: [
    ("populatio > 5", "column 1: City has no property 'populatio'; it has area, arms,"),
    ("population > 5 AND country.cod == 1", "column 20: Country has no property 'cod'"),
    (
      "population == 'x'",
      "City.population is an integer and cannot be compared with the text \"x\"; it wants a number"
    ),
    ("name > 5", "City.name is a text and cannot be compared with the constant 5"),
    ("founded == 5", "it wants a date such as"), ("isOld == 2", "it wants TRUE or FALSE"),
    ("tag == 'x'", "a UUID"),
    ("population CONTAINS 5", "CONTAINS compares texts"), ("name CONTAINS 5", "wants a text"),
    ("population IN 5", "needs a list"),
    ("population == {1}", "IN or BETWEEN"),
    ("population BETWEEN {1}", "list of two"),
    ("population", "City.population is a number and must be compared"),
    ("$LIMIT < population", "$LIMIT has no value"),
    ("uppercase(population) == 'x'", "uppercase needs a text"), ("year(name) == 1", "year needs a date"),
    ("sum(name) == 1", "sum needs a list"), ("sqrt(name) == 1", "sqrt needs numbers"),
    ("TERNARY(isOld, 1, 'x') == 1", "values of one kind"), ("coalesce(name, 1) == 1", "values of one kind"),
    ("year(founded, 'Nowhere') == 1", "no time zone"), ("country.cities[0] == nil", "is not ordered"),
    ("CAST(SELF, 'Country').code == 'FR'", "City is never a Country"),
    (
      "CAST(SELF, 'Town').name == 'x'",
      "an entity that it may be, Capital, City, or for an attribute a type"
    ),
    ("CAST(name, 'Capital') == 'x'", "City.name cannot be cast to Capital"),
    ("entity == 'Town'", "it is one of Capital, City"), ("country.cities.@sum.name == 1", "needs numbers"),
    ("{1, 2} == population", "a list"),
    ("population IN country.cities.name", "cannot be compared with City.population"),
    ("name.length == 5", "City.name is an attribute: 'length' cannot follow"),
    ("country == 5", "wants an object of Country"), ("country > nil", "==, != and IN only"),
    ("country.cities == nil", "to-many relationship: say ANY"), ("country.cities.name == 'x'", "say ANY"),
    ("ANY name == 'x'", "leads over no to-many"),
    ("name == population", "cannot be compared with City.population"),
    ("name + 1 == 5", "needs numbers"), ("country.cities.@sum.name == 5", "needs numbers"),
    ("name MATCHES '('", "regular expression"), ("country.@count == 1", "is no to-many"),
    ("country == 'x-coredata://7D3B8E0A-1111-4222-8333-944455556666/City/p2'", "wants an object of Country"),
  ])
  func `names and values that do not fit the entity are refused by name`(_ format: String, _ part: String)
    throws
  {
    let predicate = try FormatPredicate(format)
    expectRefusal(part) { try CompiledPredicate(predicate, entity: world.city) }
  }

  @Test func `texts beyond the limits of nesting and size are refused`() throws {
    let deep = String(repeating: "(", count: 500) + "a == 1" + String(repeating: ")", count: 500)
    expectRefusal("nested deeper than 200") { try FormatPredicate(deep) }
    expectRefusal("nested deeper than 200") {
      try FormatPredicate(String(repeating: "NOT ", count: 50_000) + "a == 1")
    }
    let sum = Array(repeating: "a", count: 300).joined(separator: " + ") + " > 1"
    expectRefusal("nested too deeply") { try FormatPredicate(sum) }
    let long = Array(repeating: "population == 1", count: 4000).joined(separator: " OR ")
    expectRefusal("more than 10000 parts") { try FormatPredicate(long) }
    let many = Array(repeating: "population == 116269", count: 3000).joined(separator: " OR ")
    #expect(try world.keys(world.city, FormatPredicate(many)) == [2])
    var condition = try FormatPredicate("a == 1").condition
    for _ in 0..<100_000 { condition = !condition }
    expectRefusal("nested deeper than 200") { [condition] in
      try CompiledPredicate(condition, entity: world.city)
    }
  }
}

/// Expects an error whose message contains a part.
func expectRefusal<Result>(
  _ part: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) {
  let error = #expect(throws: HeartwoodError.self, sourceLocation: sourceLocation) { _ = try body() }
  let message = error?.message ?? ""
  #expect(message.contains(part), "\(message)", sourceLocation: sourceLocation)
}

@Suite struct `Constants without a literal` {
  @Test(arguments: [
    "founded < CAST(CAST(\"inf\", \"NSNumber\"), \"NSDate\")",
    "founded > CAST(CAST(\"-inf\", \"NSNumber\"), \"NSDate\")",
    "founded == CAST(CAST(\"nan\", \"NSNumber\"), \"NSDate\")", "area < CAST(\"inf\", \"NSNumber\")",
    "area < CAST(\"-inf\", \"NSNumber\")",
  ])
  func `a constant that is infinite or no number is described as it is`(_ format: String) throws {
    let text = try FormatPredicate(format).description
    #expect(!text.contains("CAST(0,"))
    #expect(try FormatPredicate(text).description == text)
  }
}
