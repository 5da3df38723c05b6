import Foundation
import HeartwoodArchives

/// Expressions.
extension ArchivedText {
  package mutating func expression(_ value: ArchivedValue) throws(HeartwoodError) -> String {
    try within { (text) throws(HeartwoodError) in
      try text.expression(of: try text.object(value, "an expression"))
    }
  }

  private mutating func expression(of object: ArchivedObject) throws(HeartwoodError) -> String {
    switch object.className {
    case "NSConstantValueExpression":
      var most = left
      let constant = try Value(archived: try value("NSConstantValue", of: object), left: &most)
      try take(left - most)
      return constant.predicateText
    case "NSSelfExpression": return subject
    case "NSVariableExpression": return "$" + (try name(try string("NSVariable", of: object)))
    case "NSKeyPathSpecifierExpression": return try path(try string("NSKeyPath", of: object))
    case "NSKeyPathExpression", "NSFunctionExpression": return try function(object)
    case "NSAggregateExpression": return "{\(try collection(object).joined(separator: ", "))}"
    case "NSSetExpression": return try setOperation(object)
    case "NSSubqueryExpression": return try subquery(object)
    case "NSTernaryExpression": return try ternary(object)
    case "NSAnyKeyExpression": return "ANYKEY"
    case "NSSymbolicExpression": return try symbol(object)
    default: throw HeartwoodError(.coreData, "it has an \(object.className.prefix(80))")
    }
  }

  // MARK: Functions

  private static let arithmetic = [
    "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/",
  ]

  private mutating func function(_ object: ArchivedObject) throws(HeartwoodError) -> String {
    let selector = try string("NSSelectorName", of: object)
    let list = try value("NSArguments", of: object).list
    if selector == "valueForKeyPath:" || selector == "valueForKey:", let list, list.count == 1 {
      return try property(list, of: try value("NSOperand", of: object))
    }
    let arguments = try list.map { (list) throws(HeartwoodError) in try self.list(list) } ?? []
    let operand = try value("NSOperand", of: object)
    // The class that has the functions of predicates; older archives leave it out for arithmetic.
    if let described = operand.object, !described.has("NSConstantValueClassName"),
      Self.arithmetic[selector] == nil
    {
      let target = try expression(operand)
      return
        "FUNCTION(\(([target, Value.string(selector).predicateText] + arguments).joined(separator: ", ")))"
    }
    if let sign = Self.arithmetic[selector], arguments.count == 2 {
      return "(\(arguments[0]) \(sign) \(arguments[1]))"
    }
    switch selector {
    case "castObject:toType:": return "CAST(\(arguments.joined(separator: ", ")))"
    case "noindex:" where arguments.count == 1: return arguments[0]
    case "objectFrom:withIndex:" where arguments.count == 2: return "\(arguments[0])[\(arguments[1])]"
    default: break
    }
    guard let function = NamedFunction(name: selector) else {
      throw HeartwoodError(.coreData, "it has the function \(selector.prefix(80))")
    }
    if case .function(let known) = function, let aggregate = known.aggregate, arguments.count == 1,
      let text = try Self.aggregate(aggregate, of: arguments[0], list, self)
    {
      return text
    }
    return "\(selector)(\(arguments.joined(separator: ", ")))"
  }

  /// A function over the destinations of a relationship as a path has it: `tracks.@sum.seconds` for `sum:(tracks.seconds)`.
  ///
  /// - Returns: Nil if the argument is no path.
  private static func aggregate(
    _ function: Aggregate.Function, of path: String, _ list: ArchivedList?, _ text: ArchivedText
  ) throws(HeartwoodError) -> String? {
    guard let list, list.count == 1,
      let argument = try text.reading({ () throws(ArchiveError) in try list.value(at: 0) }).object,
      argument.className == "NSKeyPathExpression", path.isDottedName
    else { return nil }
    if function == .count { return "\(path).@count" }
    guard let dot = path.lastIndex(of: ".") else { return nil }
    return "\(path[..<dot]).@\(function.rawValue)\(path[dot...])"
  }

  /// A property of a value, or of the object itself.
  private mutating func property(
    _ list: ArchivedList, of operand: ArchivedValue
  ) throws(HeartwoodError) -> String {
    let key = try object(try reading { () throws(ArchiveError) in try list.value(at: 0) }, "a key path")
    let isConstant = key.className == "NSConstantValueExpression"
    let names = try string(isConstant ? "NSConstantValue" : "NSKeyPath", of: key)
    // A path that was written with a variable in it.
    if names.hasPrefix("$") { return "$" + (try path(String(names.dropFirst()))) }
    if operand.isNull || operand.object?.className == "NSSelfExpression" {
      let path = try path(names)
      return subject == "SELF" ? ConditionPrinter().text(of: PropertyPath(names: path)) : "\(subject).\(path)"
    }
    let owner = try expression(operand)
    if owner == "$FETCHED_PROPERTY", let constant = try constant(ofFetchedProperty: names) { return constant }
    return "\(owner).\(try path(names))"
  }

  /// A value that the description of a fetched property has: `$FETCHED_PROPERTY.userInfo.search`.
  ///
  /// - Returns: Nil if it is not known which property it is.
  private func constant(ofFetchedProperty path: String) throws(HeartwoodError) -> String? {
    guard let fetchedProperty else { return nil }
    if path == "name" { return Value.string(fetchedProperty.name).predicateText }
    guard path.hasPrefix("userInfo.") else {
      throw HeartwoodError(.coreData, "it has $FETCHED_PROPERTY.\(path.prefix(80))")
    }
    let text = fetchedProperty.userInfo[String(path.dropFirst("userInfo.".count))]
    return (text.map(Value.string) ?? .null).predicateText
  }

