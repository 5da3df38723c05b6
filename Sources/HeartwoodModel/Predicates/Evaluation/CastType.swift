import Foundation

/// A type that `CAST` names, by Foundation's names and by Swift's.
enum CastType {
  case date, number, integer, decimal, boolean, text, uuid, url, data, identifier

  init?(name: String) {
    switch name {
    case "NSDate", "Date": self = .date
    case "NSNumber", "Double", "Float": self = .number
    case "NSInteger", "Int", "Int64", "Int32", "Int16": self = .integer
    case "NSDecimalNumber", "Decimal": self = .decimal
    case "Bool", "Boolean": self = .boolean
    case "NSString", "String": self = .text
    case "NSUUID", "UUID": self = .uuid
    case "NSURL", "URL": self = .url
    case "NSData", "Data": self = .data
    case "NSManagedObjectID": self = .identifier
    default: return nil
    }
  }

  /// The names of the types, for messages.
  static let names = "NSDate, NSNumber, NSInteger, NSDecimalNumber, NSString, NSUUID, NSURL, NSData or Bool"

  var kind: ValueKind {
    switch self {
    case .date: .date
    case .number, .integer, .decimal: .number
    case .boolean: .boolean
    case .text: .text
    case .uuid: .uuid
    case .url, .identifier: .url
    case .data: .data
    }
  }

  /// The value as one of this type; nil if it cannot be one.
  func cast(_ value: Value) -> Value? {
    switch self {
    case .date: date(value)
    case .number: number(value)
    case .integer: integer(value)
    case .decimal: decimal(value)
    case .boolean: boolean(value)
    case .text: text(value)
    case .uuid:
      if case .uuid = value { value } else { value.text.flatMap(UUID.init(uuidString:)).map(Value.uuid) }
    case .url, .identifier: value.text.map(Value.url)
    case .data:
      if case .data = value { value } else { value.text.flatMap { Data(base64Encoded: $0) }.map(Value.data) }
    }
  }

  private func date(_ value: Value) -> Value? {
    switch value {
    case .date: value
    case .string(let text): ConstantConversion.date(text).map { .date($0.timeIntervalSinceReferenceDate) }
    default: value.doubleValue.map(Value.date)
    }
  }

  private func number(_ value: Value) -> Value? {
    switch value {
    case .int, .double, .decimal: value
    case .bool(let flag): .int(flag ? 1 : 0)
    case .date(let seconds): .double(seconds)
    default: value.text.flatMap(Self.number).map(Value.double)
    }
  }

  /// The number that a text is; nil if it has digits, and no double is as large.
  private static func number(_ text: String) -> Double? {
    Double(text).flatMap { $0.isInfinite && text.contains(where: \.isNumber) ? nil : $0 }
  }

  private func integer(_ value: Value) -> Value? {
    switch value {
    case .int: value
    case .bool(let flag): .int(flag ? 1 : 0)
    case .decimal(let number):
      number.isNaN ? nil : ConditionFunction.trunc.apply([value]).exactInteger.map(Value.int)
    case .string(let text), .url(let text): Int64(text).map(Value.int)
    default: (number(value)?.doubleValue?.rounded(.towardZero)).flatMap(Int64.init(exactly:)).map(Value.int)
    }
  }

  private func decimal(_ value: Value) -> Value? {
    switch value {
    case .decimal: value
    case .int(let number): .decimal(Decimal(number))
    case .double(let number): number.isFinite ? DecimalText.nearest("\(number)").map(Value.decimal) : nil
    case .string("NaN"): .decimal(.nan)
    default: value.text.flatMap(DecimalText.nearest).map(Value.decimal)
    }
  }

  private func boolean(_ value: Value) -> Value? {
    switch value {
    case .bool: value
    case .string(let text): Bool(text.lowercased()).map(Value.bool)
    default: value.doubleValue.map { .bool($0 != 0) }
    }
  }

  private func text(_ value: Value) -> Value? {
    switch value {
    case .string: value
    case .url(let text): .string(text)
    case .bool(let flag): .string(flag ? "1" : "0")
    case .uuid(let uuid): .string(uuid.uuidString)
    case .date(let seconds): .string(DateText.text(Date(timeIntervalSinceReferenceDate: seconds)))
    case .int, .double, .decimal: .string(value.description)
    default: nil
    }
  }
}

extension Value {
  fileprivate var exactInteger: Int64? {
    if case .decimal(let number) = self { return number.exactInteger }
    return nil
  }
}
