import Foundation

/// Values as `Any`, for models that exist only at run time.
extension Value {
  /// The value in the Swift type of this attribute type: `Int16`, `Int32`, `Int64`, `Decimal`, `Double`, `Float`,
  /// `String`, `Bool`, `Date`, `Data`, `UUID` or `URL`; nil for null.
  package func anyValue(_ type: AttributeType) -> Any? {
    switch self {
    case .null, .object, .list: nil
    case .opaque(let held): held.value
    case .int(let value): Self.anyInteger(value, type)
    case .double(let value): type == .float ? Float(value) : value
    case .decimal(let value): value
    case .bool(let value): value
    case .string(let value): value
    case .date(let value): Date(timeIntervalSinceReferenceDate: value)
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): URL(string: value)
    }
  }

  /// A value of a usual type; nil for other types. Types are compared before anything is cast: other casts look for
  /// conformances or go through Foundation's classes, which costs more than all the rest of setting a value.
  package static func usual(_ any: Any) -> Value? {
    let type = Swift.type(of: any)
    if type == String.self { return .string(CheckedCast.value(any, of: String.self)) }
    if type == Int64.self { return .int(CheckedCast.value(any, of: Int64.self)) }
    if type == Int.self { return .int(Int64(CheckedCast.value(any, of: Int.self))) }
    if type == Double.self { return .double(CheckedCast.value(any, of: Double.self)) }
    if type == Bool.self { return .bool(CheckedCast.value(any, of: Bool.self)) }
    if type == Int16.self { return .int(Int64(CheckedCast.value(any, of: Int16.self))) }
    if type == Int32.self { return .int(Int64(CheckedCast.value(any, of: Int32.self))) }
    if type == Date.self {
      return .date(CheckedCast.value(any, of: Date.self).timeIntervalSinceReferenceDate)
    }
    return nil
  }

  /// Whether `any` is this value in a usual type; false also where only another conversion would tell.
  package func isShown(as any: Any?, _ type: AttributeType) -> Bool {
    guard let any else { return isNull }
    return Self.usual(any)?.fitted(to: type) == self
  }

  private static func anyInteger(_ value: Int64, _ type: AttributeType) -> Any {
    switch type {
    case .integer16: Int16(truncatingIfNeeded: value)
    case .integer32: Int32(truncatingIfNeeded: value)
    default: value
    }
  }

  /// Converts a value for an attribute of this type. Nil and `NSNull` become null; fails if the value does not fit.
  ///
  /// Numbers are converted, including `NSNumber`. An integer attribute accepts integral numbers in its range, a decimal or
  /// floating-point attribute any number, a Boolean attribute also an `NSNumber` of 0 or 1. Other values are not
  /// converted: a string is neither a number nor a date. An attribute of undefined type accepts everything.
  package init?(any: Any?, for type: AttributeType) {
    if let any, let fitting = Self.usual(any)?.fitted(to: type) {
      self = fitting
      return
    }
    guard let any = Self.unwrapped(any) else {
      self = .null
      return
    }
    if type == .undefined {
      self = .opaque(_OpaqueValue(any))
      return
    }
    if let value = any as? any AttributeValue, let fitting = value._value.fitted(to: type) {
      self = fitting
      return
    }
    switch type {
    case .integer16, .integer32, .integer64: self.init(integer: any, type)
    case .decimal, .double, .float: self.init(number: any, type)
    case .boolean:
      guard let number = any as? NSNumber, number == 0 || number == 1 else { return nil }
      self = .bool(number.boolValue)
    default: return nil
    }
  }

  /// The value converted to this type, nil if it does not fit. An integer type accepts integral numbers in its range;
  /// conversion to a floating-point type may round.
  package func fitted(to type: AttributeType) -> Value? {
    switch (self, type) {
    case (.bool, .composite), (.data, .transformable), (.opaque, .transformable): self
    case (.null, _), (.bool, .boolean), (.string, .string), (.date, .date), (.data, .binaryData): self
    case (.uuid, .uuid), (.url, .uri), (.decimal, .decimal), (.double, .double), (.int, .integer64): self
    case (.int(let value), .integer32): Int32(exactly: value).map { .int(Int64($0)) }
    case (.int(let value), .integer16): Int16(exactly: value).map { .int(Int64($0)) }
    case (.int(let value), .double): .double(Double(value))
    case (.int(let value), .float): .double(Double(Float(value)))
    case (.int(let value), .decimal): .decimal(Decimal(value))
    case (.double(let value), .float): .double(Double(Float(value)))
    case (.double(let value), .decimal): .decimal(Decimal(value))
    case (.double(let value), .integer16), (.double(let value), .integer32), (.double(let value), .integer64):
      Int64(exactly: value).flatMap { Value.int($0).fitted(to: type) }
    case (.decimal(let value), .double), (.decimal(let value), .float):
      Value.double(DecimalParts(value).doubleValue).fitted(to: type)
    default: nil
    }
  }

  private init?(integer any: Any, _ type: AttributeType) {
    let exact: Int64?
    switch any {
    case let integer as any BinaryInteger: exact = Int64(exactly: integer)
    case let number as NSNumber:
      exact = number.decimalValue == Decimal(number.int64Value) ? number.int64Value : nil
    default: exact = nil
    }
    guard let exact, let value = Value.int(exact).fitted(to: type) else { return nil }
    self = value
  }

  private init?(number any: Any, _ type: AttributeType) {
    let value: Value?
    switch any {
    case let number as any BinaryInteger:
      value = type == .decimal ? DecimalText.nearest("\(number)").map(Value.decimal) : .double(Double(number))
    case let number as any BinaryFloatingPoint: value = .double(Double(number))
    case let number as NSNumber:
      value = type == .decimal ? .decimal(number.decimalValue) : .double(number.doubleValue)
    default: value = nil
    }
    guard let fitting = value?.fitted(to: type) else { return nil }
    self = fitting
  }

  /// Flattens an optional inside `Any`, which would otherwise hide its value.
  private static func unwrapped(_ any: Any?) -> Any? {
    guard let any else { return nil }
    if any is NSNull { return nil }
    guard let optional = any as? any OptionalInsideAny else { return any }
    return optional.held
  }
}

private protocol OptionalInsideAny {
  var held: Any? { get }
}

extension Optional: OptionalInsideAny {
  fileprivate var held: Any? { self }
}

extension _Value {
  /// The value in the types of `value(forKey:)` without a class; nil for none.
  package var plain: Any? {
    if case .opaque = self { return nil }
    return anyValue(.integer64)
  }
}
