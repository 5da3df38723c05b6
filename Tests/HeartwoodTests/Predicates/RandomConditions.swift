import Foundation
import HeartwoodFaults

@testable import Heartwood
@testable import HeartwoodModel

/// Makes worlds and conditions about them whose constants are often near the values.
struct RandomConditions {
  enum Kind { case city, country }

  var source: SplitMix64

  init(seed: UInt64) { source = SplitMix64(seed: seed) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &source)]
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &source) < percent }

  mutating func value(_ type: AttributeType) -> Value {
    let number = Int64.random(in: -4...4, using: &source)
    switch type {
    case .integer16: return .int(pick([number, Int64(Int16.max), Int64(Int16.min)]))
    case .integer32: return .int(pick([number, Int64(Int32.max), Int64(Int32.min)]))
    case .integer64, .undefined, .transformable, .composite: return .int(number)
    case .double: return .double(pick([Double(number), Double(number) / 2, .infinity, -0.0, .nan]))
    case .float: return .double(Double(Float(pick([Double(number), 0.1, -2.5]))))
    case .decimal: return .decimal(pick([Decimal(number), Decimal(number) / 4]))
    case .boolean: return .bool(number > 0)
    case .string: return .string(text())
    case .date: return .date(Double(number) * 100)
    case .binaryData:
      return .data(Data((0..<Int.random(in: 0...3, using: &source)).map { _ in UInt8(pick([0, 1, 255])) }))
    case .uuid: return .uuid(pick(Self.uuids))
    case .uri: return .url("x:\(pick(["a", "b", "ab"]))")
    }
  }

  private static let uuids = (0..<4).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0)) }

  mutating func text() -> String {
    let pieces = [
      "a", "B", "b", "e", "e\u{301}", "\u{E9}", "\u{C9}", "o\u{308}", "\u{DF}", "\u{1F600}", "\u{416}",
      "\u{301}",
    ]
    return (0..<Int.random(in: 0...4, using: &source)).map { _ in pick(pieces) }.joined()
  }

  mutating func world(cities: Int, countries: Int) throws -> PredicateWorld {
    let world = try PredicateWorld()
    var owned: [UInt64: [UInt64]] = [:]
    for key in 1...UInt64(cities) {
      let entity = chance(30) ? world.capital : world.city
      var values: [String: Value] = [:]
      for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name }) where chance(80) {
        values[attribute.name] = value(attribute.type)
      }
      if chance(80) {
        // One more country than exists: its row is missing.
        let owner = UInt64.random(in: 1...UInt64(countries + 1), using: &source)
        values["country"] = .object(world.identifier(world.country, owner))
        owned[owner, default: []].append(key)
      }
      world.add(entity, key, values)
    }
    for key in 1...UInt64(countries) {
      var values: [String: Value] = [:]
      if chance(80) { values["code"] = value(.string) }
      if chance(80) { values["area"] = value(.double) }
      if chance(80) { values["any"] = value(.integer64) }
      let neighbours = (1...UInt64(countries)).filter { _ in chance(30) }
      let ranking = (1...UInt64(cities)).filter { _ in chance(10) }.shuffled(using: &source)
      world.add(
        world.country, key, values,
        many: ["cities": owned[key] ?? [], "neighbours": neighbours, "ranking": ranking])
    }
    return world
  }
}

extension RandomConditions {
  private static let attributes: [Kind: [(String, AttributeType)]] = [
    .city: [
      ("small", .integer16), ("medium", .integer32), ("population", .integer64), ("area", .double),
      ("height", .float),
      ("budget", .decimal), ("name", .string), ("name", .string), ("isOld", .boolean), ("founded", .date),
      ("arms", .binaryData), ("tag", .uuid), ("page", .uri), ("country.code", .string),
      ("country.any", .integer64), ("Capital.since", .integer64), ("Capital.name", .string),
    ],
    .country: [("code", .string), ("area", .double), ("any", .integer64), ("seat.population", .integer64)],
  ]

  mutating func condition(_ kind: Kind, _ scope: Scope = .fetched, depth: Int) -> Condition {
    switch Int.random(in: 0..<(depth > 0 ? 10 : 4), using: &source) {
    case 4: return !condition(kind, scope, depth: depth - 1)
    case 5, 6: return condition(kind, scope, depth: depth - 1) && condition(kind, scope, depth: depth - 1)
    case 7: return condition(kind, scope, depth: depth - 1) || condition(kind, scope, depth: depth - 1)
    case 8, 9: return destinations(kind, scope, depth: depth - 1)
    default: return comparison(kind, scope)
    }
  }

  private mutating func destinations(_ kind: Kind, _ scope: Scope, depth: Int) -> Condition {
    let (name, destination): (String, Kind) =
      kind == .city
      ? pick([("country.cities", .city), ("country.neighbours", .country)])
      : pick([("cities", .city), ("neighbours", .country)])
    var path = PropertyPath(names: name)
    path.scope = scope
    let inner = Scope()
    if chance(25) { return count(path, inner, destination, depth: depth) }
    return .quantified(pick([.any, .all, .none]), path, inner, condition(destination, inner, depth: depth))
  }

