import Foundation
import Heartwood

/// Translates conditions and orders into SQL with parameters.
///
/// A comparison of a missing value is NULL here; NOT takes it for false, so that the whole has the meaning of a `StoreCondition`.
struct SQLBuilder {
  let schema: PostgresSchema
  /// The number of an object.
  let number: (ManagedObjectID) -> Int64?
  private(set) var parameters: [PostgresParameter] = []
  /// The joins of each variable's FROM, by the relationships that they follow.
  private var joins: [Int: [(key: String, alias: String, sql: String)]] = [:]
  private var lastAlias = 0

  init(_ schema: PostgresSchema, _ number: @escaping (ManagedObjectID) -> Int64?) {
    self.schema = schema
    self.number = number
  }

  mutating func parameter(_ value: PostgresParameter) -> String {
    parameters.append(value)
    return "$\(parameters.count)::\(value.type.name)"
  }

  /// The joins that the paths from a variable need.
  func joins(of variable: Int) -> String { (joins[variable] ?? []).map(\.sql).joined() }

  // MARK: Conditions

  mutating func condition(_ condition: StoreCondition) throws -> String {
    switch condition {
    case .constant(let value): return value ? "TRUE" : "FALSE"
    case .all(let parts):
      return parts.isEmpty
        ? "TRUE" : try parts.map { "(\(try self.condition($0)))" }.joined(separator: " AND ")
    case .any(let parts):
      return parts.isEmpty
        ? "FALSE" : try parts.map { "(\(try self.condition($0)))" }.joined(separator: " OR ")
    case .not(let part): return "NOT COALESCE((\(try self.condition(part))), FALSE)"
    case .comparison(let left, let comparator, let right, let options):
      return try comparison(left, comparator, right, options)
    case .exists(let destinations):
      return "EXISTS (\(try select("1", destinations)))"
    }
  }

  /// A SELECT of the destinations.
  mutating func select(_ what: String, _ destinations: StoreDestinations) throws -> String {
    let filter = try destinations.filter.map { try condition($0) }
    return try select(what, destinations, filter)
  }

  mutating func select(
    _ what: String, _ destinations: StoreDestinations, _ filter: String?
  ) throws -> String {
    let source = try object(destinations.source)
    let alias = "t\(destinations.variable)"
    let table = schema.table(destinations.entity)
    let (from, link): (String, String)
    if let side = schema.side(destinations.relationship) {
      let pair = "x\(destinations.variable)"
      from =
        "\(side.join.sqlName) \(pair) JOIN \(table.sqlName) \(alias) ON \(alias)._id = \(pair).\(side.other)"
      link = "\(pair).\(side.own) = \(source)"
    } else if let inverse = schema.inverse(destinations.relationship) {
      from = "\(table.sqlName) \(alias)"
      link = "\(alias).\(inverse.column.name.quoted) = \(source)"
    } else {
      throw untranslatable(destinations.relationship.name)
    }
    let condition = filter.map { " AND (\($0))" } ?? ""
    return "SELECT \(what) FROM \(from)\(joins(of: destinations.variable)) WHERE \(link)\(condition)"
  }

  private mutating func comparison(
    _ left: StoreExpression, _ comparator: ComparisonPredicate.Operator, _ right: StoreExpression,
    _ options: ComparisonOptions
  ) throws -> String {
    if options.contains(.diacriticInsensitive) {
      throw untranslatable("a comparison that ignores diacritics: [d]")
    }
    if options.contains(.localeSensitive) {
      throw untranslatable("a comparison in the order of a dictionary: [l]")
    }
    let ignoresCase = options.contains(.caseInsensitive)
    switch comparator {
    case .equalTo, .notEqualTo: return try equality(left, right, comparator == .equalTo, ignoresCase)
    case .lessThan: return try order(left, "<", right, ignoresCase)
    case .lessThanOrEqualTo: return try order(left, "<=", right, ignoresCase)
    case .greaterThan: return try order(left, ">", right, ignoresCase)
    case .greaterThanOrEqualTo: return try order(left, ">=", right, ignoresCase)
    case .between:
      guard case .list(let bounds) = right, bounds.count == 2 else {
        throw untranslatable("BETWEEN without two bounds")
      }
      let low = try order(left, ">=", .constant(bounds[0]), ignoresCase)
      return "(\(low)) AND (\(try order(left, "<=", .constant(bounds[1]), ignoresCase)))"
    case .in:
      guard case .list(let members) = right else { return try text(right, .contains, left, ignoresCase) }
      return try membership(left, members, ignoresCase)
    case .beginsWith, .endsWith, .contains, .like: return try text(left, comparator, right, ignoresCase)
    case .matches: throw untranslatable("MATCHES, as its regular expressions are not PostgreSQL's")
    case .matchesWords: throw untranslatable("MATCHESWORDS")
    }
  }

  private mutating func equality(
    _ left: StoreExpression, _ right: StoreExpression, _ isEqual: Bool, _ ignoresCase: Bool
  ) throws -> String {
    if case .constant(nil) = right {
      return "\(try value(left)) IS \(isEqual ? "" : "NOT ")NULL"
    }
    if case .constant(nil) = left { return "\(try value(right)) IS \(isEqual ? "" : "NOT ")NULL" }
    let (first, second) = (try value(left, ignoresCase), try value(right, ignoresCase))
    // Missing values are equal to each other.
    let mayBothBeMissing = !left.isConstant && !right.isConstant
    if isEqual {
      return mayBothBeMissing ? "\(first) IS NOT DISTINCT FROM \(second)" : "\(first) = \(second)"
    }
    return "\(first) IS DISTINCT FROM \(second)"
  }

