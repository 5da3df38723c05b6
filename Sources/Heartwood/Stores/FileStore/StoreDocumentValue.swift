import Foundation

/// Values of rows as JSON, exactly: reading one gives the same value.
enum StoreDocumentValue {
  /// - Precondition: The column is not one of a relationship.
  static func json(_ value: Value, _ kind: ColumnKind) -> JSONValue {
    switch value {
    case .null, .object, .list, .opaque: .null
    case .int(let number): .integer(number)
    case .double(let number): kind == .float ? .number(Float(number)) : .number(number)
    case .decimal(let number): .string("\(number)")
    case .bool(let flag): .bool(flag)
    case .string(let text), .url(let text): .string(text)
    case .date(let seconds): DateText.json(seconds)
    case .data(let data): .string(data.base64EncodedString())
    case .uuid(let uuid): .string(uuid.uuidString)
    }
  }

  /// - Returns: Nil if the column cannot have the value.
  static func value(_ json: JSONValue, _ kind: ColumnKind) -> Value? {
    switch (json, kind) {
    case (.null, _): .null
    case (.integer(let number), .int16): Int16(exactly: number).map { .int(Int64($0)) }
    case (.integer(let number), .int32): Int32(exactly: number).map { .int(Int64($0)) }
    case (.integer(let number), .int64): .int(number)
    case (_, .double): double(json).map(Value.double)
    case (_, .float): float(json).map { .double(Double($0)) }
    case (.bool(let flag), .bool), (.bool(let flag), .composite): flag || kind == .bool ? .bool(flag) : .null
    case (.string(let text), .date):
      (DateText.date(text)?.timeIntervalSinceReferenceDate ?? double(json)).map(Value.date)
    case (_, .date): double(json).map(Value.date)
    case (.string(let text), .uuid): UUID(uuidString: text).map(Value.uuid)
    case (.string(let text), .string): .string(text)
    case (.string(let text), .uri): .url(text)
    case (.string(let text), .data): Data(base64Encoded: text).map(Value.data)
    case (.string(let text), .decimal): DecimalText.decimal(text).map(Value.decimal)
    default: nil
    }
  }

  static func double(_ json: JSONValue) -> Double? {
    switch json {
    case .integer(let number): Double(number)
    case .fraction(let number, _): number
    case .string("NaN"): .nan
    case .string("Infinity"): .infinity
    case .string("-Infinity"): -.infinity
    default: nil
    }
  }

  private static func float(_ json: JSONValue) -> Float? {
    if case .fraction(let number, let text) = json {
      // From the digits: the nearest Double may be between two Floats.
      guard let float = Float(text), float.isFinite || !number.isFinite else { return nil }
      return float
    }
    return double(json).map(Float.init)
  }

  /// The keys of a relationship's destinations.
  static func keys(_ json: JSONValue) -> [UInt64]? {
    switch json {
    case .integer(let key): return key > 0 ? [UInt64(key)] : nil
    case .array(let values):
      var keys: [UInt64] = []
      for case .integer(let key) in values where key > 0 { keys.append(UInt64(key)) }
      return keys.count == values.count ? keys : nil
    default: return nil
    }
  }

  static func json(_ keys: [UInt64]) -> JSONValue { .array(keys.map { .integer(Int64(bitPattern: $0)) }) }

  /// A value as JSON of the text that an XML element has.
  static func json(text: String, _ kind: ColumnKind) -> JSONValue? {
    switch kind {
    case .int16, .int32, .int64, .toOne: Int64(text).map(JSONValue.integer)
    case .double, .float, .date:
      if kind != .date || !text.contains("T"), let number = Double(text), number.isFinite {
        .fraction(number, text: text)
      } else {
        .string(text)
      }
    case .bool, .composite: text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
    case .toMany: keys(text: text).map(json)
    default: .string(text)
    }
  }

  private static func keys(text: String) -> [UInt64]? {
    var keys: [UInt64] = []
    for part in text.split(whereSeparator: \.isWhitespace) {
      guard let key = UInt64(part) else { return nil }
      keys.append(key)
    }
    return keys
  }

  /// The text of a value in an XML element.
  static func text(_ json: JSONValue) -> String {
    switch json {
    case .null: ""
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): "\(number)"
    case .fraction(_, let text), .string(let text): text
    case .array(let values): values.map(text).joined(separator: " ")
    case .object: ""
    }
  }
}

/// Metadata as JSON. What JSON has no form for is an object with one member, which names the kind.
extension MetadataValue {
  var json: JSONValue {
    switch self {
    case .list(let values): .array(values.map(\.json))
    case .dictionary(let values): Self.tagged("dictionary", .object(Self.object(values)))
    case .scalar(let value):
      switch value {
      case .double(let number): Self.tagged("double", .number(number))
      case .date: Self.tagged("date", StoreDocumentValue.json(value, .date))
      case .decimal: Self.tagged("decimal", StoreDocumentValue.json(value, .decimal))
      case .data: Self.tagged("data", StoreDocumentValue.json(value, .data))
      case .uuid: Self.tagged("uuid", StoreDocumentValue.json(value, .uuid))
      case .url: Self.tagged("url", StoreDocumentValue.json(value, .uri))
      default: StoreDocumentValue.json(value, .int64)
      }
    }
  }

  private static func tagged(_ name: String, _ value: JSONValue) -> JSONValue {
    .object(JSONObject([(name, value)]))
  }

  static func object(_ values: [String: MetadataValue]) -> JSONObject {
    JSONObject(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })
  }

  /// Nil if it is no metadata.
  init?(_ json: JSONValue, depth: Int = 0) {
    guard depth <= Self.mostLevels else { return nil }
    switch json {
    case .null: self = .scalar(.null)
    case .bool(let flag): self = .scalar(.bool(flag))
    case .integer(let number): self = .scalar(.int(number))
    case .string(let text): self = .scalar(.string(text))
    case .fraction(let number, _): self = .scalar(.double(number))
    case .array(let elements):
      let values = elements.compactMap { MetadataValue($0, depth: depth + 1) }
      guard values.count == elements.count else { return nil }
      self = .list(values)
    case .object(let object):
      guard object.members.count == 1, let member = object.members.first else { return nil }
      if member.name == "dictionary", case .object(let members) = member.value,
        let values = Self.values(members, depth: depth + 1)
      {
        self = .dictionary(values)
        return
      }
      let kinds: [String: ColumnKind] = [
        "double": .double, "date": .date, "decimal": .decimal, "data": .data, "uuid": .uuid, "url": .uri,
      ]
      guard let kind = kinds[member.name], let value = StoreDocumentValue.value(member.value, kind) else {
        return nil
      }
      self = .scalar(value)
    }
  }

  static func values(_ object: JSONObject, depth: Int = 0) -> [String: MetadataValue]? {
    var values: [String: MetadataValue] = [:]
    for member in object.members {
      guard let value = MetadataValue(member.value, depth: depth) else { return nil }
      values[member.name] = value
    }
    return values
  }
}