  private mutating func count(_ path: PropertyPath, _ scope: Scope, _ kind: Kind, depth: Int) -> Condition {
    let filter: Condition? = chance(50) ? condition(kind, scope, depth: depth) : nil
    var element: ConditionExpression?
    if filter == nil, chance(60) {
      element = .path(PropertyPath(scope, [.name(kind == .city ? "population" : "any")]))
    }
    let function: Aggregate.Function =
      element == nil ? .count : pick([.sum, .min, .max, .average, .median, .mode])
    let aggregate = Aggregate(function: function, path: path, scope: scope, element: element, filter: filter)
    let constant = Value.int(Int64.random(in: 1...4, using: &source))
    return .comparing(ConditionExpression(.aggregate(aggregate)), pick(Self.orders), .value(constant))
  }

  private static let orders: [ComparisonOperator] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]
  private static let texts: [ComparisonOperator] = [.beginsWith, .endsWith, .contains, .like]

  private mutating func comparison(_ kind: Kind, _ scope: Scope) -> Condition {
    let (name, type) = pick(Self.attributes[kind] ?? [])
    var path = PropertyPath(names: name)
    path.scope = scope
    // A city as a capital, if it is one.
    if name.hasPrefix("Capital.") { path.steps[0] = .kind(.name("Capital")) }
    let left = ConditionExpression.path(path)
    let isText = type == .string
    let options =
      isText && chance(40) ? ComparisonOptions(rawValue: UInt8.random(in: 1...3, using: &source)) : []
    switch Int.random(in: 0..<10, using: &source) {
    case 0:
      return .comparing(
        left, .isIn, .list((0..<Int.random(in: 0...3, using: &source)).map { _ in constant(type) }), options)
    case 1: return .comparing(left, .between, .list([constant(type), constant(type)]), options)
    case 2...4 where isText: return .comparing(left, pick(Self.texts), .value(.string(pattern())), options)
    case 4 where type == .integer64: return computed(left, path)
    case 2 where kind == .country: return listed(scope)
    case 5:
      return function(left, type) ?? .comparing(left, pick(Self.orders), .value(constant(type)), options)
    case 6: return .comparing(.value(constant(type)), pick(Self.orders), left, options)
    default: return .comparing(left, pick(Self.orders), .value(constant(type)), options)
    }
  }

  /// Compares a function of a property.
  private mutating func function(_ left: ConditionExpression, _ type: AttributeType) -> Condition? {
    let number = ConditionExpression.value(.int(Int64.random(in: 0...4, using: &source)))
    switch type {
    case .integer64:
      let function = pick([
        ConditionExpression(.function(.abs, [left])),
        ConditionExpression(.function(.modulus, [left, number])),
        ConditionExpression(.function(.coalesce, [left, number])),
        ConditionExpression(.conditional(.comparing(left, .greater, number), number, left)),
      ])
      return .comparing(function, pick(Self.orders), number)
    case .string:
      if chance(50) {
        return .comparing(ConditionExpression(.function(.length, [left])), pick(Self.orders), number)
      }
      return .comparing(
        ConditionExpression(.function(.uppercase, [left])), pick(Self.texts),
        .value(.string(pattern().uppercased())))
    case .date:
      return .comparing(
        ConditionExpression(.function(.year, [left])), pick(Self.orders), .value(.int(pick([2000, 2001]))))
    case .boolean: return Condition(.truth(left))
    default: return nil
    }
  }

  /// Compares with the values of destinations.
  private mutating func listed(_ scope: Scope) -> Condition {
    let inner = Scope()
    var path = PropertyPath(names: "cities")
    path.scope = scope
    let values = DestinationValues(
      path: path, scope: inner, element: .path(PropertyPath(inner, [.name("population")])),
      filter: chance(50) ? comparison(.city, inner) : nil, isDistinct: chance(50))
    let list = ConditionExpression(.collection(values))
    let constants = ConditionExpression.list([.int(0), .int(1), .int(2)])
    let number = ConditionExpression.value(.int(Int64.random(in: -2...2, using: &source)))
    switch Int.random(in: 0..<3, using: &source) {
    case 0: return .comparing(ConditionExpression(.function(.count, [list])), pick(Self.orders), number)
    case 1: return .comparing(number, .isIn, list)
    default:
      return .comparing(
        number, .isIn, ConditionExpression(.function(pick([.union, .intersect, .minus]), [constants, list])))
    }
  }

  /// Compares properties of the same object with each other.
  private mutating func computed(_ left: ConditionExpression, _ path: PropertyPath) -> Condition {
    let sum = ConditionExpression(
      .arithmetic(
        pick([.add, .subtract, .multiply, .divide]), left,
        .value(.int(Int64.random(in: -2...2, using: &source)))))
    return chance(50)
      ? .comparing(sum, pick(Self.orders), left)
      : .comparing(left, .isIn, ConditionExpression(.list([sum, .value(.int(1)), .value(.null)])))
  }

  /// The constants include numbers of other kinds than the attribute's.
  private mutating func constant(_ type: AttributeType) -> Value {
    if chance(8) { return .null }
    switch type {
    case .integer16, .integer32, .integer64, .double, .decimal:
      return value(pick([type, type, .integer64, .integer32, .double, .decimal]))
    default: return value(type)
    }
  }

  private mutating func pattern() -> String {
    chance(40) ? text() : text() + pick(["*", "?", ""]) + text() + pick(["*", "?", ""])
  }
}
