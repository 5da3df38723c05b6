import Foundation
import GraphTestSupport
import HeartwoodFaults
import Testing

@testable import Heartwood
@testable import HeartwoodModel

@Suite struct `Functions in conditions` {
  let world: PredicateWorld

  init() throws { world = try .sample() }

  private func expect(_ format: String, _ entity: EntityDescription, _ keys: [UInt64]) throws {
    let predicate = try FormatPredicate(format)
    #expect(try world.keys(entity, predicate) == keys, "\(format)")
    let text = predicate.description
    let again = try FormatPredicate(text)
    #expect(again.description == text)
    #expect(try world.keys(entity, again) == keys, "\(text)")
  }

  // FET-37.
  @Test(arguments: [
    ("modulus:by:(population, 10) == 6", [3]), ("modulus(population, 7) == 0", []),
    ("small ** 2 == 5625", [1]),
    ("raise:toPower:(small, 2) == 5625", [1]), ("power(2, 3) ** 2 == 64 AND small == 75", [1]),
    ("2 ** 3 ** 2 == 512 AND small == 75", [1]), ("-2 ** 2 == -4 AND small == 75", [1]),
    ("(-2) ** 2 == 4 AND small == 75", [1]), ("sqrt(small + 6) == 9", [1]),
    ("sqrt:(-small) == nil AND small != nil", [1]),
    ("log(small + 25) == 2", [1]), ("ln(exp(small)) > 74.9 AND ln(exp(small)) < 75.1", [1]),
    ("exp(0) == 1 AND small == 75", [1]),
    ("floor(area) == 105", [1]), ("ceiling:(area) == 106", [1]), ("trunc(-area) == -105", [1]),
    ("round(area) == 105", [1]),
    ("round(area, -1) == 110", [1]), ("round(area, -9223372036854775808) == nil", [1, 2, 3, 4]),
    ("abs(medium) == 1", [1]), ("floor(budget) == 12", [1]),
    ("round:(budget, 1) == 12.3", [1]),
    ("(small & 3) == 3", [1]), ("small & 3 == 3", [1]), ("(small | 4) == 79", [1]),
    ("(small ^ 1) == 74", [1]),
    ("~small == -76", [1]), ("small << 1 == 150", [1]), ("rightshift:by:(small, 1) == 37", [1]),
    ("FUNCTION(small, 'add:to:', 5) == 80", [1]), ("add:to:(small, 5) == 80", [1]),
    ("from:subtract:(small, 5) == 70", [1]),
    ("multiply:by:(small, 2) == 150", [1]), ("divide:by:(small, 2) == 37", [1]),
    ("noindex:(small) == 75", [1]),
    ("small / 0 == nil AND small != nil", [1]),
    ("random() < 1 AND random(3) IN {0, 1, 2} AND small == 75", [1]),
    ("distance(48.85, 2.35, 52.52, 13.4) > 877000 AND small == 75", [1]),
    ("distanceToLocation:fromLocation:({0, 0}, {0, 1}) < 111200 AND small == 75", [1]),
  ])
  func `functions of numbers are computed in every spelling`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.city, keys)
  }

  // FET-37.
  @Test(arguments: [
    ("uppercase:(name) == 'PARIS'", [1]), ("UPPERCASE(name) BEGINSWITH 'ORL'", [2]),
    ("lowercase(name) == 'k\u{F6}ln'", [3]),
    ("FUNCTION(name, 'uppercase:') == 'PARIS'", [1]), ("FUNCTION(name, 'lowercaseString') == 'paris'", [1]),
    ("canonical(name) == 'koln'", [3]), ("length(name) == 5", [1]), ("length(arms) == 3", [2]),
    ("FUNCTION(name, 'length') > 5", [2]), ("name + '!' == 'Paris!'", [1]),
    ("lowercase(nil) == nil", [1, 2, 3, 4]),
    ("'PAR' IN uppercase(name)", [1]), ("uppercase(name) IN {'PARIS', 'ORL\u{C9}ANS'}", [1, 2]),
    ("uppercase(country.code) == 'FR'", [1, 2]), ("lowercase(name) MATCHES 'p.*'", [1]),
    ("uppercase(name) ==[d] 'KOLN'", [3]), ("coalesce(name, '?') == '?'", [4]),
    ("coalesce(nil, name) == 'Paris'", [1]),
  ])
  func `functions of texts are computed in every spelling`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.city, keys)
  }

  // FET-37.
  @Test(arguments: [
    ("year(founded) == 2000", [1]), ("month:(founded) == 12", [1]), ("day(founded) == 31", [1]),
    ("hour(founded) == 23", [1]),
    ("minute(founded) == 43", [1]), ("second(founded) == 20", [1]), ("weekday(founded) == 1", [1]),
    ("week(founded) == 52", [1]),
    ("quarter(founded) == 4", [1]), ("dayOfYear(founded) == 366", [1]),
    ("year(founded, 'Europe/Berlin') == 2001", [1]),
    ("hour(founded, 'America/New_York') == 18", [1]), ("founded < now()", [1]), ("founded < now:()", [1]),
    ("founded < now() - 86400", [1]),
    ("now() - founded > 86400", [1]), ("founded + 1000 == '2001-01-01'", [1]),
    ("CAST(founded, 'NSNumber') == -1000", [1]), ("castObject:toType:(founded, 'NSNumber') < 0", [1]),
    ("CAST(CAST(now(), 'NSNumber') - 3600, 'NSDate') > founded", [1]),
    ("year(CAST(0, 'NSDate')) == 2001 AND small == 75", [1]),
    ("FUNCTION(founded, 'timeIntervalSinceDate:', CAST(-2000, 'NSDate')) == 1000", [1]),
    ("CAST(small, 'NSString') == '75'", [1]), ("CAST('75', 'NSInteger') == small", [1]),
    ("CAST(CAST(0.5, 'NSDate'), 'NSString') == '2001-01-01T00:00:00.500Z' AND small == 75", [1]),
    ("CAST(founded, 'NSString') == '2000-12-31T23:43:20Z'", [1]),
    ("CAST(area, 'Int') == 105", [1]), ("CAST(name, 'NSNumber') == nil", [1, 2, 3, 4]),
  ])
  func `components of dates and casts are computed by the store`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.city, keys)
  }

  // FET-37.
  @Test(arguments: [
    ("max({small, medium, 7}) == 75", [1]), ("min(small, medium) == -1", [1]),
    ("sum:({1, 2, 3}) == 6 AND small == 75", [1]),
    ("average(1, 2, small) == 26", [1]), ("median({1, 5, small}) == 5", [1]),
    ("mode(1, 1, small) == 1", [1, 2, 3, 4]),
    ("stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2 AND small == 75", [1]), ("count({small, population}) == 2", [1]),
    ("TERNARY(population > 1000000, 'large', 'small') == 'large'", [1, 3]),
    ("TERNARY(isOld, population, nil) == 2102650", [1]), ("TERNARY(isOld == TRUE, TRUE, FALSE)", [1]),
    ("{10, small, 30}[1] == 75", [1]), ("{10, small}[LAST] == 75", [1]),
    ("{10, small}[SIZE] == 2", [1, 2, 3, 4]),
    ("small IN {1, 75} INTERSECT {75, 80}", [1]), ("small IN {1, 75} MINUS {75}", []),
    ("small IN {1} UNION {75}", [1]),
    ("isOld", [1]), ("NOT isOld", [2, 3, 4]), ("isOld OR name == 'K\u{F6}ln'", [1, 3]),
    ("isOld AND country.code == 'FR'", [1]),
  ])
  func `functions of lists and conditional values are computed`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.city, keys)
  }

  // FET-30, FET-37.
  @Test(arguments: [
    ("cities.@median.population == 1109459.5", [1]), ("cities.@mode.population == 116269", [1]),
    ("cities.@stddev.population == 993190.5", [1]), ("sum(cities.population) > 2000000", [1]),
    ("max:(cities.population) == 1073096", [2]), ("average(cities.population) > 1100000", [1]),
    ("count(cities) == 2", [1]),
    ("count(cities.area) == 1", [1]), ("'Paris' IN cities.name", [1]), ("cities.name CONTAINS 'Paris'", [1]),
    ("'Paris' IN cities.@distinctUnionOfObjects.name", [1]),
    ("cities.@unionOfObjects.name CONTAINS 'Paris'", [1]),
    ("cities.@distinctUnionOfObjects.country.@count == 1", [1, 2]),
    ("count(cities.@unionOfObjects.country) == 2", [1]),
    ("neighbours.cities.@count == 2", [2]), ("neighbours.cities.@sum.population == 2218919", [2]),
    ("neighbours.@max.cities.population == 2102650", [2]),
    ("sum(neighbours.cities.population) == 2218919", [2]),
    ("'Paris' IN neighbours.cities.name", [2]),
    ("SUBQUERY(cities, $c, $c.population > 1000000).@max.population > 2000000", [1]),
    ("SUBQUERY(cities, $c, TRUEPREDICATE).@sum.($c.population * 2) == 2146192", [2]),
    ("'Paris' IN SUBQUERY(cities, $c, $c.population > 1000000).name", [1]),
    ("count(SUBQUERY(cities, $c, $c.population > 1000000)) == 1", [1, 2]),
    ("SUBQUERY(cities, $c, $c.name BEGINSWITH 'P').@distinctUnionOfObjects.name.@count == 1", [1]),
    ("seat IN SUBQUERY(neighbours, $n, $n.code == 'FR').cities", [1, 2, 3].filter { _ in false }),
    (
      "SUBQUERY(cities, $c, $c.population > SUBQUERY($c.country.cities, $d, $d.name != 'x').@avg.population).@count == 1",
      [1]
    ),
  ])
  func `functions over relationships reach over several of them`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.country, keys)
  }

  // FET-36.
  @Test(arguments: [
    ("ranking[0].name == 'Orl\u{E9}ans'", [1]), ("ranking[FIRST].population > 1000000", [2]),
    ("ranking[LAST].name == 'Paris'", [1]),
    ("ranking[SIZE] == 2", [1, 2]), ("ranking[1].country.code == 'FR'", [1]),
    ("ranking[5].name == nil", [1, 2, 3]),
    ("ranking[LAST] == nil", [3]), ("length(ranking[0].name) == 7", [1]),
    ("ranking[0].country.cities.@count == 2", [1]),
    ("(ranking)[SIZE] == 2", [1, 2]), ("(ranking)[LAST] == nil", [3]), ("((ranking)[5]) == nil", [1, 2, 3]),
  ])
  func `a place in an ordered relationship leads to its object`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.country, keys)
  }

  // FET-28.
  @Test(arguments: [
    ("ANY neighbours.cities.name == 'Paris'", [2]), ("ALL neighbours.cities.population > 1000", [1, 2, 3]),
    ("ALL neighbours.cities.population > 1000000", [1, 3]),
    ("NONE neighbours.cities.name == 'Paris'", [1, 3]),
    ("ANY neighbours.neighbours.cities.name == 'Paris'", [1, 3]),
    ("SOME neighbours.neighbours.code == code", [1, 2, 3]),
  ])
  func `a quantifier reaches over several relationships`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.country, keys)
  }

  // FET-35.
  @Test(arguments: [
    ("entity == 'Capital'", [1]), ("entity.name == 'City'", [2, 3, 4]), ("entity != 'City'", [1]),
    ("entity IN {'City', 'Capital'}", [1, 2, 3, 4]), ("entity.name BEGINSWITH 'Cap'", [1]),
    ("lowercase(entity.name) == 'city'", [2, 3, 4]),
    ("country.entity == 'Country'", [1, 2, 3]),
  ])
  func `objects are chosen by their entity`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.city, keys)
  }

  // FET-35. A property of an object that is of another entity is missing.
  @Test(arguments: [
    ("CAST(SELF, 'Capital').since == 987", [1]), ("CAST(SELF, 'Capital').since == nil", [2, 3, 4]),
    ("CAST(SELF, 'Capital') != nil", [1]), ("CAST(SELF, \"Capital\").country.code == 'FR'", [1]),
    ("CAST(SELF, 'Capital').name BEGINSWITH 'P' AND population > 5", [1]),
    ("CAST(SELF, 'Capital').since + 1 == 988", [1]), ("CAST(SELF, 'City').name == 'Paris'", [1]),
    ("ANY CAST(country.cities, 'Capital').since == 987", [1, 2]),
    ("SUBQUERY(country.cities, $x, CAST($x, 'Capital').since > 5).@count == 1", [1, 2]),
  ])
  func `an object is used as one of a subentity`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.city, keys)
    #expect(
      try FormatPredicate(FormatPredicate(format).description).description
        == FormatPredicate(format).description)
  }

  // FET-24.
  @Test(arguments: [
    ("small == 0x4B", [1]), ("small == 0o113", [1]), ("small == 0b1001011", [1]), ("small > .5", [1]),
    ("small == 7.5e1", [1]),
  ])
  func `numbers are read to every base`(_ format: String, _ keys: [UInt64]) throws {
    try expect(format, world.city, keys)
  }

  // FET-24.
  @Test func `conversions of printf are read with their modifiers`() throws {
    for format in [
      "%d", "%i", "%u", "%ld", "%lld", "%hhd", "%qi", "%zd", "%x", "%X", "%o", "%lu", "%f", "%g", "%e", "%@",
    ] {
      #expect(try world.keys(world.city, FormatPredicate("small == \(format)", 75)) == [1], "\(format)")
    }
    #expect(try world.keys(world.city, FormatPredicate("name == %s", "Paris")) == [1])
    expectRefusal("%s takes a text") { try FormatPredicate("name == %s", 5) }
  }

  @Test func `components of dates are those of Foundation's calendar`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    var iso = Calendar(identifier: .iso8601)
    iso.timeZone = .gmt
    var random = SplitMix64(seed: 5)
    for _ in 0..<500 {
      let seconds = Double(Int64.random(in: -10_000_000_000...20_000_000_000, using: &random)) / 2
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      let parts = calendar.dateComponents(
        [.year, .month, .day, .hour, .minute, .second, .weekday], from: date)
      let value = Value.date(seconds)
      let expected: [(ConditionFunction, Int?)] = [
        (.year, parts.year), (.month, parts.month), (.day, parts.day), (.hour, parts.hour),
        (.minute, parts.minute),
        (.second, parts.second), (.weekday, parts.weekday), (.week, iso.component(.weekOfYear, from: date)),
        (.dayOfYear, calendar.ordinality(of: .day, in: .year, for: date)),
      ]
      for (function, number) in expected {
        try #require(function.apply([value]) == .int(Int64(number ?? -1)), "\(function) of \(date)")
      }
    }
  }
}