  /// A path that can be written as it is.
  private mutating func path(_ names: String) throws(HeartwoodError) -> String {
    try take(names.utf8.count / 32)
    let parts = names.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && ($0.hasPrefix("@") ? $0.dropFirst() : $0).isPlainName }) else {
      throw HeartwoodError(.coreData, "it has the key path \"\(names.prefix(80))\"")
    }
    return names
  }

  private mutating func name(_ name: String) throws(HeartwoodError) -> String {
    try take(name.utf8.count / 32)
    guard name[...].isPlainName else {
      throw HeartwoodError(.coreData, "it has the variable \"\(name.prefix(80))\"")
    }
    return name
  }

  // MARK: Collections

  private mutating func collection(_ object: ArchivedObject) throws(HeartwoodError) -> [String] {
    for key in ["NSCollection"] + object.keys {
      if let list = try value(key, of: object).list { return try self.list(list) }
    }
    throw HeartwoodError(.coreData, "an \(object.className) has no NSCollection")
  }

  private mutating func setOperation(_ object: ArchivedObject) throws(HeartwoodError) -> String {
    let signs: [Int64: String] = [5: "UNION", 6: "INTERSECT", 7: "MINUS"]
    guard let sign = try value("NSExpressionType", of: object).integer.flatMap({ signs[$0] }) else {
      throw HeartwoodError(.coreData, "an NSSetExpression is of no known type")
    }
    let left = try expression(try value("NSLeftExpression", of: object))
    return "(\(left) \(sign) \(try expression(try value("NSRightExpression", of: object))))"
  }

  private mutating func subquery(_ object: ArchivedObject) throws(HeartwoodError) -> String {
    guard let condition = try fields(kindOf: "NSPredicate", of: object).first else {
      throw HeartwoodError(.coreData, "an NSSubqueryExpression has no predicate")
    }
    var variable: String?
    var collection: ArchivedObject?
    for key in object.keys {
      let field = try value(key, of: object)
      if let text = field.string { variable = text }
      guard let part = field.object, part.isKind(of: "NSExpression") else { continue }
      if part.className == "NSVariableExpression" {
        variable = try string("NSVariable", of: part)
      } else {
        collection = part
      }
    }
    guard let variable, let collection else {
      throw HeartwoodError(.coreData, "an NSSubqueryExpression has no variable, or no collection")
    }
    let list = try expression(.object(collection))
    let plain = variable.hasPrefix("$") ? String(variable.dropFirst()) : variable
    return "SUBQUERY(\(list), $\(try name(plain)), \(try predicate(.object(condition))))"
  }

  private mutating func ternary(_ object: ArchivedObject) throws(HeartwoodError) -> String {
    guard let condition = try fields(kindOf: "NSPredicate", of: object).first else {
      throw HeartwoodError(.coreData, "an NSTernaryExpression has no predicate")
    }
    let test = try predicate(.object(condition))
    let first = try expression(try value("NSTrueExpression", of: object))
    return "TERNARY(\(test), \(first), \(try expression(try value("NSFalseExpression", of: object))))"
  }

  /// `FIRST`, `LAST` or `SIZE` in brackets.
  private func symbol(_ object: ArchivedObject) throws(HeartwoodError) -> String {
    for key in object.keys {
      if let word = try value(key, of: object).string, ["FIRST", "LAST", "SIZE"].contains(word.uppercased()) {
        return word.uppercased()
      }
    }
    throw HeartwoodError(.coreData, "an NSSymbolicExpression is no FIRST, LAST or SIZE")
  }
}

extension Substring {
  /// Whether this is a name of letters, digits and underscores.
  fileprivate var isPlainName: Bool {
    guard let first, first.isLetter || first == "_" else { return false }
    return allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }
}

extension Value {
  /// - Parameter left: How many values may be read; those that are read, and the lengths of texts, are taken off.
  /// - Throws: `.coreData` if it is no value that an attribute can have, nor a list of them.
  init(archived value: ArchivedValue, left: inout Int) throws(HeartwoodError) {
    self = try Self.archived(value, depth: 0, &left)
  }

  private static func archived(
    _ value: ArchivedValue, depth: Int, _ left: inout Int
  ) throws(HeartwoodError) -> Value {
    left -= 1 + value.length / 32
    guard depth < 16, left >= 0 else { throw HeartwoodError(.coreData, "a constant is too large") }
    switch value {
    case .null: return .null
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return .int(number)
    case .unsignedInteger(let number): return .decimal(Decimal(number))
    case .real(let number): return .double(number)
    case .decimal(let number): return .decimal(number)
    case .string(let text), .attributedString(let text): return .string(text)
    case .data(let data): return .data(data)
    case .date(let date): return .date(date.timeIntervalSinceReferenceDate)
    case .uuid(let uuid): return .uuid(uuid)
    case .url(let text): return .url(text)
    case .array(let list), .set(let list), .orderedSet(let list):
      let members: [ArchivedValue]
      do throws(ArchiveError) {
        members = try list.values()
      } catch {
        throw HeartwoodError(.coreData, "\(error)")
      }
      var values: [Value] = []
      for member in members { values.append(try archived(member, depth: depth + 1, &left)) }
      return .list(values)
    case .indexes, .dictionary, .object:
      throw HeartwoodError(.coreData, "it has a constant that is \(value.kind)")
    }
  }
}

extension ArchivedValue {
  /// The length of a text or data in bytes.
  fileprivate var length: Int {
    switch self {
    case .string(let text), .attributedString(let text), .url(let text): text.utf8.count
    case .data(let data): data.count
    default: 0
    }
  }
}
