import Heartwood
import Foundation

/// A value of an object for output as a table, CSV or JSON.
enum CellValue: Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case decimal(Decimal)
  case text(String)
  case date(Date)
  case data(Data)
  /// A reference to an object, such as `City/p12`.
  case reference(String)
  case list([CellValue])
  /// The elements of a composite attribute that have a value, by name.
  case group([String: CellValue])
}

extension CellValue {
  /// Converts an attribute value of the graph.
  init(attribute value: Any?) {
    switch value {
    case nil: self = .null
    case let value as Bool: self = .bool(value)
    case let value as Int64: self = .integer(value)
    case let value as Int32: self = .integer(Int64(value))
    case let value as Int16: self = .integer(Int64(value))
    case let value as Int: self = .integer(Int64(value))
    case let value as Double: self = .double(value)
    case let value as Float: self = Double("\(value)").map(CellValue.double) ?? .double(Double(value))
    case let value as Decimal: self = .decimal(value)
    case let value as String: self = .text(value)
    case let value as Date: self = .date(value)
    case let value as Data: self = .data(value)
    case let value as UUID: self = .text(value.uuidString)
    case let value as URL: self = .text(value.absoluteString)
    case let value as [String: Any]: self = .group(value.mapValues { CellValue(attribute: $0) })
    case let value?: self = .text(String(describing: value))
    }
  }

  /// The value of an attribute of an object, or of an element of a composite one by its full name.
  init(_ name: String, of object: ManagedObject) {
    self.init(attribute: object.value(forKey: name))
    guard case .group = self, let slot = object.entity.slot(named: name) else { return }
    addNulls(at: slot, of: object.entity)
  }

  /// Adds nulls to a group for the elements without a value that have a default: an import gives them this where the file does not
  /// name them.
  ///
  /// - Parameter slot: That of the composite attribute, or composite element, of the group.
  mutating func addNulls(at slot: Int, of entity: EntityDescription) {
    guard case .group(var values) = self else { return }
    for (name, slot) in entity.compiled.composites[slot] ?? [] {
      if values[name] == nil, !entity.defaultValue(at: slot).isNull { values[name] = .null }
      values[name]?.addNulls(at: slot, of: entity)
    }
    self = .group(values)
  }

  var isNumber: Bool {
    switch self {
    case .integer, .double, .decimal: true
    default: false
    }
  }

  /// The value as text for people: in a table, or in a list of properties.
  var display: String {
    switch self {
    case .null: "-"
    case .data(let data): "\(data.count) bytes"
    case .list(let values): values.map(\.display).joined(separator: ", ")
    case .date(let date): CellValue.text(date)
    case .text(let text): text.showingBlanks
    case .group(let values):
      "{" + values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.display)" }.joined(separator: ", ")
        + "}"
    default: plain
    }
  }

  /// The value as text for programs, exactly. Lists are joined with semicolons.
  var plain: String {
    switch self {
    case .null: ""
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): "\(number)"
    case .double(let number): CellValue.digits(number)
    case .decimal(let number): number.description
    case .text(let text), .reference(let text): text
    case .date(let date): CellValue.exactText(date)
    case .data(let data): data.base64EncodedString()
    case .list(let values): values.map(\.plain).joined(separator: ";")
    case .group: JSONWriter.line(json)
    }
  }

  var json: JSONValue {
    switch self {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .double(let number) where !number.isFinite: .string(CellValue.digits(number))
    case .double(let number): .fraction(number, text: CellValue.digits(number))
    case .decimal(let number): .string(number.description)
    case .date(let date): CellValue.json(date)
    case .reference(let text): .object(JSONObject([("@ref", .string(text))]))
    case .list(let values): .array(values.map(\.json))
    case .group(let values):
      .object(JSONObject(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }))
    default: .string(plain)
    }
  }

  /// The shortest digits that parse to the same number; integers without a fraction.
  private static func digits(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    if let whole = Int64(exactly: number), number.magnitude < 1e15, number != 0 || number.sign == .plus {
      return "\(whole)"
    }
    return number.description
  }

  /// The date as in JSON: in ISO 8601, or seconds since 2001 with a point or an exponent where that is not exact.
  private static func exactText(_ date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    // Whole seconds within 1900 years of 2001 are exact, but for a negative zero.
    if seconds.rounded() == seconds, seconds.magnitude < 6e10, seconds != 0 { return DateText.text(date) }
    let json = json(date)
    if case .string(let text) = json { return text }
    return JSONWriter.line(json)
  }

  /// The date in ISO 8601, or seconds since 2001 where that is not exact.
  private static func json(_ date: Date) -> JSONValue {
    DateText.json(date.timeIntervalSinceReferenceDate, withSigns: true)
  }

  /// The date for people in ISO 8601 in UTC, with milliseconds only if they are not zero.
  static func text(_ date: Date) -> String {
    DateText.short(date)
  }

  /// A time that the engine has noted, as text for people.
  ///
  /// - Parameter time: In nanoseconds since 1970.
  static func text(ofTime time: Int64) -> String { text(Date(nanosecondsSince1970: time)) }
}
