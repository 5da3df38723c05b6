import Foundation

extension StoreMetadata {
  /// Metadata of values as a program has them.
  ///
  /// - Throws: `.persistentStoreOperation` for a value of another type than those of `MetadataValue.init(_:depth:)`; names its key.
  init(_ values: [String: Any]) throws(HeartwoodError) {
    for (name, value) in values {
      guard let value = MetadataValue(value) else {
        throw HeartwoodError(
          .persistentStoreOperation,
          "the metadata of a store holds no \(type(of: value)), as \(name) is: it holds strings, numbers, Booleans, dates, "
            + "data, UUIDs, URLs, and arrays and dictionaries of them")
      }
      self.values[name] = value
    }
  }

  /// The values as a program has them.
  var anyValues: [String: Any] { values.compactMapValues(\.any) }
}

extension MetadataValue {
  /// Nil for a value that metadata does not hold: anything but strings, Booleans, numbers, dates, data, UUIDs, URLs, and arrays
  /// and dictionaries of them.
  init?(_ any: Any, depth: Int = 0) {
    guard depth <= Self.mostLevels else { return nil }
    if let value = Self.number(any) ?? Self.scalar(any) {
      self = .scalar(value)
    } else if let list = any as? [Any] {
      let values = list.compactMap { MetadataValue($0, depth: depth + 1) }
      guard values.count == list.count else { return nil }
      self = .list(values)
    } else if let dictionary = any as? [String: Any] {
      let values = dictionary.compactMapValues { MetadataValue($0, depth: depth + 1) }
      guard values.count == dictionary.count else { return nil }
      self = .dictionary(values)
    } else {
      return nil
    }
  }

  /// The value of a Swift number or an `NSNumber`.
  private static func number(_ any: Any) -> Value? {
    // By the type itself: a cast would convert numbers to Booleans on some systems.
    if type(of: any) is NSNumber.Type, let number = any as? NSNumber {
      switch String(cString: number.objCType) {
      case "c", "B": return .bool(number.boolValue)
      case "f", "d": return .double(number.doubleValue)
      default: return .int(number.int64Value)
      }
    }
    if type(of: any) is Bool.Type { return (any as? Bool).map(Value.bool) }
    if let integer = any as? any BinaryInteger { return Int64(exactly: integer).map(Value.int) }
    if let float = any as? Float { return .double(Double(float)) }
    return (any as? Double).map(Value.double)
  }

  private static func scalar(_ any: Any) -> Value? {
    switch any {
    case let text as String: .string(text)
    case let date as Date: .date(date.timeIntervalSinceReferenceDate)
    case let data as Data: .data(data)
    case let decimal as Decimal: .decimal(decimal)
    case let uuid as UUID: .uuid(uuid)
    case let url as URL: .url(url.absoluteString)
    default: nil
    }
  }

  /// The value as a program has it: integers as `Int`, numbers with a fraction as `Double`.
  var any: (any Sendable)? {
    switch self {
    case .scalar(.int(let number)): Int(number)
    case .scalar(let value): value.scalar
    case .list(let values): values.compactMap(\.any)
    case .dictionary(let values): values.compactMapValues(\.any)
    }
  }
}

extension Value {
  /// A value that is neither an integer nor an object, as a program has it.
  var scalar: (any Sendable)? {
    switch self {
    case .double(let number): number
    case .bool(let value): value
    case .string(let text): text
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let data): data
    case .decimal(let decimal): decimal
    case .uuid(let uuid): uuid
    case .url(let text): URL(string: text)
    default: nil
    }
  }
}