  private mutating func order(
    _ left: StoreExpression, _ sign: String, _ right: StoreExpression, _ ignoresCase: Bool
  ) throws -> String {
    if left.isMissing || right.isMissing { return "FALSE" }
    return "\(try value(left, ignoresCase)) \(sign) \(try value(right, ignoresCase))"
  }

  private mutating func membership(
    _ left: StoreExpression, _ members: [(any Sendable)?], _ ignoresCase: Bool
  ) throws -> String {
    let present = members.compactMap { $0 }
    let value = try value(left, ignoresCase)
    var parts: [String] = []
    if !present.isEmpty { parts.append("\(value) = ANY(\(try array(present, ignoresCase)))") }
    if present.count < members.count { parts.append("\(value) IS NULL") }
    return parts.isEmpty ? "FALSE" : parts.joined(separator: " OR ")
  }

  /// The members of a list as one parameter; those of different types as a list of parameters.
  private mutating func array(_ members: [any Sendable], _ ignoresCase: Bool) throws -> String {
    if members.contains(where: { $0 is Decimal }) {
      return "\(parameter(.texts(members.map { "\($0)" })))::numeric[]"
    }
    let constants = try members.map { try constant($0) }
    let type = constants[0].type
    guard constants.allSatisfy({ $0.type == type }) else {
      let numbers = constants.map { "\(parameter($0))::float8" }
      return "ARRAY[\(numbers.joined(separator: ", "))]"
    }
    var array = PostgresArray(type, count: constants.count)
    for constant in constants { array.append(raw: constant.bytes ?? []) }
    let all = parameter(array.parameter)
    guard ignoresCase, type == .text else { return all }
    return "ARRAY(SELECT \(Self.lowered("unnest(\(all))")))"
  }

  private mutating func text(
    _ left: StoreExpression, _ comparator: ComparisonPredicate.Operator, _ right: StoreExpression,
    _ ignoresCase: Bool
  ) throws -> String {
    if left.isMissing || right.isMissing { return "FALSE" }
    let value = try value(left, ignoresCase)
    guard case .constant(let constant?) = right, let text = constant as? String else {
      let other = try self.value(right, ignoresCase)
      switch comparator {
      case .beginsWith: return "(\(other) <> '' AND starts_with(\(value), \(other)))"
      case .endsWith: return "(\(other) <> '' AND right(\(value), length(\(other))) = \(other))"
      case .contains: return "(\(other) <> '' AND position(\(other) IN \(value)) > 0)"
      default: throw untranslatable("LIKE with a pattern that is no constant")
      }
    }
    // The empty text begins, ends and is in no text, as in Core Data.
    if text.isEmpty, comparator != .like { return "FALSE" }
    let pattern =
      switch comparator {
      case .beginsWith: Self.escaped(text) + "%"
      case .endsWith: "%" + Self.escaped(text)
      case .contains: "%" + Self.escaped(text) + "%"
      default: Self.pattern(text)
      }
    let written = parameter(.text(pattern))
    return "\(value) LIKE \(ignoresCase ? Self.lowered(written) : written)"
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      if "\\%_".contains(character) { result.append("\\") }
      result.append(character)
    }
  }

  /// `*` stands for any text and `?` for one character; a backslash before a character stands for that.
  private static func pattern(_ text: String) -> String {
    var (result, isEscaped) = ("", false)
    for character in text {
      if isEscaped {
        result += escaped(String(character))
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        result += character == "*" ? "%" : character == "?" ? "_" : escaped(String(character))
      }
    }
    return isEscaped ? result + "\\\\" : result
  }

  // MARK: Paths

  /// The number of an object.
  mutating func object(_ path: StorePath) throws -> String {
    guard let last = path.relationships.last, let owner = last.entity else { return "t\(path.variable)._id" }
    let alias = alias(path.variable, path.relationships.dropLast())
    return "\(alias).\(schema.table(owner).column(last, of: owner).name.quoted)"
  }

  mutating func alias(_ path: StorePath) throws -> String {
    alias(path.variable, path.relationships[...])
  }

  /// The alias of the table of the object to which relationships lead, which is joined.
  private mutating func alias(_ variable: Int, _ relationships: ArraySlice<RelationshipDescription>) -> String
  {
    guard let last = relationships.last, let owner = last.entity else { return "t\(variable)" }
    let key = relationships.map(\.fullName).joined(separator: "/")
    if let known = joins[variable]?.first(where: { $0.key == key }) { return known.alias }
    let source = alias(variable, relationships.dropLast())
    lastAlias += 1
    let alias = "j\(lastAlias)"
    let column = schema.table(owner).column(last, of: owner).name.quoted
    let table = schema.table(last.destinationEntity)
    joins[variable, default: []].append(
      (key, alias, " LEFT JOIN \(table.sqlName) \(alias) ON \(alias)._id = \(source).\(column)"))
    return alias
  }

  // MARK: Order

  /// The terms of ORDER BY, the last of which is the number of the object.
  mutating func order(_ sorts: [StoreSort]) throws -> String {
    var terms = try sorts.map { sort in
      guard sort.options.isSubset(of: [.caseInsensitive, .normalized]) else {
        throw untranslatable("an order that ignores diacritics, or that of a dictionary or of a locale")
      }
      let value = try value(sort.value, sort.options.contains(.caseInsensitive))
      return "\(value) \(sort.isAscending ? "ASC NULLS FIRST" : "DESC NULLS LAST")"
    }
    terms.append("t0._id \(sorts.last?.isAscending == false ? "DESC" : "ASC")")
    return terms.joined(separator: ", ")
  }

  func untranslatable(_ part: String) -> HeartwoodError {
    HeartwoodError(
      .persistentStoreUnsupportedRequestType,
      "the request cannot be translated to SQL, because of \(part): fetch with a simpler condition, and filter the objects"
    )
  }
}
