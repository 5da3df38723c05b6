import Foundation
import Heartwood

/// Values in SQL.
extension SQLBuilder {
  static func lowered(_ text: String) -> String {
    "lower(\(text) COLLATE \"und-x-icu\") COLLATE \"C\""
  }

  mutating func value(_ expression: StoreExpression, _ ignoresCase: Bool) throws -> String {
    let written = try value(expression)
    return ignoresCase && expression.isText ? Self.lowered(written) : written
  }

  mutating func value(_ expression: StoreExpression) throws -> String {
    switch expression {
    case .constant(nil): return "NULL"
    case .constant(let constant?):
      if let decimal = constant as? Decimal { return "\(parameter(.text("\(decimal)")))::numeric" }
      return parameter(try self.constant(constant))
    case .list: throw untranslatable("a list, where a value is wanted")
    case .attribute(let attribute, let path):
      let alias = try alias(path)
      return "\(alias).\(schema.table(path.entity).column(attribute, of: path.entity).name.quoted)"
    case .object(let path): return try object(path)
    case .entityName(let path):
      let table = schema.table(path.entity)
      return table.isFamily ? "\(try alias(path))._entity" : (table.root.name ?? "").literal
    case .aggregate(let function, let destinations): return try aggregate(function, destinations)
    case .arithmetic(let sign, let left, let right): return try arithmetic(sign, left, right)
    case .function(let name, let arguments): return try function(name, arguments)
    case .conditional(let condition, let first, let second):
      return
        "CASE WHEN \(try self.condition(condition)) THEN \(try value(first)) ELSE \(try value(second)) END"
    }
  }

  func constant(_ value: any Sendable) throws -> PostgresParameter {
    switch value {
    case let flag as Bool: return .boolean(flag)
    case let number as any BinaryInteger: return .integer(Int64(clamping: number))
    case let number as Double: return .double(number)
    case let number as Float: return .double(Double(number))
    case let text as String: return .text(text)
    case let date as Date: return .double(date.timeIntervalSinceReferenceDate)
    case let data as Data: return .data(data)
    case let uuid as UUID: return .uuid(uuid)
    case let url as URL: return .text(url.absoluteString)
    case let id as ManagedObjectID: return .integer(number(id) ?? 0)
    default: throw untranslatable("a constant of type \(type(of: value))")
    }
  }

  private mutating func aggregate(_ function: String, _ destinations: StoreDestinations) throws -> String {
    guard function != "count" else { return "(\(try select("count(*)", destinations)))" }
    guard ["sum", "min", "max", "avg"].contains(function), let element = destinations.element else {
      throw untranslatable("@\(function)")
    }
    // First: its joins belong to the same FROM.
    let value = try value(element)
    let filter = try destinations.filter.map { try condition($0) }
    let whole =
      function == "sum"
      ? "COALESCE(sum(\(value)), 0)" : function == "avg" ? "avg(\(value))::float8" : "\(function)(\(value))"
    return "(\(try select(whole, destinations, filter)))"
  }

  private mutating func arithmetic(
    _ sign: String, _ left: StoreExpression, _ right: StoreExpression
  ) throws -> String {
    let (first, second) = (try value(left), try value(right))
    if sign == "/" { return "(\(first) / NULLIF(\(second), 0))" }
    return sign == "+" && left.isText && right.isText
      ? "(\(first) || \(second))" : "(\(first) \(sign) \(second))"
  }

  private mutating func function(_ name: String, _ arguments: [StoreExpression]) throws -> String {
    let values = try arguments.map { try value($0) }
    switch (name, values.count) {
    case ("lowercase:", 1): return Self.lowered(values[0])
    case ("uppercase:", 1): return "upper(\(values[0]) COLLATE \"und-x-icu\") COLLATE \"C\""
    case ("length:", 1): return "length(\(values[0]))"
    case ("abs:", 1): return "abs(\(values[0]))"
    case ("floor:", 1): return "floor(\(values[0]))"
    case ("ceiling:", 1): return "ceil(\(values[0]))"
    case ("trunc:", 1): return "trunc(\(values[0]))"
    case ("sqrt:", 1): return "sqrt(\(values[0]))"
    case ("ln:", 1): return "ln(\(values[0]))"
    case ("exp:", 1): return "exp(\(values[0]))"
    case ("modulus:by:", 2): return "(\(values[0]) % NULLIF(\(values[1]), 0))"
    case ("coalesce:", _): return "COALESCE(\(values.joined(separator: ", ")))"
    case ("now", 0): return parameter(.double(Date().timeIntervalSinceReferenceDate))
    default: throw untranslatable("the function \(name)")
    }
  }
}

extension StoreExpression {
  var isConstant: Bool {
    if case .constant = self { return true }
    return false
  }

  var isMissing: Bool {
    if case .constant(nil) = self { return true }
    return false
  }

  /// Whether it is known to be a text.
  var isText: Bool {
    switch self {
    case .constant(let value): value is String
    case .attribute(let attribute, _): attribute.type == .string || attribute.type == .uri
    case .entityName: true
    case .function(let name, let arguments):
      name == "lowercase:" || name == "uppercase:"
        || name == "coalesce:" && arguments.contains(where: \.isText)
    case .arithmetic(_, let left, _): left.isText
    case .conditional(_, let first, _): first.isText
    default: false
    }
  }
}

extension PostgresArray {
  /// Appends the bytes of a value of the element's type.
  mutating func append(raw value: [UInt8]) { append(Data(value)) }
}
