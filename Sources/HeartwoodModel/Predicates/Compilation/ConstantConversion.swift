import Foundation

/// Converts constants to the kind of the property that they are compared with.
package struct ConstantConversion {
  package let path: ResolvedPath
  package let attribute: AttributeDescription

  package init(path: ResolvedPath, attribute: AttributeDescription) {
    self.path = path
    self.attribute = attribute
  }

  /// The constant as a value of the attribute's kind, or a number that can be compared with it; null stays null.
  ///
  /// - Throws: `.invalidPredicate` if the two cannot be compared; the message says which constants can.
  package func convert(_ value: Value) throws(HeartwoodError) -> Value {
    if value.isNull { return value }
    guard let converted = converted(value) else { throw mismatch(value) }
    return converted
  }

  /// The same for a member of a list, where a number may be given as text and a text as a number, as Core Data's SQLite takes them.
  func convert(member value: Value) throws(HeartwoodError) -> Value {
    if value.isNull { return value }
    if let converted = converted(value) { return converted }
    switch (attribute.type, value) {
    case (.integer16, .string(let text)), (.integer32, .string(let text)), (.integer64, .string(let text)),
      (.decimal, .string(let text)), (.double, .string(let text)), (.float, .string(let text)):
      if let number = Int64(text).map(Value.int)
        ?? DecimalText.decimal(text, allowsNaN: false).map(Value.decimal),
        let converted = converted(number)
      {
        return converted
      }
    case (.string, .int(let number)): return .string("\(number)")
    default: break
    }
    throw mismatch(value)
  }

  private func converted(_ value: Value) -> Value? {
    switch (attribute.type, value) {
    case (.integer16, _), (.integer32, _), (.integer64, _): integer(value)
    case (.double, _): double(value)
    case (.float, _): float(value)
    case (.decimal, _): decimal(value)
    case (.boolean, _): boolean(value)
    case (.transformable, .data): value
    case (.string, .string), (.date, .date), (.binaryData, .data), (.uuid, .uuid), (.uri, .url): value
    case (.date, .string(let text)): Self.date(text).map { .date($0.timeIntervalSinceReferenceDate) }
    case (.uuid, .string(let text)): UUID(uuidString: text).map(Value.uuid)
    case (.uri, .string(let text)): .url(text)
    case (.string, .url(let text)): .string(text)
    case (.string, .uuid(let uuid)): .string(uuid.uuidString)
    default: nil
    }
  }

  private func integer(_ value: Value) -> Value? {
    switch value {
    case .int: value
    case .bool(let flag): .int(flag ? 1 : 0)
    case .double(let number): Int64(exactly: number).map(Value.int) ?? value
    case .decimal(let number): number.exactInteger.map(Value.int) ?? value
    default: nil
    }
  }

  private func double(_ value: Value) -> Value? {
    switch value {
    case .double: value
    case .bool(let flag): .double(flag ? 1 : 0)
    case .int(let number): Double(exactly: number).map(Value.double) ?? value
    case .decimal(let number): .double(DecimalParts(number).doubleValue)
    default: nil
    }
  }

  /// The nearest number that the property can have, so that 0.1 equals a value stored as 0.1.
  private func float(_ value: Value) -> Value? {
    guard case .double(let number)? = double(value) else { return double(value) }
    let nearest = Double(Float(number))
    return .double(nearest.isInfinite ? number : nearest)
  }

  /// Uses the digits of a double's description: 12.34 means 12.34.
  private func decimal(_ value: Value) -> Value? {
    switch value {
    case .decimal: value
    case .bool(let flag): .decimal(flag ? 1 : 0)
    case .int(let number): .decimal(Decimal(number))
    case .double(let number):
      number.isFinite ? DecimalText.nearest("\(number)").map(Value.decimal) ?? value : value
    default: nil
    }
  }

  private func boolean(_ value: Value) -> Value? {
    switch value {
    case .bool: value
    case .int(0), .double(0): .bool(false)
    case .int(1), .double(1): .bool(true)
    default: nil
    }
  }

  /// A day (at midnight UTC) or a time, in ISO 8601 form.
  static func date(_ text: String) -> Date? {
    let moment = Date.ISO8601FormatStyle()
    if let date = try? moment.parse(text) { return date }
    if let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text) { return date }
    return try? moment.year().month().day().parse(text)
  }

  private func mismatch(_ value: Value) -> HeartwoodError {
    .predicate(
      "\(path.name) is \(attribute.type.kindName) and cannot be compared with \(value.shortText); it wants "
        + attribute.type.wantedConstant, column: path.column, property: attribute.name)
  }
}

extension AttributeType {
  /// The type as a phrase in messages.
  package var kindName: String {
    switch self {
    case .undefined: "of no type"
    case .integer16, .integer32, .integer64: "an integer"
    case .decimal: "a decimal number"
    case .double, .float: "a number"
    case .string: "a text"
    case .boolean: "a Boolean"
    case .date: "a date"
    case .binaryData: "data"
    case .uuid: "a UUID"
    case .uri: "a URL"
    case .transformable: "a transformable value"
    case .composite: "a composite value"
    }
  }

  fileprivate var wantedConstant: String {
    switch self {
    case .undefined: "nothing"
    case .integer16, .integer32, .integer64, .decimal, .double, .float: "a number"
    case .string: "a text in quotes"
    case .boolean: "TRUE or FALSE"
    case .date: "a date such as \"2026-01-31\" or \"2026-01-31T12:00:00Z\""
    case .binaryData: "data"
    case .uuid: "a UUID"
    case .uri: "a URL"
    case .transformable: "a value of its type"
    case .composite: "nil; compare its elements"
    }
  }
}

extension Value {
  /// The value as a phrase in messages: its kind, or the value itself if it is short.
  package var shortText: String {
    switch self {
    case .int, .double, .decimal, .bool: "the constant \(description)"
    case .string(let text) where text.count <= 40: "the text \(description)"
    case .null, .list: kindName
    default: kindName
    }
  }
}

extension Decimal {
  /// Whether the value has no digits after the point.
  package var isWhole: Bool { !isNaN && DecimalParts(self).exponent >= 0 }

  /// The value as an integer, if it is one that fits in 64 bits.
  var exactInteger: Int64? {
    guard !isNaN else { return nil }
    let parts = DecimalParts(self)
    guard parts.exponent >= 0 else { return nil }
    var magnitude = parts.mantissa
    for _ in 0..<parts.exponent {
      guard magnitude <= UInt128(UInt64.max) else { return nil }
      magnitude *= 10
    }
    return parts.isNegative
      ? (magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil) : Int64(exactly: magnitude)
  }

  /// The greatest integer not above the value; nil if it does not fit in 64 bits.
  var wholePartBelow: Int64? {
    guard !isNaN else { return nil }
    var source = self
    var result = Decimal()
    NSDecimalRound(&result, &source, 0, .down)
    return (result > self ? result - 1 : result).exactInteger
  }
}
